#include "cluster/chakra.h"

#include <doctest/doctest.h>

#include <string>
#include <utility>
#include <vector>

#include "base/error.h"
#include "chakra.pb.h"
#include "cluster/predict.h"

namespace penstock::cluster {
namespace {

namespace proto = penstock::chakra_trace;

std::string framed(const google::protobuf::MessageLite& message) {
  const std::string bytes = message.SerializeAsString();
  std::string out;
  for (size_t n = bytes.size();; n >>= 7) {
    out += static_cast<char>(n < 0x80 ? n : (n & 0x7f) | 0x80);
    if (n < 0x80) return out + bytes;
  }
}

proto::Node node(const std::string& name, uint64_t us) {
  proto::Node out;
  out.set_id(1);
  out.set_name(name);
  out.set_type(4);
  out.set_duration_micros(us);
  return out;
}

std::string trace(const std::vector<proto::Node>& nodes) {
  proto::GlobalMetadata head;
  head.set_version("1.1.1-chakra.0.0.4");
  std::string out = framed(head);
  for (const proto::Node& n : nodes) out += framed(n);
  return out;
}

// 0.2 s forward, 0.3 s backward with a bucket of 1 MB in the middle of it, 0.1 s after it.
std::vector<proto::Node> one_step() {
  proto::Node bucket = node("c10d::allreduce_", 50);
  bucket.mutable_inputs()->set_values(
      "[[[5, 1, 0, 200000, 4, 'cpu'], [6, 1, 0, 50000, 4, 'cpu']], '<Object>', [9, 9, 9, 9, 9]]");
  return {node("aten::conv2d", 200'000),
          node("autograd::engine::evaluate_function: A", 100'000),
          bucket,
          node("gloo:all_reduce", 900'000),
          node("autograd::engine::evaluate_function: B", 200'000),
          node("aten::add_", 100'000)};
}

TEST_CASE("chakra: computing, buckets and what waits for them, in closed form") {
  const std::string bytes = trace(one_step());
  REQUIRE(is_chakra(bytes));
  const Profile p = read_chakra("f", bytes);
  check(p);
  REQUIRE(p.steps.size() == 1);
  const std::vector<Op>& ops = p.steps[0].ops;
  CHECK(ops[0].duration_s == doctest::Approx(0.3));
  CHECK(ops[1].bytes == 1'000'000);
  CHECK(ops[2].duration_s == doctest::Approx(0.2));
  CHECK(ops[3].duration_s == doctest::Approx(0.1));
  Question q;
  q.workers = {1, 2};
  q.mode = Mode::all_reduce;
  set_policy("fifo", &q.rig);
  q.rig.server_rate = 2e6;
  q.rig.burst_bytes = 0;
  const std::vector<Point> points = predict({p}, q);
  CHECK(points[0].steps_per_s == doctest::Approx(1 / 0.6));
  CHECK(points[1].steps_per_s ==
        doctest::Approx(1 / 0.9));  // the bucket ends 0.5 s after its start
}

TEST_CASE("chakra: steps, the first two left out, and collectives by their type") {
  std::vector<proto::Node> nodes;
  for (int s = 0; s < 5; ++s) {
    nodes.push_back(node("ProfilerStep#" + std::to_string(s), 0));
    nodes.push_back(node("compute", 1000));
    proto::Node all_reduce = node("nccl", 0);
    all_reduce.set_type(7);
    for (const auto& [key, value] : {std::pair{"comm_type", 0}, std::pair{"comm_size", 4096}}) {
      auto* a = all_reduce.add_attr();
      a->set_name(key);
      a->set_int64_val(value);
    }
    nodes.push_back(all_reduce);
  }
  const Profile p = read_chakra("f", trace(nodes));
  CHECK(p.steps.size() == 3);
  CHECK(p.steps[0].ops[1].bytes == 4096);
}

TEST_CASE("chakra: what recording cost is taken out of PyTorch's nodes") {
  std::vector<proto::Node> nodes = one_step();
  auto* a = nodes[0].add_attr();
  a->set_name("rf_id");
  a->set_int64_val(7);
  const Profile p = read_chakra("f", trace(nodes));
  CHECK(p.steps[0].ops[0].duration_s == doctest::Approx(0.3 - 11.5e-6));
}

TEST_CASE("chakra: durations were cut to whole microseconds, a loop's own time is lost") {
  std::vector<proto::Node> nodes(100'000, node("aten::add_", 10));
  nodes.push_back(one_step()[2]);
  CHECK(read_chakra("f", trace(nodes)).steps[0].ops[0].duration_s == doctest::Approx(1.05));
  nodes.insert(nodes.begin(), node("ProfilerStep#0", 0));
  CHECK(read_chakra("f", trace(nodes)).steps[0].ops[0].duration_s == doctest::Approx(1.052));
  nodes[0] = node("ProfilerStep#0", 4000);
  CHECK(read_chakra("f", trace(nodes)).steps[0].ops[0].duration_s == doctest::Approx(1.054));
}

TEST_CASE("chakra: a collective without tensors has no known size") {
  std::vector<proto::Node> nodes = one_step();
  CHECK(read_chakra("f", trace(nodes)).steps[0].ops[1].known);
  nodes[2].clear_inputs();
  CHECK_FALSE(read_chakra("f", trace(nodes)).steps[0].ops[1].known);
}

TEST_CASE("chakra: what cannot be read is refused") {
  const std::string bytes = trace(one_step());
  CHECK_THROWS_AS(read_chakra("f", bytes.substr(0, bytes.size() - 3)), Error);
  CHECK_THROWS_AS(read_chakra("f", trace({node("aten::add", 5)})), Error);
  CHECK_FALSE(is_chakra("{\"traceEvents\": []}"));
  CHECK_FALSE(is_chakra(""));
  CHECK(chakra_input_bytes("[[[1, 2, 0, 1e300, 4, 'cpu']]]") == int64_t{1} << 50);
  CHECK(chakra_input_bytes("[[") == 0);
}

}  // namespace
}  // namespace penstock::cluster
