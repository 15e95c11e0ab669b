#include "functions/entrywise_chain.h"

#include <doctest/doctest.h>

#include <random>

#include "functions/evaluate.h"

using namespace penstock;

namespace {

struct Drawn {
  FunctionPtr function;
  std::vector<Column> inputs;
};

Tensor numbers(std::mt19937& random, DType dtype, const Dims& dims) {
  Tensor out = Tensor::make(DType::int64, dims);
  for (int64_t i = 0; i < out.entries_count(); ++i)
    out.mutable_entries<int64_t>()[i] = static_cast<int64_t>(random() % 41) - 20;
  Tensor cast = Tensor::make(dtype, dims);
  Attrs attrs;
  attrs.set("dtype", Attr::of(dtype));
  std::vector<Tensor> made;
  REQUIRE(evaluate_op(*OpRegistry::instance().find("cast"), attrs, {&out, 1},
                      Spec::tensor(dtype, Shape(dims)), &made));
  return made[0];
}

// Ten ops drawn over columns of rows [4, 3], numbers and tables of [3] and [4, 3]; two of their
// values are results.
Drawn draw(std::mt19937& random, int64_t rows) {
  const DType dtypes[] = {DType::int64,   DType::int32,   DType::uint8,
                          DType::float32, DType::float16, DType::float64};
  Drawn out;
  std::vector<Spec> inputs;
  for (int i = 0; i < 3; ++i) {
    const DType dtype = dtypes[random() % 6];
    const Dims dims = i < 2 ? Dims{4, 3} : Dims{};
    const Tensor all = numbers(random, dtype, dims.with_front(rows));
    out.inputs.push_back(
        Column::dense(dtype, dims, rows, all.buffer(), const_cast<std::byte*>(all.data())));
    inputs.push_back(Spec::tensor(dtype, Shape(dims)));
  }
  FunctionBuilder builder(Spec::tuple(inputs), 3);
  std::vector<ValueId> values{0, 1, 2};
  for (const DType dtype : {DType::int64, DType::float32, DType::uint8}) {
    values.push_back(builder.add_constant(numbers(random, dtype, {})));
    values.push_back(builder.add_constant(numbers(random, dtype, {3})));
  }
  values.push_back(builder.add_constant(numbers(random, DType::float32, {4, 3})));
  const char* const ops[] = {"add",    "subtract", "multiply", "minimum", "maximum",
                             "less",   "abs",      "negative", "cast",    "sqrt",
                             "divide", "modulo",   "not_equal"};
  std::vector<ValueId> made;
  for (int tries = 0; made.size() < 10 && tries < 500; ++tries) {
    const OpDef& op = *OpRegistry::instance().find(ops[random() % std::size(ops)]);
    Attrs attrs;
    std::vector<ValueId> arguments;
    for (const Param& param : op.params) {
      if (param.kind == Param::Kind::dtype) {
        attrs.set(param.name, Attr::of(dtypes[random() % 6]));
      } else {
        const bool recent = !made.empty() && random() % 2;
        arguments.push_back(recent ? made.back() : values[random() % values.size()]);
      }
    }
    try {
      std::vector<ValueId> result;
      builder.add_op(op, arguments, attrs, &result);
      if (builder.constant(result[0])) continue;
      values.push_back(result[0]);
      made.push_back(result[0]);
    } catch (const TypeError&) {
    }
  }
  const std::vector<ValueId> results{made.back(), made[random() % made.size()]};
  const Spec output =
      Spec::tuple({Spec::tensor(builder.type(results[0]).dtype, builder.type(results[0]).shape),
                   Spec::tensor(builder.type(results[1]).dtype, builder.type(results[1]).shape)});
  out.function = builder.finish(output, results);
  return out;
}

// Op by op, one row.
std::vector<Tensor> by_hand(const Function& f, const std::vector<Column>& inputs, int64_t row) {
  std::vector<Tensor> values(f.values.size());
  for (size_t i = 0; i < inputs.size(); ++i) values[i] = inputs[i].row(row);
  for (const FunctionNode& node : f.nodes) {
    Tensor& to = values[static_cast<size_t>(node.outputs[0])];
    if (node.kind == FunctionNode::Kind::constant) {
      to = node.constant;
      continue;
    }
    std::vector<Tensor> arguments;
    for (const ValueId id : node.inputs) arguments.push_back(values[static_cast<size_t>(id)]);
    std::vector<OutputSlot> slots{{f.type(node.outputs[0]).dtype, &to}};
    node.op->row({node.attrs, nullptr, arguments, slots, {}});
  }
  std::vector<Tensor> out;
  for (const ValueId id : f.results) out.push_back(values[static_cast<size_t>(id)]);
  return out;
}

}  // namespace

TEST_CASE("chains give what their ops give one by one, over blocks and rows") {
  const uint32_t seed = std::random_device()();
  MESSAGE("seed " << seed);
  std::mt19937 random(seed);
  size_t in_chains = 0;
  for (int round = 0; round < 300; ++round) {
    const int64_t rows = round % 5 == 0 ? 300 : 1 + random() % 20;
    const Drawn drawn = draw(random, rows);
    const Function& f = *drawn.function;
    for (const EntrywiseChain& chain : EntrywiseChain::find(f)) in_chains += chain.nodes().size();
    const CompiledFunction compiled(drawn.function, {});
    std::vector<std::vector<Tensor>> expected;
    bool fails = false;
    try {
      for (int64_t row = 0; row < rows; ++row) expected.push_back(by_hand(f, drawn.inputs, row));
    } catch (const Error&) {
      fails = true;  // a row that divides by zero
    }
    if (fails) continue;
    Block in, out;
    in.rows = rows;
    for (const Column& c : drawn.inputs) in.columns.push_back(c);
    compiled.run(in, &out);
    REQUIRE(out.errors.empty());
    for (int64_t row = 0; row < rows; ++row) {
      std::vector<Tensor> arguments;
      for (const Column& c : drawn.inputs) arguments.push_back(c.row(row));
      const std::vector<Tensor> alone = compiled.run_row(arguments, {});
      for (size_t i = 0; i < alone.size(); ++i) {
        const Tensor& right = expected[static_cast<size_t>(row)][i];
        INFO("round " << round << " row " << row << " result " << i);
        REQUIRE(out.columns[i].row(row).same(right));
        REQUIRE(alone[i].same(right));
      }
    }
  }
  CHECK(in_chains > 1000);
}

TEST_CASE("what makes rows fail stands in no chain") {
  FunctionBuilder builder(Spec::tuple({Spec::tensor(DType::int64, Shape(Dims{})),
                                       Spec::tensor(DType::int64, Shape(Dims{}))}),
                          2);
  const OpDef *modulo = OpRegistry::instance().find("modulo"),
              *add = OpRegistry::instance().find("add");
  const ValueId two = builder.add_constant(Tensor::scalar<int64_t>(2));
  std::vector<ValueId> a, b, c, d;
  builder.add_op(*add, {0, 1}, {}, &a);
  builder.add_op(*modulo, {a[0], two}, {}, &b);
  builder.add_op(*modulo, {b[0], 1}, {}, &c);
  builder.add_op(*add, {c[0], two}, {}, &d);
  const FunctionPtr f = builder.finish(Spec::tensor(DType::int64, Shape(Dims{})), {d[0]});
  const std::vector<EntrywiseChain> chains = EntrywiseChain::find(*f);
  REQUIRE(chains.size() == 1);  // a and b; d alone is none
  CHECK(chains[0].outputs().size() == 1);
  CHECK(f->type(chains[0].outputs()[0]).dtype == DType::int64);
}
