cmake_minimum_required(VERSION 3.16...3.31)
project($name LANGUAGES C CXX)

set(packages controller_interface hardware_interface inverse_dynamics_solver pluginlib rclcpp rclcpp_lifecycle)
find_package(ament_cmake REQUIRED)
find_package(Eigen3 REQUIRED)
foreach(package IN LISTS packages)
  find_package($${package} REQUIRED)
endforeach()

add_library($inner STATIC src/$inner.c)
set_target_properties($inner PROPERTIES POSITION_INDEPENDENT_CODE ON C_STANDARD 99)
target_compile_options($inner PRIVATE -O3 -ffp-contract=fast)
target_include_directories($inner PUBLIC $${CMAKE_CURRENT_SOURCE_DIR}/src)
target_link_libraries($inner PUBLIC m)

foreach(part solver gravity_compensation_controller)
  add_library($${PROJECT_NAME}_$${part} SHARED src/$${part}.cpp)
  target_compile_features($${PROJECT_NAME}_$${part} PUBLIC cxx_std_17)
  target_include_directories($${PROJECT_NAME}_$${part} PUBLIC
    $$<BUILD_INTERFACE:$${CMAKE_CURRENT_SOURCE_DIR}/include> $$<INSTALL_INTERFACE:include>)
  target_link_libraries($${PROJECT_NAME}_$${part} PRIVATE $inner)
  # Packages of before export folders of headers, later ones targets.
  foreach(package IN LISTS packages)
    target_include_directories($${PROJECT_NAME}_$${part} SYSTEM PUBLIC $${$${package}_INCLUDE_DIRS})
    target_link_libraries($${PROJECT_NAME}_$${part} PUBLIC $${$${package}_TARGETS} $${$${package}_LIBRARIES})
  endforeach()
  target_link_libraries($${PROJECT_NAME}_$${part} PUBLIC Eigen3::Eigen)
endforeach()

pluginlib_export_plugin_description_file(inverse_dynamics_solver solver_plugin.xml)
pluginlib_export_plugin_description_file(controller_interface controller_plugin.xml)

install(TARGETS $${PROJECT_NAME}_solver $${PROJECT_NAME}_gravity_compensation_controller
  LIBRARY DESTINATION lib ARCHIVE DESTINATION lib RUNTIME DESTINATION bin)
install(DIRECTORY include/ DESTINATION include)
install(DIRECTORY config launch DESTINATION share/$${PROJECT_NAME})

ament_package()
