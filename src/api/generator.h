// The source of Dataset::generator.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "penstock/extend.h"
#include "plan/node.h"

namespace penstock {

// An operator `generator(identity)` that no registry knows: whoever makes nodes of it keeps it.
std::shared_ptr<const OperatorDef> generator_operator(const ElementType& element,
                                                      std::function<RowSource()> open,
                                                      const std::string& identity);

}  // namespace penstock
