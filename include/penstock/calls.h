// Every dataset operator and op that a pipeline may call, with its parameters: what bindings,
// editors and forms are made from. Names that are registered later (extend.h) come along.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace penstock {

struct CallParameter {
  enum class Kind : uint8_t {
    constant,  // known when a pipeline is built
    tensor,    // computed for each element (op), or a constant
    tensors,   // a list of these, or the remaining arguments
    dataset,
    datasets,  // a list, a tuple, a dict, or the remaining arguments
    function,
  };
  std::string name;
  Kind kind = Kind::tensor;
  bool required = true;
  bool by_name_only = false;
  std::string fallback{};  // the default as text; empty where the parameter is required
};

struct CallInfo {
  enum class Kind : uint8_t {
    source,  // gives a dataset
    stage,   // gives a dataset, takes one or more
    sink,    // gives a value, takes a dataset
    op,      // gives tensors, takes tensors
  };
  std::string name;
  Kind kind = Kind::op;
  std::string group;  // of an op: "math", "image", ...
  std::string doc;    // one line
  std::vector<CallParameter> parameters{};
};

// Sources, stages and sinks by name, then ops. An operator and an op may have one name.
std::vector<CallInfo> calls();

}  // namespace penstock
