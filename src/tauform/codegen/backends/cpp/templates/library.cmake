add_library($name INTERFACE)
add_library($name::$name ALIAS $name)
target_include_directories($name INTERFACE
  $$<BUILD_INTERFACE:$${CMAKE_CURRENT_SOURCE_DIR}> $$<INSTALL_INTERFACE:$${CMAKE_INSTALL_INCLUDEDIR}>)
target_compile_features($name INTERFACE cxx_std_17)
