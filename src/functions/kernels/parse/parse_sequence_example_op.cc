// parse_sequence_example: the context and the lists of a SequenceExample, or of a vector of them.

#include "functions/kernels/math/shape_arguments.h"
#include "functions/kernels/parse/example_values.h"
#include "functions/kernels/parse/parse_family.h"
#include "functions/kernels/parse/sequence_values.h"

namespace penstock {
namespace {

using Kind = ExampleFeature::Kind;

struct SequencePlan {
  explicit SequencePlan(const Attrs& attrs)
      : context(read_features(attrs["context"], "context")),
        lists(read_features(attrs["sequence"], "sequence")) {
    for (const ExampleFeature& list : lists) keys.push_back(list.value_key);
  }
  ExamplePlan context;
  std::vector<ExampleFeature> lists;
  std::vector<std::string> keys;  // bounded: written in the pipeline
};

Spec infer_sequence(const InferContext& context) {
  const LeafSpec& type = context.tensor_of(0, DType::bytes);
  if (!type.shape.has_rank() || type.shape.rank() > 1)
    context.fail(0, "is " + type.text() + ", expected bytes: one record, or a vector of them");
  const bool batch = type.shape.rank() == 1;
  const int64_t n = batch ? type.shape[0] : 0;
  std::vector<std::string> keys[3];
  std::vector<Spec> items[3];
  for (const ExampleFeature& feature : read_features(context.attrs["context"], "context")) {
    keys[0].push_back(feature.key);
    items[0].push_back(Spec::of(batch ? feature_batch_leaf(feature, n) : feature_leaf(feature)));
  }
  for (const ExampleFeature& list : read_features(context.attrs["sequence"], "sequence")) {
    if (list.kind == Kind::fixed || list.kind == Kind::sparse || !list.partitions.empty()) {
      throw TypeError{-1, "sequence",
                      "key \"" + list.key + "\" must be of kind sequence, var or ragged"};
    }
    keys[1].push_back(list.key);
    items[1].push_back(Spec::of(batch ? sequence_batch_leaf(list, n) : sequence_leaf(list)));
    if (list.kind != Kind::sequence) continue;
    keys[2].push_back(list.key);
    items[2].push_back(Spec::tensor(DType::int64, {n}));
  }
  std::vector<Spec> dicts;
  for (size_t i = 0; i < (batch ? 3u : 2u); ++i)
    dicts.push_back(Spec::dict(std::move(keys[i]), std::move(items[i])));
  return Spec::tuple(std::move(dicts));
}

void sequence_row(const RowCall& call) {
  const auto& plan = *static_cast<const SequencePlan*>(call.state);
  const Tensor& records = call.inputs[0];
  if (records.dims().rank() > 1)
    fail_row("parse_sequence_example", "expected records, got shape " + records.dims().text());
  const bool batch = records.dims().rank() == 1;
  std::vector<FeatureValues> context;
  std::vector<SequenceValues> lists;
  const auto& features = plan.context.features();
  for (const ExampleFeature& feature : features) context.emplace_back(feature);
  for (const ExampleFeature& list : plan.lists) lists.emplace_back(list);
  std::vector<FeatureListView> views(plan.lists.size());  // bounded: written in the pipeline
  for (int64_t r = 0; r < records.entries_count(); ++r) {
    const std::string_view record = bytes_at(records, r);
    const std::span<const FeatureView> found = plan.context.parse(record);
    naming_keys(record, [&] {
      for (size_t i = 0; i < context.size(); ++i) context[i].add(plan.context, i, found);
    });
    parse_feature_lists(record, plan.keys, views);
    naming_keys(
        record,
        [&] {
          for (size_t i = 0; i < lists.size(); ++i) lists[i].add(views[i]);
        },
        2);
  }
  const BufferRef& buffer = records.buffer();
  size_t out = 0;
  for (FeatureValues& values : context)
    call.outputs[out++].set(batch ? values.finish_batch(buffer) : values.finish_single(buffer));
  for (const SequenceValues& values : lists)
    call.outputs[out++].set(batch ? values.finish_batch(buffer) : values.finish_single(buffer));
  for (size_t i = 0; i < lists.size() && batch; ++i) {
    if (plan.lists[i].kind == Kind::sequence) call.outputs[out++].set(lists[i].lengths());
  }
}

}  // namespace

void add_parse_sequence_example_op(OpRegistry* registry) {
  OpDef op;
  op.name = "parse_sequence_example";
  op.params = {required("serialized", Param::Kind::tensor), required("context", Param::Kind::any),
               required("sequence", Param::Kind::any)};
  op.doc =
      "(context, lists) of a tf.train.SequenceExample, dicts as features tell; of a vector of them "
      "also the number of steps of each";
  op.infer = infer_sequence;
  op.row = sequence_row;
  op.prepare = [](const Attrs& attrs) -> std::shared_ptr<const void> {
    return std::make_shared<const SequencePlan>(attrs);
  };
  op.can_fail = true;
  op.cost_ns = 1500;
  op.group = "parse";
  registry->add(std::move(op));
}

}  // namespace penstock
