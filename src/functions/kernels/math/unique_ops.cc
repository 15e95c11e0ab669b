// unique, unique_with_counts: in order of first occurrence. NaN equals nothing, so each stays.

#include <string>
#include <unordered_map>

#include "data/charged.h"
#include "functions/kernels/families.h"
#include "functions/kernels/math/convert.h"
#include "functions/kernels/math/ordering.h"
#include "functions/kernels/math/shape_arguments.h"
#include "functions/kernels/op_def.h"

namespace penstock {
namespace {

template <bool counts>
Spec infer_unique(const InferContext& context) {
  const LeafSpec& type = context.tensor(0);
  context.check_rank(0, 1);
  const Shape some{Shape::kUnknown};
  const Shape all = type.shape.has_rank() ? type.shape : some;
  std::vector<Spec> out{Spec::tensor(type.dtype, some), Spec::tensor(DType::int64, all)};
  if (counts) out.push_back(Spec::tensor(DType::int64, some));
  return Spec::tuple(std::move(out));
}

struct Found {
  ChargedVector<int64_t> first;   // where each distinct entry stands first
  ChargedVector<int64_t> counts;  // how often it occurs
};

// Numbers the distinct entries of x; `ids` gets the number of each entry.
Found find_unique(const Tensor& x, int64_t* ids) {
  Found found;
  const DType dtype = compute_dtype(x.dtype());
  const Tensor entries = dtype == x.dtype() ? x : converted(x, dtype);
  visit_dtype(dtype, [&]<typename T>(TypeTag<T>) {
    using Key = std::conditional_t<std::is_same_v<T, BytesView>, std::string_view, T>;
    if constexpr (!std::is_same_v<T, Float16> && !std::is_same_v<T, BFloat16>) {
      constexpr int64_t kNodeBytes = 64;  // of the map, for each entry
      const Charge nodes(kNodeBytes * x.entries_count());
      std::unordered_map<Key, int64_t> known;  // bounded: counted above
      for (int64_t i = 0; i < x.entries_count(); ++i) {
        Key key;
        if constexpr (std::is_same_v<T, BytesView>) {
          key = entries.entry<T>(i).view();
        } else {
          key = entries.entry<T>(i);
        }
        const auto next = static_cast<int64_t>(found.first.size());
        const auto [at, is_new] = known.try_emplace(key, next);
        // NaN, which equals not even itself, is found in no map.
        ids[i] = is_new ? next : at->second;
        if (is_new) {
          found.first.push_back(i);
          found.counts.push_back(1);
        } else {
          ++found.counts[static_cast<size_t>(at->second)];
        }
      }
    }
  });
  return found;
}

void unique_row(const RowCall& call) {
  const Tensor& x = call.inputs[0];
  if (x.dims().rank() != 1) fail_row("unique", "expected a vector, got shape " + x.dims().text());
  const Found found = find_unique(x, call.outputs[1].allocate_as<int64_t>(x.dims()));
  const Dims dims{static_cast<int64_t>(found.first.size())};
  std::byte* out = call.outputs[0].allocate(dims);
  const int64_t entry = dtype_size(x.dtype());
  for (const int64_t i : found.first) {
    std::memcpy(out, x.data() + i * entry, static_cast<size_t>(entry));
    out += entry;
  }
  share_strings(&call.outputs[0], x);
  if (call.outputs.size() == 3)
    call.outputs[2].set(Tensor::vector<int64_t>(std::span(found.counts)));
}

}  // namespace

void add_unique_ops(OpRegistry* registry) {
  registry->add(op_def("unique",
                       "(the distinct entries of a vector in order, which of them each entry is)",
                       {tensor_param("x")}, infer_unique<false>, unique_row, {"order", 300, true}));
  registry->add(op_def("unique_with_counts",
                       "(the distinct entries of a vector, which of them each entry is, how often "
                       "each occurs)",
                       {tensor_param("x")}, infer_unique<true>, unique_row, {"order", 300, true}));
}

}  // namespace penstock
