# The processes of bench/cluster/rig.py, where gRPC is there. Nothing else links it; its protobuf is the
# shared one, not that of the library.
pkg_check_modules(PENSTOCK_GRPC QUIET IMPORTED_TARGET grpc++)
find_program(GRPC_CPP_PLUGIN grpc_cpp_plugin)
if(PENSTOCK_GRPC_FOUND AND GRPC_CPP_PLUGIN)
  set(rig_dir ${CMAKE_CURRENT_BINARY_DIR}/rig)
  file(MAKE_DIRECTORY ${rig_dir})
  set(rig_source ${CMAKE_CURRENT_SOURCE_DIR}/bench/cluster)
  set(rig_generated ${rig_dir}/parameters.pb.cc ${rig_dir}/parameters.grpc.pb.cc ${rig_dir}/run_metadata.pb.cc)
  add_custom_command(
    OUTPUT ${rig_generated}
    COMMAND ${Protobuf_PROTOC_EXECUTABLE} -I ${rig_source} -I ${CMAKE_CURRENT_SOURCE_DIR}/src/cluster
      --cpp_out=${rig_dir} --grpc_out=${rig_dir} --plugin=protoc-gen-grpc=${GRPC_CPP_PLUGIN}
      parameters.proto run_metadata.proto
    DEPENDS ${rig_source}/parameters.proto ${CMAKE_CURRENT_SOURCE_DIR}/src/cluster/run_metadata.proto)
  add_library(rig_protos STATIC ${rig_generated})
  target_include_directories(rig_protos SYSTEM PUBLIC ${rig_dir})
  target_link_libraries(rig_protos PUBLIC PkgConfig::PENSTOCK_GRPC protobuf)
  target_compile_options(rig_protos PRIVATE -w)
  file(GLOB rig_sources CONFIGURE_DEPENDS ${rig_source}/*.cc)
  add_executable(rig_node ${rig_sources})
  target_include_directories(rig_node PRIVATE ${CMAKE_CURRENT_SOURCE_DIR})
  target_link_libraries(rig_node PRIVATE rig_protos Threads::Threads)
  foreach(target rig_protos rig_node)
    # gRPC comes without sanitizers, which find fault with containers that cross the border.
    target_compile_options(${target} PRIVATE -fno-sanitize=all)
    target_link_options(${target} PRIVATE -fno-sanitize=all)
  endforeach()
endif()
