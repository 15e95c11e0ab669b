# One program holds all unit tests; they stand beside what they test.
find_path(DOCTEST_INCLUDE doctest/doctest.h REQUIRED)
file(GLOB_RECURSE test_sources CONFIGURE_DEPENDS src/*_test.cc)
add_executable(penstock_tests tests/unit_main.cc ${test_sources})
target_link_libraries(penstock_tests PRIVATE penstock_inside)
target_include_directories(penstock_tests SYSTEM PRIVATE ${DOCTEST_INCLUDE})
set_source_files_properties(tests/unit_main.cc PROPERTIES
  COMPILE_DEFINITIONS PENSTOCK_SOURCE_DIR="${CMAKE_CURRENT_SOURCE_DIR}")
target_compile_options(penstock_tests PRIVATE ${PENSTOCK_QUICK_BUILD})

# Protobuf reads tf.train.Example as it is meant: the oracle for our own parser.
find_package(Protobuf QUIET)
set(example_proto ${CMAKE_CURRENT_SOURCE_DIR}/tests/proto/example.proto)
if(Protobuf_FOUND AND EXISTS ${example_proto})
  add_library(example_proto STATIC)
  protobuf_generate_cpp(proto_sources proto_headers ${example_proto})
  target_sources(example_proto PRIVATE ${proto_sources} ${proto_headers})
  target_compile_options(example_proto PRIVATE -w)
  target_include_directories(example_proto SYSTEM PUBLIC ${CMAKE_CURRENT_BINARY_DIR})
  target_link_libraries(example_proto PUBLIC ${PENSTOCK_PROTOBUF})
  target_link_libraries(penstock_tests PRIVATE example_proto)
  target_compile_definitions(penstock_tests PRIVATE PENSTOCK_HAVE_PROTOBUF)
endif()

enable_testing()
add_test(NAME unit COMMAND penstock_tests)
