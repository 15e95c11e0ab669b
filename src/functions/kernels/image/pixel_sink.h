// Where a decoder puts its pixels.
#pragma once

#include <concepts>
#include <cstdint>
#include <memory>
#include <type_traits>

namespace penstock {

struct ImageSize {
  int64_t height = 0;
  int64_t width = 0;
  int64_t channels = 0;

  int64_t elements() const { return height * width * channels; }
  bool operator==(const ImageSize&) const = default;
};

// A reference to a callable `uint8_t*(ImageSize)` that gives room for the pixels; it must outlive
// the call it is passed to, and may throw.
class PixelSink {
 public:
  template <class Callable>
    requires(!std::same_as<std::remove_cvref_t<Callable>, PixelSink>)
  PixelSink(Callable&& callable)
      : object_(const_cast<void*>(static_cast<const void*>(std::addressof(callable)))),
        call_([](void* object, ImageSize size) -> uint8_t* {
          return (*static_cast<std::remove_reference_t<Callable>*>(object))(size);
        }) {}

  uint8_t* operator()(ImageSize size) const { return call_(object_, size); }

 private:
  void* object_;
  uint8_t* (*call_)(void*, ImageSize);
};

}  // namespace penstock
