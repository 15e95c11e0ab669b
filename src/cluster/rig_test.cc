#include "cluster/rig.h"

#include <doctest/doctest.h>

#include <fstream>
#include <iterator>
#include <string>

#include "base/error.h"
#include "base/source_dir_test.h"

namespace penstock::cluster {
namespace {

std::string refusal(const std::string& json) {
  Rig rig;
  try {
    read_rig("net.json", json, &rig);
  } catch (const Error& e) {
    return e.message();
  }
  return "";
}

TEST_CASE("rig: rates have bounds") {
  CHECK(parse_rate("8bit") == 1);
  CHECK(parse_rate("8000000Gbit") == 1e15);
  for (const char* text : {"1e-300bit", "1bit", "1e300Gbit", "1.1e6GB/s", "0Gbit", "-1Gbit", "1"})
    CHECK_THROWS_AS(parse_rate(text), Error);
}

TEST_CASE("rig: the documents name every policy") {
  std::ifstream file(source_dir() + "/docs/cluster-model.md");
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  REQUIRE(!text.empty());
  for (const std::string_view policy : kPolicies) {
    Rig rig;
    set_policy(policy, &rig);
    INFO("policy ", std::string(policy));
    CHECK(text.find("| `" + std::string(policy) + "` |") != std::string::npos);
  }
}

TEST_CASE("rig: only the keys asked for are written, and a policy keeps the rest") {
  Rig measured;
  set_policy("grpc", &measured);
  measured.server_rate = 1000;
  measured.receive_s = 0.25;
  const std::string json = write_rig(measured, {"server_rate", "receive_s"});
  CHECK(json == "{\n  \"server_rate\": 1000.0,\n  \"receive_s\": 0.25\n}\n");
  Rig fifo;
  set_policy("fifo", &fifo);
  read_rig("net.json", json, &fifo);
  CHECK(fifo.sharing == Sharing::equal);
  CHECK(fifo.server_rate == 1000);
  CHECK(fifo.receive_s == 0.25);
  CHECK(write_rig(measured, {}) == "{}\n");
}

TEST_CASE("rig: the exponent of NET.json is that of alpha-fair") {
  Rig rig;
  set_policy("alpha-fair", &rig);
  read_rig("net.json", R"({"sharing_exponent": 4})", &rig);
  CHECK(rig.sharing == Sharing::alpha_fair);
  CHECK(rig.sharing_exponent == 4);
}

TEST_CASE("rig: every value that makes no sense is refused by file and key") {
  for (const char* pair : {R"("server_cores": 0.5)",    R"("server_cores": "1Gbit")",
                           R"("server_cores": 1e9)",    R"("step_gap_s": "1ms")",
                           R"("step_gap_s": 1e7)",      R"("burst_bytes": 1e16)",
                           R"("burst_bytes": "1MB/s")", R"("server_rate": 0.5)",
                           R"("server_rate": 1e16)",    R"("server_rate": "1ms")",
                           R"("worker_rate": 0.5)",     R"("first_bytes": 1)",
                           R"("then_bytes": -1)",       R"("stagger_s": 11)",
                           R"("compute_factor": 0)",    R"("sharing_exponent": "1Gbit")",
                           R"("sharing": 1)",           R"("pieces": null)",
                           R"("model_error": true)",    R"("duplex_loss": 1)"}) {
    const std::string text = refusal(std::string("{") + pair + "}");
    const std::string key = std::string(pair).substr(1, std::string(pair).find('"', 1) - 1);
    INFO(text);
    CHECK(text.starts_with("network: net.json: " + key));
  }
  CHECK(refusal(R"({"server_cores": 2, "step_gap_s": 1e6, "worker_rate": 0, "first_bytes": 0,
                    "then_bytes": 1024, "server_rate": "8bit", "burst_bytes": 1e15})") == "");
}

}  // namespace
}  // namespace penstock::cluster
