#include "cluster/chakra.h"

#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/io/zero_copy_stream_impl_lite.h>
#include <google/protobuf/stubs/logging.h>

#include <algorithm>
#include <charconv>
#include <vector>

#include "base/error.h"
#include "chakra.pb.h"

namespace penstock::cluster {
namespace {

namespace proto = penstock::chakra_trace;
namespace io = google::protobuf::io;

constexpr int kCollective = 7;  // NodeType COMM_COLL_NODE
constexpr int64_t kAllReduce = 0, kBroadcast = 5;
constexpr std::string_view kStepName = "ProfilerStep#";
constexpr size_t kWarmUpSteps = 2;
constexpr size_t kTensorFields = 5;
constexpr int64_t kMostBytes = int64_t{1} << 50;
// Time that PyTorch's observer adds for each node (docs/cluster-model.md); it numbers them with
// rf_id.
constexpr double kNode_s = 11.5e-6;
constexpr double kCut_s = 0.5e-6;  // durations are cut to whole microseconds
// Computing of the training loop itself in a step. The converter gives the loop's nodes no time of
// their own (docs/cluster-model.md).
constexpr double kLoop_s = 2e-3;

// Reads the next message of the file; returns false at its end.
bool next(io::CodedInputStream* in, const std::string& file, google::protobuf::MessageLite* out) {
  const google::protobuf::LogSilencer silent;  // our own message reports the error
  uint32_t size = 0;
  const int at = in->CurrentPosition();
  if (!in->ReadVarint32(&size)) return false;
  const auto limit = in->PushLimit(static_cast<int>(std::min<uint32_t>(size, INT32_MAX)));
  if (!out->ParseFromCodedStream(in) || in->BytesUntilLimit() > 0) {
    throw Error(Code::data_loss,
                "profile: " + file + ": no Chakra trace, or cut: byte " + std::to_string(at));
  }
  in->PopLimit(limit);
  return true;
}

int64_t number(const proto::Node& node, std::string_view key, int64_t fallback) {
  for (const auto& a : node.attr()) {
    if (a.name() != key) continue;
    if (a.value_case() == proto::Attribute::kInt64Val) return a.int64_val();
    if (a.value_case() == proto::Attribute::kUint64Val) return static_cast<int64_t>(a.uint64_val());
    if (a.value_case() == proto::Attribute::kInt32Val) return a.int32_val();
    if (a.value_case() == proto::Attribute::kUint32Val) return a.uint32_val();
  }
  return fallback;
}

Resource collective(const proto::Node& node) {
  if (node.name() == "c10d::allreduce_") return Resource::all_reduce;
  if (node.name() == "c10d::broadcast_") return Resource::broadcast;
  if (node.type() != kCollective) return Resource::none;
  const int64_t kind = number(node, "comm_type", -1);
  return kind == kAllReduce   ? Resource::all_reduce
         : kind == kBroadcast ? Resource::broadcast
                              : Resource::none;
}

// Collects the ops of one step while its nodes are read.
class StepBuilder {
 public:
  void take(const proto::Node& node) {
    const Resource r = collective(node);
    const double recording_s = number(node, "rf_id", -1) >= 0 ? kNode_s : 0;
    const bool untimed_loop = node.duration_micros() == 0 && node.name().starts_with(kStepName);
    const double recorded_s =
        untimed_loop ? kLoop_s : static_cast<double>(node.duration_micros()) * 1e-6 + kCut_s;
    const double duration_s = recorded_s - recording_s;
    if (r == Resource::none) {
      // A library's thread moves the bytes; its record is not computing.
      if (node.name().starts_with("gloo:")) return;
      compute_s_ += duration_s;
      if (node.name().starts_with("autograd::engine")) backward_s_ = compute_s_;
      return;
    }
    const int64_t bytes = number(node, "comm_size", chakra_input_bytes(node.inputs().values()));
    const bool known = bytes > 0 || number(node, "comm_size", -1) >= 0;
    compute(compute_s_);
    const int32_t op =
        append(&step_, node.name(), r, std::clamp<int64_t>(bytes, 0, kMostBytes), 0, deps());
    step_.ops.back().known = known;
    if (r == Resource::broadcast) {
      last_ = op;  // later ops need the buffers
    } else {
      before_tail_.push_back(op);
    }
  }

  // Ops after the last bucket and the backward pass wait for all buckets.
  Step finish() {
    compute(backward_s_);
    if (last_ >= 0) before_tail_.push_back(last_);
    append(&step_, "after the backward pass", Resource::worker, 0, std::max(0.0, compute_s_),
           before_tail_);
    return std::move(step_);
  }

 private:
  std::vector<int32_t> deps() const {
    return last_ < 0 ? std::vector<int32_t>{} : std::vector<int32_t>{last_};
  }

  void compute(double seconds) {
    last_ = append(&step_, "computing", Resource::worker, 0, std::max(0.0, seconds), deps());
    compute_s_ -= seconds;
    backward_s_ = 0;
  }

  Step step_;
  std::vector<int32_t> before_tail_;
  double compute_s_ = 0;   // not yet part of an op
  double backward_s_ = 0;  // part of compute_s_ up to the end of the backward pass
  int32_t last_ = -1;
};

}  // namespace

int64_t chakra_input_bytes(std::string_view values) {
  double total = 0;
  int depth = 0;
  std::vector<double> fields;
  for (size_t i = 0; i < values.size(); ++i) {
    const char c = values[i];
    if (c == '[') {
      ++depth;
      fields.clear();
    } else if (c == ']') {
      if (fields.size() >= kTensorFields) total += fields[3] * fields[4];
      fields.clear();
      if (--depth == 1) break;  // the end of the first input
    } else if (c >= '0' && c <= '9') {
      double v = 0;
      const auto [end, error] =
          std::from_chars(values.data() + i, values.data() + values.size(), v);
      if (error != std::errc()) break;
      fields.push_back(v);
      i = static_cast<size_t>(end - values.data()) - 1;
    }
  }
  return total < static_cast<double>(kMostBytes) ? static_cast<int64_t>(total) : kMostBytes;
}

bool is_chakra(std::string_view bytes) {
  // The metadata message: its length (below 128), then its version (1) or an attribute (2, here
  // 10).
  if (bytes.size() < 3) return false;
  const auto size = static_cast<unsigned char>(bytes[0]);
  if (size == 0 || size >= 0x80 || bytes.size() <= size) return false;
  io::CodedInputStream in(reinterpret_cast<const uint8_t*>(bytes.data()),
                          static_cast<int>(std::min<size_t>(bytes.size(), 1 << 20)));
  proto::GlobalMetadata head;
  proto::Node node;
  try {
    return next(&in, "", &head) && next(&in, "", &node) && !node.name().empty();
  } catch (const Error&) {
    return false;
  }
}

Profile read_chakra(const std::string& file, std::string_view bytes) {
  if (bytes.size() > INT32_MAX)
    throw Error(Code::resource_exhausted, "profile: " + file + ": more than 2 GiB");
  io::CodedInputStream in(reinterpret_cast<const uint8_t*>(bytes.data()),
                          static_cast<int>(bytes.size()));
  in.SetTotalBytesLimit(INT32_MAX);
  proto::GlobalMetadata head;
  next(&in, file, &head);
  Profile out;
  out.source = file;
  StepBuilder step;
  bool stepped = false;
  proto::Node node;
  for (; next(&in, file, &node); node.Clear()) {
    if (node.name().starts_with(kStepName)) {
      if (stepped) out.steps.push_back(step.finish());
      step = {};
      stepped = true;
    }
    step.take(node);
  }
  out.steps.push_back(step.finish());
  if (out.steps.size() > 2 * kWarmUpSteps)
    out.steps.erase(out.steps.begin(), out.steps.begin() + kWarmUpSteps);
  if (!has_collectives(out)) {
    throw Error(Code::invalid_argument,
                "profile: " + file + ": no all-reduce: not a rank of synchronous training");
  }
  out.notes.emplace_back(
      "a Chakra trace has no times of starts: its nodes are taken one after the other, and "
      "recording to have cost 11.5 us a node of PyTorch, a training loop without times 2 ms a "
      "step; give --step-time where it is known");
  return out;
}

}  // namespace penstock::cluster
