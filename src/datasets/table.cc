#include "datasets/datasets.h"
#include "datasets/lookup_in.h"
#include "datasets/value_of.h"

namespace penstock {

#define OPERATOR(name) OperatorDef name##_operator();
#include "datasets/operators.inc"
#undef OPERATOR

void register_datasets() {
  static const bool once = [] {
    OperatorRegistry& r = OperatorRegistry::instance();
#define OPERATOR(name) r.add(name##_operator());
#include "datasets/operators.inc"
#undef OPERATOR
    OpRegistry::instance().add(value_of_op());
    OpRegistry::instance().add(lookup_in_op());
    return true;
  }();
  (void)once;
}

}  // namespace penstock
