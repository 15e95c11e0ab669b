# The libraries behind the static library, for our own build and for programs that link it. The
# caller has found Threads, JPEG, ZLIB and PkgConfig.
pkg_check_modules(PENSTOCK_HWY REQUIRED QUIET IMPORTED_TARGET libhwy)
pkg_check_modules(PENSTOCK_ISAL REQUIRED QUIET IMPORTED_TARGET libisal)
pkg_check_modules(PENSTOCK_XXHASH REQUIRED QUIET IMPORTED_TARGET libxxhash)
pkg_check_modules(PENSTOCK_CLP REQUIRED QUIET IMPORTED_TARGET clp)
pkg_check_modules(PENSTOCK_PROTOBUF REQUIRED QUIET IMPORTED_TARGET protobuf)
set(PENSTOCK_LIBRARIES
  Threads::Threads JPEG::JPEG ZLIB::ZLIB PkgConfig::PENSTOCK_HWY PkgConfig::PENSTOCK_ISAL
  PkgConfig::PENSTOCK_XXHASH PkgConfig::PENSTOCK_CLP
  PkgConfig::PENSTOCK_PROTOBUF)
