// The table of all built-in ops.

#include <algorithm>

#include "functions/kernels/families.h"
#include "functions/op.h"

namespace penstock {
namespace {

constexpr auto kByName = [](const std::unique_ptr<OpDef>& op) {
  return std::string_view(op->name);
};

// Levenshtein distance.
size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<size_t> row(b.size() + 1);
  for (size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (size_t i = 0; i < a.size(); ++i) {
    size_t diagonal = row[0];
    row[0] = i + 1;
    for (size_t j = 0; j < b.size(); ++j) {
      const size_t changed = diagonal + (a[i] == b[j] ? 0 : 1);
      diagonal = row[j + 1];
      row[j + 1] = std::min({changed, diagonal + 1, row[j] + 1});
    }
  }
  return row.back();
}

}  // namespace

bool unifies_literals(const OpDef& op, size_t inputs, size_t* first) {
  const bool some = op.literals_from > 0 && static_cast<size_t>(op.literals_from) < inputs;
  *first = some ? static_cast<size_t>(op.literals_from) : 0;
  return op.elementwise || op.literals_from != OpDef::kNone;
}

OpRegistry& OpRegistry::instance() {
  static OpRegistry registry;
  return registry;
}

OpRegistry::OpRegistry() {
  add_arithmetic_ops(this);
  add_comparison_ops(this);
  add_cast_ops(this);
  add_unary_math_ops(this);
  add_reduction_ops(this);
  add_scan_ops(this);
  add_shape_ops(this);
  add_concat_ops(this);
  add_split_tensor_ops(this);
  add_repeat_ops(this);
  add_pad_op(this);
  add_one_hot_ops(this);
  add_depth_ops(this);
  add_bits_cast_ops(this);
  add_unique_ops(this);
  add_index_ops(this);
  add_segment_ops(this);
  add_product_ops(this);
  add_sort_ops(this);
  add_search_ops(this);
  add_softmax_ops(this);
  add_spread_reduction_ops(this);
  add_float_test_ops(this);
  add_bit_ops(this);
  add_division_ops(this);
  add_make_ops(this);
  add_load_array_op(this);
  add_pick_ops(this);
  add_subscript_ops(this);
  add_assert_ops(this);
  add_control_ops(this);
  add_philox_ops(this);
  add_random_ops(this);
  add_shuffle_op(this);
  add_text_ops(this);
  add_parse_ops(this);
  add_ragged_ops(this);
  add_optional_ops(this);
  add_image_ops(this);
  add_audio_ops(this);
}

void OpRegistry::add(OpDef op) {
  PENSTOCK_CHECK(op.infer && op.row);
  const auto at = std::ranges::lower_bound(ops_, std::string_view(op.name), {}, kByName);
  PENSTOCK_CHECK(at == ops_.end() || (*at)->name != op.name);
  ops_.insert(at, std::make_unique<OpDef>(std::move(op)));
}

const OpDef* OpRegistry::find(std::string_view name) const {
  const auto at = std::ranges::lower_bound(ops_, name, {}, kByName);
  return at != ops_.end() && (*at)->name == name ? at->get() : nullptr;
}

std::vector<const OpDef*> OpRegistry::all() const {
  std::vector<const OpDef*> out;
  for (const auto& op : ops_) out.push_back(op.get());
  return out;
}

std::string did_you_mean(std::string_view name, std::span<const std::string> names) {
  size_t best = std::max<size_t>(2, name.size() / 3) + 1;
  const std::string* nearest = nullptr;
  for (const std::string& candidate : names) {
    const size_t distance = edit_distance(name, candidate);
    // Of short names all are near.
    if (distance < best && distance < std::max(name.size(), candidate.size())) {
      best = distance;
      nearest = &candidate;
    }
  }
  return nearest ? " (did you mean " + *nearest + "?)" : "";
}

}  // namespace penstock
