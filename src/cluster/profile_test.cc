#include "cluster/profile.h"

#include <doctest/doctest.h>

#include <functional>

#include "base/error.h"
#include "cluster/inspect.h"
#include "cluster/predict.h"
#include "cluster/profile_json.h"
#include "cluster/run_metadata.h"

namespace penstock::cluster {
namespace {

constexpr const char* kWorker = "/job:worker/replica:0/task:0/device:CPU:0";
constexpr const char* kServer = "/job:ps/replica:0/task:0/device:CPU:0";

std::string node(const std::string& name, const std::string& op, const std::string& device,
                 const std::string& more) {
  return "node { name: '" + name + "' op: '" + op + "' device: '" + device + "' " + more + " }\n";
}

std::string pair(const std::string& tensor, const std::string& from, const std::string& to) {
  return "attr { key: 'tensor_name' value { s: '" + tensor + "' } } attr { key: 'send_device' " +
         "value { s: '" + from + "' } } attr { key: 'recv_device' value { s: '" + to + "' } }";
}

// One variable that goes down, one op of a worker, one gradient that goes up.
std::string text_step() {
  const std::string worker = kWorker, server = kServer;
  return "step_stats { dev_stats { device: '" + worker +
         "' node_stats { node_name: 'RecvTensor' all_start_micros: 1000 all_end_rel_micros: 500 "
         "output { tensor_description { allocation_description { requested_bytes: 123456 } } } "
         "timeline_label: '[0.1MB] [9.9Mb/s] edge_4_v/read from " +
         server + " to " + worker + "' } } dev_stats { device: '" + worker +
         "' node_stats { node_name: 'layer' all_start_micros: 1600 all_end_rel_micros: 7 "
         "all_start_nanos: 1600000 all_end_rel_nanos: 7500 unheard_of: 3 } } }\n"
         "partition_graphs {\n" +
         node("v", "VariableV2", server, "") +
         node("s", "_Send", server, "input: 'v:0' " + pair("edge_4_v/read", server, worker)) +
         node("g_r", "_Recv", server, pair("edge_5_g", worker, server)) +
         node("apply", "Apply", server, "input: 'v' input: 'g_r' input: '^nowhere'") +
         "}\npartition_graphs {\n" +
         node("r", "_Recv", worker, pair("edge_4_v/read", server, worker)) +
         node("layer", "PyFunc", worker, "input: 'r'") +
         node("g_s", "_Send", worker, "input: 'layer:2' " + pair("edge_5_g", worker, server)) +
         "}\n";
}

std::string message_of(const std::function<void()>& f) {
  try {
    f();
  } catch (const Error& e) {
    return e.message();
  }
  return "no error";
}

TEST_CASE("run_metadata: partition graphs, records and sizes make one graph") {
  Profile p;
  p.source = "t";
  read_run_metadata("t", text_step(), &p);
  check(p);
  const Step& s = p.steps[0];
  CHECK(s.ops.size() == 7);
  CHECK(s.ops[4].resource == Resource::downlink);
  CHECK(s.ops[4].bytes == 123456);  // not the label's 0.1 MB
  CHECK(s.ops[4].deps == std::vector<int32_t>{1});
  CHECK(s.ops[5].resource == Resource::worker);
  CHECK(s.ops[5].duration_s == doctest::Approx(7.5e-6));
  CHECK(s.ops[2].resource == Resource::uplink);
  CHECK(s.ops[2].deps == std::vector<int32_t>{6});
  CHECK(s.ops[3].resource == Resource::server);
  CHECK(p.notes.size() == 1);  // the input without node
  CHECK(s.ops[4].known);
  CHECK_FALSE(s.ops[2].known);  // the gradient has no record,
  CHECK(s.ops[5].known);
  CHECK_FALSE(s.ops[3].known);  // nor the update
}

TEST_CASE("run_metadata: a size of 0 is one where the label agrees") {
  const auto known = [](const std::string& label) {
    std::string text = text_step();
    text.erase(text.find("requested_bytes: 123456"), 23);
    text.replace(text.find("[0.1MB]"), 7, label);
    Profile p;
    read_run_metadata("t", text, &p);
    return p.steps[0].ops[4].known;
  };
  CHECK(known("[0B]"));  // a control edge
  CHECK_FALSE(known("[0.1MB]"));
}

TEST_CASE("run_metadata: a graph that is missing is said") {
  const auto notes = [](size_t from, size_t to) {
    Profile p;
    const std::string text = text_step();
    read_run_metadata("t", text.substr(0, from) + text.substr(to), &p);
    return p.notes;
  };
  const size_t server = text_step().find("partition_graphs"),
               worker = text_step().rfind("partition_graphs");
  CHECK(notes(worker, text_step().size()).back() ==
        "the partition graph of /job:worker/replica:0/task:0 is missing: its ops and the transfers "
        "that it receives are left out, those that it sends wait for nothing");
  CHECK(notes(server, worker)
            .back()
            .starts_with("the partition graph of /job:ps/replica:0/task:0 is missing"));
}

TEST_CASE("run_metadata: what is no profile is refused") {
  Profile p;
  CHECK(message_of([&] { read_run_metadata("f", "", &p); }) == "profile: f: the file is empty");
  CHECK(message_of([&] { read_run_metadata("f", "\xff\xff\xff", &p); }).find("cut, or another") !=
        std::string::npos);
  CHECK(message_of([&] {
          read_run_metadata("f", "step_stats { dev_stats { } }", &p);
        }).find("no partition graphs") != std::string::npos);
  CHECK(message_of([&] {
          read_run_metadata("f", "step_stats { dev_stats { ", &p);
        }).find("no RunMetadata: 1:") != std::string::npos);
  const std::string far = "partition_graphs { " +
                          node("x", "Op", "/job:ps/replica:0/task:99999999/device:CPU:0", "") + "}";
  CHECK(message_of([&] { read_run_metadata("f", far, &p); }).find("no such server") !=
        std::string::npos);
}

TEST_CASE("profile_json: writing and reading give the same profile") {
  Profile p;
  p.source = "t";
  read_run_metadata("t", text_step(), &p);
  p.examples = 32;
  const std::string text = write_profile_json(p);
  REQUIRE(is_profile_json(text));
  const Profile again = read_profile_json("t", text);
  CHECK(write_profile_json(again) == text);
  CHECK(again.examples == 32);
  CHECK(again.steps[0].ops[4].deps == p.steps[0].ops[4].deps);
}

TEST_CASE("profile_json: wrong values are named") {
  const auto read = [](const std::string& ops) {
    return message_of([&] {
      read_profile_json(
          "f", R"({"format":"penstock-profile","version":1,"steps":[{"ops":[)" + ops + "]}]}");
    });
  };
  CHECK(read(R"({"resource":"gpu"})") ==
        "profile: f: step 0: op 0: resource must be none, worker, server, downlink, uplink, "
        "all_reduce or broadcast: gpu");
  CHECK(read("") == "profile: f: step 0: it holds no op");
  CHECK(read(R"({"name":"a","deps":[1]},{"name":"b","deps":[0]})") ==
        "profile: f: step 0: op a waits for itself: the dependencies form a cycle");
  CHECK(read(R"({"name":"a","deps":[7]})").find("not in the step") != std::string::npos);
  CHECK(read(R"({"name":"a","us":-1})").find("duration must be at least 0") != std::string::npos);
  CHECK(read(R"({"name":"a","us":"x"})").find("us is of the wrong type") != std::string::npos);
  CHECK(read(R"({"name":"a","server":3})").find("server 3") != std::string::npos);
  CHECK(message_of([] { read_profile_json("f", "{"); }) == "profile: f: it is no JSON");
}

Profile small_profile() {
  return read_profile_json("f", R"({"format":"penstock-profile","version":1,"steps":[{"ops":[
      {"name":"d","resource":"downlink","bytes":1000000,"start_us":0,"end_us":100000},
      {"name":"c","resource":"worker","us":300000,"deps":[0]},
      {"name":"c2","resource":"worker","us":200000,"start_us":0,"end_us":200000},
      {"name":"u","resource":"uplink","bytes":1000000,"deps":[1]}]}]})");
}

TEST_CASE("inspect: figures of a small step") {
  const Inspection i = inspect(small_profile(), 1e7);
  CHECK(i.critical_transfer_s == doctest::Approx(0.2));
  CHECK(i.critical_worker_s == doctest::Approx(0.3));
  CHECK(i.by_resource[static_cast<size_t>(Resource::worker)].seconds == doctest::Approx(0.5));
  CHECK(i.replay_s == doctest::Approx(0.6));
  CHECK(i.hidden_share == doctest::Approx(0.5));
}

TEST_CASE("inspect: lanes that compute side by side hide nothing by it") {
  const Inspection i =
      inspect(read_profile_json("f", R"({"format":"penstock-profile","version":1,"steps":[{"ops":[
      {"name":"d","resource":"downlink","bytes":1000000,"start_us":0,"end_us":100000},
      {"name":"c","resource":"worker","us":200000,"deps":[0],"start_us":100000,"end_us":300000},
      {"name":"c2","resource":"worker","us":200000,"deps":[0],"start_us":100000,"end_us":300000},
      {"name":"u","resource":"uplink","bytes":1000000,"deps":[1,2]}]}]})"),
              1e7);
  CHECK(i.lanes == 2);
  CHECK(i.replay_s == doctest::Approx(0.4));
  CHECK(i.hidden_share == 0);
}

TEST_CASE("predict: threads do not change it, a step time is met, formulas bound") {
  Question q;
  q.workers = {1, 2, 4};
  q.rig.server_rate = 1e7;
  q.rig.share_spread = 0.5;
  const auto rates = [&] {
    std::vector<double> out;
    for (const Point& p : predict({small_profile()}, q)) out.push_back(p.steps_per_s);
    return out;
  };
  const std::vector<double> one = rates();
  q.threads = 3;
  CHECK(rates() == one);
  for (const double step_s : {0.9, 0.4}) {
    q.step_time_s = step_s;
    CHECK(rates()[0] == doctest::Approx(1 / step_s).epsilon(0.01));
  }
  q.step_time_s = 0;
  q.model = Model::ideal;
  CHECK(rates()[2] >= one[2] * (1 - 1e-9));
  q.model = Model::lin;
  CHECK(rates()[0] == doctest::Approx(one[0]));
  q.model = Model::cynthia;
  CHECK(rates()[0] == doctest::Approx(one[0]));
  q.workers = {0};
  CHECK_THROWS_AS(predict({small_profile()}, q), Error);
}

TEST_CASE("profile: a name that is no UTF-8 is written so that it can be read") {
  Profile p;
  p.steps.resize(1);
  append(&p.steps[0], "conv\xC0/read", Resource::worker, 0, 1, {});
  const Profile again = read_profile_json("f", write_profile_json(p));
  CHECK(again.steps[0].ops[0].name == "conv\xEF\xBF\xBD/read");
}

}  // namespace
}  // namespace penstock::cluster
