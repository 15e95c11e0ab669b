// Python code that pipelines call, and the iterators that it opens.
//
// Pipelines do not own these: their memory is the engine's, which Python's collector of cycles does
// not see, and code often leads back to what holds the pipeline (a method's object, a module). A
// PyCode owns them; datasets and iterators of the package own PyCodes, as Python objects own
// others.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <utility>

#include "bindings.h"

namespace penstock::python {

// The part that a PyCode and the pipelines that call it have in common. All functions with the GIL.
class OwnedCode {
 public:
  // Throw FAILED_PRECONDITION when the owner is gone.
  nb::object callable() const { return alive(callable_); }
  nb::object opened(uint64_t id) const {
    const auto found = opened_.find(id);
    return alive(found == opened_.end() ? nullptr : found->second);
  }
  uint64_t add(nb::object iterator);
  void remove(uint64_t id);

 private:
  friend class PyCode;
  static nb::object alive(PyObject* object);
  PyObject* callable_ = nullptr;
  std::map<uint64_t, PyObject*> opened_;
  uint64_t next_ = 0;
};

// An iterator that the code opened, for as long as one pass over it. From any thread.
class OpenedIterator {
 public:
  OpenedIterator(std::shared_ptr<OwnedCode> code, nb::object iterator)
      : code_(std::move(code)), id_(code_->add(std::move(iterator))) {}
  ~OpenedIterator() {
    at_next_step([code = std::move(code_), id = id_] { code->remove(id); });
  }
  OpenedIterator(const OpenedIterator&) = delete;
  OpenedIterator& operator=(const OpenedIterator&) = delete;
  nb::object get() const { return code_->opened(id_); }

 private:
  std::shared_ptr<OwnedCode> code_;
  uint64_t id_;
};

// The owner, a Python object. With the GIL.
class PyCode {
 public:
  explicit PyCode(nb::object callable) { code_->callable_ = callable.release().ptr(); }
  ~PyCode() { clear(); }
  PyCode(const PyCode&) = delete;
  PyCode& operator=(const PyCode&) = delete;
  const std::shared_ptr<OwnedCode>& shared() const { return code_; }
  int traverse(visitproc visit, void* arg) const;
  void clear();

 private:
  std::shared_ptr<OwnedCode> code_ = std::make_shared<OwnedCode>();
};

void bind_code(nb::module_& m);

}  // namespace penstock::python
