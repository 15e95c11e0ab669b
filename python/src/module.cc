// penstock._core: the public C++ API, as it is, for the Python package, which makes it Pythonic.
#include "bindings.h"

NB_MODULE(_core, m) {
  using namespace penstock::python;  // NOLINT
#ifdef NDEBUG
  // A process that ends with an iterator in a frame, as a worker of a DataLoader does, leaks
  // nothing.
  nb::set_leak_warnings(false);
#endif
  bind_errors(m);
  bind_calls(m);
  bind_values(m);
  bind_arrays(m);
  bind_dataset(m);
  bind_iterator(m);
  bind_reports(m);
  bind_sources(m);
  bind_columns(m);
}
