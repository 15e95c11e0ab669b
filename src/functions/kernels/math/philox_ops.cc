// philox: blocks of the counter-based generator by themselves, for programs that must draw what
// another library draws.

#include "base/random.h"
#include "functions/kernels/families.h"
#include "functions/kernels/math/shape_arguments.h"
#include "functions/kernels/op_def.h"

namespace penstock {
namespace {

void check_words(const InferContext& context, int i, int64_t words) {
  const LeafSpec& type = context.tensor(i);
  context.check_rank(i, 1);
  const DType dtype = context.tensor(0).dtype;
  if (dtype != DType::uint32 && dtype != DType::uint64)
    context.fail(0, "is " + context.tensor(0).text() + ", expected uint32 or uint64");
  const bool fits = !type.shape.has_rank() || type.shape[0] == words || type.shape[0] < 0;
  if (type.dtype != dtype || !fits) {
    context.fail(i, "is " + type.text() + ", expected " + std::string(dtype_name(dtype)) + "[" +
                        std::to_string(words) + "]");
  }
}

Spec infer_philox(const InferContext& context) {
  check_words(context, 0, 4);
  check_words(context, 1, 2);
  const int64_t blocks = context.attrs["blocks"].as_int(),
                rounds = context.attrs["rounds"].as_int();
  if (blocks < 0 || blocks > int64_t{1} << 32)
    throw TypeError{-1, "blocks", "must lie between 0 and 2 ** 32: " + std::to_string(blocks)};
  if (rounds < 1 || rounds > 100)
    throw TypeError{-1, "rounds", "must lie between 1 and 100: " + std::to_string(rounds)};
  return Spec::tensor(context.tensor(0).dtype, {4 * blocks});
}

template <typename Word>
void run(const RowCall& call, int64_t blocks) {
  const auto* c = call.inputs[0].entries<Word>();
  const auto* k = call.inputs[1].entries<Word>();
  std::array<Word, 4> counter{c[0], c[1], c[2], c[3]};
  const std::array<Word, 2> key{k[0], k[1]};
  const auto rounds = static_cast<int>(call.attrs["rounds"].as_int());
  auto* out = call.outputs[0].allocate_as<Word>({4 * blocks});
  for (int64_t i = 0; i < blocks; ++i) {
    for (const Word word : philox(counter, key, rounds)) *out++ = word;
    for (size_t w = 0; w < 4 && ++counter[w] == 0; ++w) {
    }
  }
}

void philox_row(const RowCall& call) {
  if (call.inputs[0].entries_count() != 4 || call.inputs[1].entries_count() != 2)
    fail_row("philox", "expected 4 words of counter and 2 of key");
  const int64_t blocks = call.attrs["blocks"].as_int();
  if (call.outputs[0].dtype() == DType::uint32) return run<uint32_t>(call, blocks);
  run<uint64_t>(call, blocks);
}

}  // namespace

void add_philox_ops(OpRegistry* registry) {
  registry->add(
      op_def("philox",
             "blocks of Philox4x32 or, of uint64, Philox4x64: four words for each counter "
             "from the one given on, word 0 the lowest",
             {tensor_param("counter"), tensor_param("key"),
              optional("blocks", Param::Kind::integer, Attr::integer(1)),
              optional("rounds", Param::Kind::integer, Attr::integer(10))},
             infer_philox, philox_row, {"random", 60, true}));
}

}  // namespace penstock
