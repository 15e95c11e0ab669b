// Arrays of nanobind over memory that is there, alone and in a dict of 39: the least that a batch
// costs in Python.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

namespace nb = nanobind;

namespace {

using Array = nb::ndarray<nb::numpy, const float, nb::ndim<1>>;

float memory[16];

Array array() { return Array(memory, {16}, nb::cast(1)); }

nb::dict arrays() {
  nb::dict out;
  for (const char* name : {"a0",  "a1",  "a2",  "a3",  "a4",  "a5",  "a6",  "a7",  "a8",  "a9",
                           "a10", "a11", "a12", "a13", "a14", "a15", "a16", "a17", "a18", "a19",
                           "a20", "a21", "a22", "a23", "a24", "a25", "a26", "a27", "a28", "a29",
                           "a30", "a31", "a32", "a33", "a34", "a35", "a36", "a37", "a38"}) {
    out[name] = array();
  }
  return out;
}

}  // namespace

NB_MODULE(bare, m) {
  m.def("array", array);
  m.def("arrays", arrays);
}
