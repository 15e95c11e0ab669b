#include "bench/cluster/record.h"

#include <map>

#include "run_metadata.pb.h"

namespace penstock::rig {
namespace {

namespace proto = penstock::tensorflow_profile;

const char* const kWorker = "/job:worker/replica:0/task:0/device:CPU:0";

std::string server_device(int32_t server) {
  return "/job:ps/replica:0/task:" + std::to_string(server) + "/device:CPU:0";
}

void set_times(const Times& times, proto::NodeExecStats* out) {
  out->set_all_start_micros(times.begin_ns / 1000);
  out->set_all_end_rel_micros((times.end_ns - times.begin_ns) / 1000);
  out->set_all_start_nanos(times.begin_ns);
  out->set_all_end_rel_nanos(times.end_ns - times.begin_ns);
}

class Writer {
 public:
  explicit Writer(const Layers& layers) : layers_(layers) {
    graph(kWorker);
    for (const Tensor& t : layers.tensors) graph(server_device(t.server));
  }

  std::string write(const StepRecord& record) {
    std::string before;
    for (size_t l = 0; l < layers_.layers.size(); ++l) {
      const std::string name = layers_.layers[l].name + "/forward";
      auto* op = add_op(kWorker, name, "PyFunc", record.forward[l]);
      if (!before.empty()) op->add_input(before);
      for (const int32_t t : layers_.layers[l].tensors) op->add_input(pull(t, record));
      before = name;
    }
    for (size_t l = layers_.layers.size(); l-- > 0;) {
      const std::string name = layers_.layers[l].name + "/backward";
      add_op(kWorker, name, "PyFunc", record.backward[l])->add_input(before);
      for (const int32_t t : layers_.layers[l].tensors) push(t, name, record);
      before = name;
    }
    return out_.SerializeAsString();
  }

 private:
  const Tensor& tensor(int32_t t) const { return layers_.tensors[static_cast<size_t>(t)]; }

  proto::GraphDef* graph(const std::string& device) {
    const auto [it, fresh] = graphs_.try_emplace(device, out_.partition_graphs_size());
    if (fresh) {
      out_.add_partition_graphs();
      out_.mutable_step_stats()->add_dev_stats()->set_device(device);
    }
    return out_.mutable_partition_graphs(it->second);
  }

  proto::NodeExecStats* stats(const std::string& device) {
    graph(device);
    return out_.mutable_step_stats()->mutable_dev_stats(graphs_[device])->add_node_stats();
  }

  proto::NodeDef* add_node(const std::string& device, const std::string& name, const char* op) {
    proto::NodeDef* out = graph(device)->add_node();
    out->set_name(name);
    out->set_op(op);
    out->set_device(device);
    return out;
  }

  proto::NodeDef* add_op(const std::string& device, const std::string& name, const char* op,
                         const Times& times) {
    proto::NodeExecStats* s = stats(device);
    s->set_node_name(name);
    s->set_timeline_label(name + " = " + op);
    set_times(times, s);
    return add_node(device, name, op);
  }

  // Adds a Send on `from`, a Recv on `to`, and the record of the transfer between them. -> the Recv
  std::string transfer(const std::string& what, const std::string& from, const std::string& to,
                       const std::string& input, int64_t bytes, const Times& times) {
    const std::string key = "edge_" + std::to_string(edges_++) + "_" + what;
    const std::pair<proto::NodeDef*, const char*> ends[] = {
        {add_node(from, what + "/send", "_Send"), "send"},
        {add_node(to, what + "/recv", "_Recv"), "recv"}};
    for (const auto& [node, end] : ends) {
      (*node->mutable_attr())["tensor_name"].set_s(key);
      (*node->mutable_attr())["send_device"].set_s(from);
      (*node->mutable_attr())["recv_device"].set_s(to);
    }
    ends[0].first->add_input(input);
    proto::NodeExecStats* s = stats(to);
    s->set_node_name("RecvTensor");
    s->set_timeline_label("[" + std::to_string(bytes) + "B] " + key + " from " + from + " to " +
                          to);
    s->add_output()
        ->mutable_tensor_description()
        ->mutable_allocation_description()
        ->set_requested_bytes(bytes);
    set_times(times, s);
    return what + "/recv";
  }

  std::string pull(int32_t t, const StepRecord& record) {
    const Tensor& it = tensor(t);
    const std::string device = server_device(it.server);
    const Times& times = record.down[static_cast<size_t>(t)];
    add_op(device, it.name, "VariableV2", {times.begin_ns, times.begin_ns});
    return transfer(it.name + "/read", device, kWorker, it.name, it.bytes, times);
  }

  void push(int32_t t, const std::string& from, const StepRecord& record) {
    const Tensor& it = tensor(t);
    const std::string device = server_device(it.server);
    const auto at = static_cast<size_t>(t);
    const std::string recv =
        transfer(it.name + "/gradient", kWorker, device, from, it.bytes, record.up[at]);
    proto::NodeDef* apply =
        add_op(device, it.name + "/apply", "ApplyGradientDescent", record.apply[at]);
    apply->add_input(it.name);
    apply->add_input(recv);
  }

  const Layers& layers_;
  proto::RunMetadata out_;
  std::map<std::string, int> graphs_;
  int edges_ = 0;
};

}  // namespace

std::string run_metadata(const Layers& layers, const StepRecord& record) {
  return Writer(layers).write(record);
}

}  // namespace penstock::rig
