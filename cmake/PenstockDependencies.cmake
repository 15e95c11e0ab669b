# The libraries behind the static library, for our own build and for programs that link it. The
# caller has found Threads, JPEG, ZLIB, GIF and PkgConfig.
pkg_check_modules(PENSTOCK_HWY REQUIRED QUIET IMPORTED_TARGET libhwy)
pkg_check_modules(PENSTOCK_ISAL REQUIRED QUIET IMPORTED_TARGET libisal)
pkg_check_modules(PENSTOCK_XXHASH REQUIRED QUIET IMPORTED_TARGET libxxhash)
pkg_check_modules(PENSTOCK_CLP REQUIRED QUIET IMPORTED_TARGET clp)
pkg_check_modules(PENSTOCK_ICU REQUIRED QUIET IMPORTED_TARGET icu-uc)
pkg_check_modules(PENSTOCK_RE2 REQUIRED QUIET IMPORTED_TARGET re2)
pkg_check_modules(PENSTOCK_SENTENCEPIECE REQUIRED QUIET IMPORTED_TARGET sentencepiece)
pkg_check_modules(PENSTOCK_ZSTD REQUIRED QUIET IMPORTED_TARGET libzstd)
pkg_check_modules(PENSTOCK_PNG REQUIRED QUIET IMPORTED_TARGET libpng)
pkg_check_modules(PENSTOCK_WEBP REQUIRED QUIET IMPORTED_TARGET libwebp libwebpdemux)
pkg_check_modules(PENSTOCK_SNDFILE REQUIRED QUIET IMPORTED_TARGET sndfile)
pkg_check_modules(PENSTOCK_SOXR REQUIRED QUIET IMPORTED_TARGET soxr)
set(PENSTOCK_LIBRARIES
  Threads::Threads JPEG::JPEG ZLIB::ZLIB PkgConfig::PENSTOCK_HWY PkgConfig::PENSTOCK_ISAL
  PkgConfig::PENSTOCK_XXHASH PkgConfig::PENSTOCK_CLP PkgConfig::PENSTOCK_ICU
  PkgConfig::PENSTOCK_RE2 PkgConfig::PENSTOCK_SENTENCEPIECE PkgConfig::PENSTOCK_ZSTD
  PkgConfig::PENSTOCK_PNG PkgConfig::PENSTOCK_WEBP PkgConfig::PENSTOCK_SNDFILE
  PkgConfig::PENSTOCK_SOXR GIF::GIF)
