#include "datasets/datasets.h"
#include "datasets/lookup_in.h"
#include "datasets/value_of.h"

namespace penstock {

void register_datasets() {
  static const bool once = [] {
    OperatorRegistry& r = OperatorRegistry::instance();
    for (OperatorDef (*make)() : {
             range_operator,
             from_tensors_operator,
             from_tensor_slices_operator,
             from_list_operator,
             list_files_operator,
             files_operator,
             tfrecord_operator,
             text_line_operator,
             fixed_length_record_operator,
             csv_operator,
             jsonl_operator,
             tar_operator,
             npy_operator,
             npz_operator,
             image_folder_operator,
             load_operator,
             dataset_of_operator,
             snapshot_operator,
             save_operator,
             map_operator,
             filter_operator,
             enumerate_operator,
             flat_map_operator,
             interleave_operator,
             shuffle_operator,
             repeat_operator,
             take_operator,
             skip_operator,
             shard_operator,
             batch_operator,
             padded_batch_operator,
             zip_operator,
             concatenate_operator,
             cache_operator,
             prefetch_operator,
             reduce_operator,
             get_single_element_operator,
             cardinality_operator,
             at_operator,
             element_spec_operator,
             fingerprint_operator,
             unbatch_operator,
             rows_of_operator,
             ragged_batch_operator,
             rebatch_operator,
             bucket_by_sequence_length_operator,
             window_operator,
             group_by_window_operator,
             sparse_batch_operator,
             pack_sequences_operator,
             group_by_reducer_operator,
             counter_operator,
             random_operator,
             scan_operator,
             global_shuffle_operator,
             unique_operator,
             rejection_resample_operator,
             echo_operator,
             take_while_operator,
             assert_cardinality_operator,
             pad_to_cardinality_operator,
             sample_from_datasets_operator,
             choose_from_datasets_operator,
             ignore_errors_operator,
             replace_errors_operator,
             with_options_operator,
         }) {
      r.add(make());
    }
    OpRegistry::instance().add(value_of_op());
    OpRegistry::instance().add(lookup_in_op());
    return true;
  }();
  (void)once;
}

}  // namespace penstock
