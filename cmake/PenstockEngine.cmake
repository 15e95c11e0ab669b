# The wheel holds the engine once, as a shared library that both the extension and the command load: linked into each of them
# it would be 4 MB more. Without the cluster model, whose protobuf cannot be a part of a shared library (PenstockDependencies.cmake);
# the command takes that from the static library.
set(engine_exports ${CMAKE_CURRENT_SOURCE_DIR}/cmake/engine.map)
add_library(penstock_engine SHARED
  $<FILTER:$<TARGET_OBJECTS:penstock>,EXCLUDE,/src/cluster/|/src/report/profile_page|[.]pb[.]cc>)
add_dependencies(penstock_engine penstock)
set_target_properties(penstock_engine PROPERTIES LINKER_LANGUAGE CXX LINK_DEPENDS ${engine_exports} INSTALL_RPATH "$ORIGIN")
set(engine_libraries ${PENSTOCK_LIBRARIES})
list(FILTER engine_libraries EXCLUDE REGEX "protobuf")
target_link_libraries(penstock_engine PRIVATE ${engine_libraries})
# Functions call each other directly; data, which a program may have a copy of, are looked up.
target_link_options(penstock_engine PRIVATE
  -Wl,-Bsymbolic-functions,--as-needed,-z,defs,--version-script=${engine_exports})
# Not in the folder of the package, where Python takes each .so for a module.
install(TARGETS penstock_engine LIBRARY DESTINATION penstock_command COMPONENT python)
