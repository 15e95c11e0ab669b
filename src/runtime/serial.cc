#include "runtime/serial.h"

#include <utility>

namespace penstock {
namespace {

thread_local bool serial_thread = false;

}  // namespace

ScopedSerial::ScopedSerial() : before_(std::exchange(serial_thread, true)) {}
ScopedSerial::~ScopedSerial() { serial_thread = before_; }

bool is_serial() { return serial_thread; }

}  // namespace penstock
