// The built-in ops by family; OpRegistry calls each once.
#pragma once

namespace penstock {

class OpRegistry;

void add_image_ops(OpRegistry* registry);
void add_parse_ops(OpRegistry* registry);

}  // namespace penstock
