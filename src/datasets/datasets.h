// The dataset operators: one file each, one line each.
#pragma once

#include "plan/node.h"

namespace penstock {

// Sources
OperatorDef range_operator();
OperatorDef from_tensors_operator();
OperatorDef from_tensor_slices_operator();
OperatorDef from_list_operator();
OperatorDef list_files_operator();
OperatorDef files_operator();
OperatorDef counter_operator();
OperatorDef random_operator();
OperatorDef tfrecord_operator();
OperatorDef text_line_operator();
OperatorDef fixed_length_record_operator();
OperatorDef csv_operator();
OperatorDef jsonl_operator();
OperatorDef tar_operator();
OperatorDef npy_operator();
OperatorDef npz_operator();
OperatorDef image_folder_operator();
OperatorDef load_operator();
OperatorDef dataset_of_operator();  // a captured nested dataset (internal)

// Row by row
OperatorDef map_operator();
OperatorDef filter_operator();
OperatorDef enumerate_operator();
OperatorDef scan_operator();
OperatorDef unique_operator();
OperatorDef rejection_resample_operator();

// One to many
OperatorDef unbatch_operator();
OperatorDef rows_of_operator();  // a window (internal)
OperatorDef echo_operator();
OperatorDef flat_map_operator();
OperatorDef interleave_operator();

// Order and extent
OperatorDef shuffle_operator();
OperatorDef global_shuffle_operator();
OperatorDef repeat_operator();
OperatorDef take_operator();
OperatorDef take_while_operator();
OperatorDef skip_operator();
OperatorDef shard_operator();
OperatorDef assert_cardinality_operator();
OperatorDef pad_to_cardinality_operator();

// Many to one
OperatorDef batch_operator();
OperatorDef padded_batch_operator();
OperatorDef ragged_batch_operator();
OperatorDef sparse_batch_operator();
OperatorDef rebatch_operator();
OperatorDef pack_sequences_operator();
OperatorDef group_by_reducer_operator();
OperatorDef bucket_by_sequence_length_operator();
OperatorDef window_operator();
OperatorDef group_by_window_operator();

// Several inputs
OperatorDef zip_operator();
OperatorDef concatenate_operator();
OperatorDef sample_from_datasets_operator();
OperatorDef choose_from_datasets_operator();

// Failures and options
OperatorDef ignore_errors_operator();
OperatorDef replace_errors_operator();
OperatorDef with_options_operator();

// Materialising
OperatorDef cache_operator();
OperatorDef snapshot_operator();
OperatorDef prefetch_operator();

// Sinks
OperatorDef save_operator();
OperatorDef reduce_operator();
OperatorDef get_single_element_operator();
OperatorDef cardinality_operator();
OperatorDef at_operator();
OperatorDef element_spec_operator();
OperatorDef fingerprint_operator();

// Adds all of the above to the registry, once; called by whoever builds plans.
void register_datasets();

}  // namespace penstock
