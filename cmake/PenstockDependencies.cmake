# The libraries behind the static library, for our own build and for programs that link it. The
# caller has found Threads, JPEG, ZLIB, GIF and PkgConfig.
pkg_check_modules(PENSTOCK_HWY REQUIRED QUIET IMPORTED_TARGET libhwy)
pkg_check_modules(PENSTOCK_ISAL REQUIRED QUIET IMPORTED_TARGET libisal)
pkg_check_modules(PENSTOCK_XXHASH REQUIRED QUIET IMPORTED_TARGET libxxhash)
pkg_check_modules(PENSTOCK_ZSTD REQUIRED QUIET IMPORTED_TARGET libzstd)
pkg_check_modules(PENSTOCK_LZ4 REQUIRED QUIET IMPORTED_TARGET liblz4)
pkg_check_modules(PENSTOCK_SNAPPY REQUIRED QUIET IMPORTED_TARGET snappy)
pkg_check_modules(PENSTOCK_SIMDJSON REQUIRED QUIET IMPORTED_TARGET simdjson)
pkg_check_modules(PENSTOCK_CLP REQUIRED QUIET IMPORTED_TARGET clp)
pkg_check_modules(PENSTOCK_ICU REQUIRED QUIET IMPORTED_TARGET icu-uc)
pkg_check_modules(PENSTOCK_RE2 REQUIRED QUIET IMPORTED_TARGET re2)
pkg_check_modules(PENSTOCK_SENTENCEPIECE REQUIRED QUIET IMPORTED_TARGET sentencepiece)
pkg_check_modules(PENSTOCK_PNG REQUIRED QUIET IMPORTED_TARGET libpng)
pkg_check_modules(PENSTOCK_WEBP REQUIRED QUIET IMPORTED_TARGET libwebp libwebpdemux)
pkg_check_modules(PENSTOCK_SNDFILE REQUIRED QUIET IMPORTED_TARGET sndfile)
pkg_check_modules(PENSTOCK_SOXR REQUIRED QUIET IMPORTED_TARGET soxr)
# libsentencepiece holds and exports a protobuf of its own, of another version. Ours is linked in
# statically, ahead of it, and hidden, so that each finds its own.
find_library(PENSTOCK_PROTOBUF libprotobuf.a REQUIRED)
set(PENSTOCK_LIBRARIES
  ${PENSTOCK_PROTOBUF} -Wl,--exclude-libs,libprotobuf.a
  Threads::Threads JPEG::JPEG ZLIB::ZLIB PkgConfig::PENSTOCK_HWY PkgConfig::PENSTOCK_ISAL
  PkgConfig::PENSTOCK_XXHASH PkgConfig::PENSTOCK_CLP PkgConfig::PENSTOCK_ICU
  PkgConfig::PENSTOCK_RE2 PkgConfig::PENSTOCK_SENTENCEPIECE
  PkgConfig::PENSTOCK_ZSTD PkgConfig::PENSTOCK_LZ4 PkgConfig::PENSTOCK_SNAPPY
  PkgConfig::PENSTOCK_SIMDJSON PkgConfig::PENSTOCK_PNG PkgConfig::PENSTOCK_WEBP
  PkgConfig::PENSTOCK_SNDFILE PkgConfig::PENSTOCK_SOXR GIF::GIF)
