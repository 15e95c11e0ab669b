#include "code.h"

#include <mutex>
#include <vector>

namespace penstock::python {
namespace {

// Calls that wait for the interpreter.
class Waiting {
 public:
  static Waiting& instance() {
    static auto* waiting = new Waiting;
    return *waiting;
  }
  void add(std::function<void()> f) {
    {
      const std::lock_guard lock(mutex_);
      calls_.push_back(std::move(f));
    }
    // If there is no room for the call, one that is waiting makes this one, too.
    if (Py_IsInitialized()) Py_AddPendingCall(&Waiting::run, nullptr);
  }

 private:
  static int run(void*) {
    Waiting& all = instance();
    std::vector<std::function<void()>> calls;
    {
      const std::lock_guard lock(all.mutex_);
      calls.swap(all.calls_);
    }
    for (const std::function<void()>& f : calls) f();
    return 0;
  }
  std::mutex mutex_;
  std::vector<std::function<void()>> calls_;
};

int traverse_code(PyObject* self, visitproc visit, void* arg) {
  Py_VISIT(Py_TYPE(self));
  return nb::inst_ready(self) ? nb::inst_ptr<PyCode>(self)->traverse(visit, arg) : 0;
}

int clear_code(PyObject* self) {
  nb::inst_ptr<PyCode>(self)->clear();
  return 0;
}

}  // namespace

void at_next_step(std::function<void()> f) { Waiting::instance().add(std::move(f)); }

nb::object OwnedCode::alive(PyObject* object) {
  if (!object) {
    throw Error(Code::failed_precondition,
                "the Python code that the pipeline calls is gone with its dataset");
  }
  return nb::borrow(object);
}

uint64_t OwnedCode::add(nb::object iterator) {
  opened_[next_] = iterator.release().ptr();
  return next_++;
}

void OwnedCode::remove(uint64_t id) {
  const auto found = opened_.find(id);
  if (found == opened_.end()) return;
  PyObject* const iterator = found->second;
  opened_.erase(found);  // first: what is let go of may run any code
  Py_DECREF(iterator);
}

int PyCode::traverse(visitproc visit, void* arg) const {
  Py_VISIT(code_->callable_);
  for (const auto& [id, iterator] : code_->opened_) Py_VISIT(iterator);
  return 0;
}

void PyCode::clear() {
  Py_CLEAR(code_->callable_);
  for (const auto& [id, iterator] : std::exchange(code_->opened_, {})) Py_DECREF(iterator);
}

void bind_code(nb::module_& m) {
  static PyType_Slot slots[] = {{Py_tp_traverse, reinterpret_cast<void*>(traverse_code)},
                                {Py_tp_clear, reinterpret_cast<void*>(clear_code)},
                                {0, nullptr}};
  nb::class_<PyCode>(m, "Code", nb::type_slots(slots)).def(nb::init<nb::object>());
}

}  // namespace penstock::python
