// Walking over a dataset: waits without the GIL, and looks for signals meanwhile.
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <exception>
#include <set>
#include <utility>

#include "bindings.h"

namespace penstock::python {
namespace {

constexpr double kSignalsEverySeconds = 0.05;

class PyIterator {
 public:
  PyIterator(const Dataset& ds, const nb::object& codes)
      : dataset_(ds), codes_(codes), to_python_(ds.element_spec(), codes) {
    open([&] { return dataset_.iterate(); });
    all().insert(this);  // last: an object whose constructor throws has no destructor
  }
  PyIterator(const Dataset& ds, const nb::object& codes, const std::vector<std::string>& saved)
      : dataset_(ds), codes_(codes), to_python_(ds.element_spec(), codes) {
    restore(saved);
    all().insert(this);
  }
  PyIterator(const Dataset& ds, const nb::object& codes, uint64_t epoch)
      : dataset_(ds), codes_(codes), to_python_(ds.element_spec(), codes) {
    open([&] { return dataset_.iterate(epoch); });
    all().insert(this);
  }
  ~PyIterator() {
    all().erase(this);
    close();
  }
  PyIterator(const PyIterator&) = delete;
  PyIterator& operator=(const PyIterator&) = delete;

  // An invalid object: the end.
  nb::object next() {
    Element element;
    // Most elements come with others: these need no wait, and so no release of the GIL.
    if (iterator_ && left_at_.empty() && iterator_->next_fetched(&element))
      return to_python_(element);
    for (;;) {
      const Iterator::Next got =
          advance([&](Iterator& it) { return it.next(&element, kSignalsEverySeconds); });
      if (got == Iterator::Next::element) return to_python_(element);
      if (got == Iterator::Next::end) return {};
    }
  }

  nb::bytes save() const {
    const std::string saved =
        left_at_.empty() ? without_gil([&] { return iterator_->save(); }) : left_at_;
    return nb::bytes(saved.data(), saved.size());
  }

  void restore(const std::vector<std::string>& saved) {
    open([&] { return saved.size() == 1 ? dataset_.resume(saved[0]) : dataset_.resume(saved); });
  }

  // Runs to the end; the first error is thrown.
  void drain() {
    Element element;
    while (advance([&](Iterator& it) {
             Iterator::Next last = Iterator::Next::element;
             for (int i = 0; i < 4096 && last == Iterator::Next::element; ++i)
               last = it.next(&element, kSignalsEverySeconds);
             return last;
           }) != Iterator::Next::end) {
    }
  }

  nb::dict stats() const {
    const job::Stats s = without_gil([&] { return iterator_->stats(); });
    nb::list stages;
    for (const job::StageStats& stage : s.stages) {
      nb::dict row;
      row["name"] = stage.name;
      row["op"] = stage.op;
      row["elements"] = stage.elements;
      row["errors"] = stage.errors;
      row["bytes"] = stage.bytes;
      row["bytes_read"] = stage.bytes_read;
      row["files_opened"] = stage.files_opened;
      row["cpu_seconds"] = stage.cpu_seconds;
      row["starved_seconds"] = stage.starved_seconds;
      row["blocked_seconds"] = stage.blocked_seconds;
      row["lock_seconds"] = stage.lock_seconds;
      row["lock_wait_seconds"] = stage.lock_wait_seconds;
      row["threads"] = stage.limit;
      stages.append(row);
    }
    nb::dict out;
    out["seconds"] = s.seconds;
    out["first_element_seconds"] = s.first_element_seconds;
    out["cpu_seconds"] = s.cpu_seconds;
    out["waited_seconds"] = s.waited_seconds;
    out["consumer_seconds"] = s.consumer_seconds;
    out["next_seconds"] = s.next_seconds;
    out["elements"] = s.elements;
    out["ended"] = s.ended;
    out["peak_memory_bytes"] = s.peak_memory_bytes;
    out["stages"] = stages;
    return out;
  }

  job::Trace trace() const {
    return without_gil([&] { return iterator_->trace(); });
  }

  // For the collector of cycles, which sees the code and the datasets that elements may hold.
  int traverse(visitproc visit, void* arg) const {
    Py_VISIT(codes_.ptr());
    return 0;
  }
  void clear() {
    close();
    codes_.reset();
  }

  // Before the interpreter ends: no thread of an iterator may ask for the GIL after that.
  static void close_all() {
    for (PyIterator* it : all()) it->close();
  }

 private:
  // With the GIL.
  static std::set<PyIterator*>& all() {
    static auto* set = new std::set<PyIterator*>;
    return *set;
  }

  void close() {
    if (!iterator_) return;
    without_gil([&] {
      iterator_->cancel();
      iterator_.reset();
    });
  }

  template <typename F>
  void open(const F& make) {
    without_gil([&] { iterator_ = std::make_shared<Iterator>(make()); });
    left_at_.clear();
    // Handlers of signals are the main thread's to run; in others this does nothing.
    iterator_->interrupt_if([this] {
      const nb::gil_scoped_acquire gil;
      if (PyErr_CheckSignals() == 0) return false;
      raised_ = std::make_exception_ptr(nb::python_error());
      return true;
    });
  }

  // Calls f without the GIL, and lets handlers of signals run meanwhile. If one raises, its
  // exception is thrown and the next call opens the iterator again where it stood. Holds the
  // iterator while it waits: another thread may restore this one meanwhile.
  template <typename F>
  Iterator::Next advance(const F& f) {
    if (!left_at_.empty()) restore({left_at_});
    const std::shared_ptr<Iterator> iterator = iterator_;
    if (!iterator) throw Error(Code::failed_precondition, "the interpreter ends");
    try {
      const Iterator::Next got = without_gil([&] { return f(*iterator); });
      if (got == Iterator::Next::timeout && PyErr_CheckSignals() != 0) throw nb::python_error();
      return got;
    } catch (const Error&) {
      // Ctrl-C may have come while Python code computed the row that failed.
      if (!raised_ && PyErr_CheckSignals() != 0) throw nb::python_error();
      if (!raised_) throw;
    }
    if (iterator == iterator_) left_at_ = without_gil([&] { return iterator->save(); });
    std::rethrow_exception(std::exchange(raised_, nullptr));
  }

  const Dataset dataset_;
  nb::object codes_;  // the Python code that the pipeline calls; see code.h
  ToPython to_python_;
  std::shared_ptr<Iterator> iterator_;
  std::string left_at_;        // a checkpoint: where it was interrupted
  std::exception_ptr raised_;  // by a handler of a signal, in the main thread
};

std::vector<std::string> texts(const nb::list& saved) {
  std::vector<std::string> out;
  for (const nb::handle item : saved) {
    const auto bytes = nb::cast<nb::bytes>(item);
    out.emplace_back(bytes.c_str(), bytes.size());
  }
  return out;
}

int traverse(PyObject* self, visitproc visit, void* arg) {
  Py_VISIT(Py_TYPE(self));
  return nb::inst_ready(self) ? nb::inst_ptr<PyIterator>(self)->traverse(visit, arg) : 0;
}

int clear(PyObject* self) {
  if (nb::inst_ready(self)) nb::inst_ptr<PyIterator>(self)->clear();
  return 0;
}

// Python's loops call this directly, without the lookup of a method.
PyObject* next(PyObject* self) {
  try {
    if (!nb::inst_ready(self)) throw Error(Code::failed_precondition, "the iterator is not open");
    return nb::inst_ptr<PyIterator>(self)->next().release().ptr();
  } catch (...) {
    set_python_error();
    return nullptr;
  }
}

}  // namespace

void bind_iterator(nb::module_& m) {
  static PyType_Slot slots[] = {{Py_tp_traverse, reinterpret_cast<void*>(traverse)},
                                {Py_tp_clear, reinterpret_cast<void*>(clear)},
                                {Py_tp_iter, reinterpret_cast<void*>(PyObject_SelfIter)},
                                {Py_tp_iternext, reinterpret_cast<void*>(next)},
                                {0, nullptr}};
  nb::class_<PyIterator>(m, "Iterator", nb::type_slots(slots))
      .def(nb::init<const Dataset&, const nb::object&>())
      .def("__init__",
           [](PyIterator* self, const Dataset& ds, const nb::object& codes, const nb::list& saved) {
             new (self) PyIterator(ds, codes, texts(saved));
           })
      .def(nb::init<const Dataset&, const nb::object&, uint64_t>())
      .def("_save", &PyIterator::save)
      .def("_restore", [](PyIterator& self, const nb::list& saved) { self.restore(texts(saved)); })
      .def_static("_close_all", &PyIterator::close_all)
      .def("_drain", &PyIterator::drain)
      .def("_stats", &PyIterator::stats)
      .def("_trace", [](const PyIterator& self) { return self.trace().text(); })
      .def("_explain", [](const PyIterator& self) { return explained(self.trace()); });
}

}  // namespace penstock::python
