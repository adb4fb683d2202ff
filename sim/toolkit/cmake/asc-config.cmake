# find_package(ASC): the functions that build op packages, as CANN 9 documents them.
if(NOT DEFINED ENV{ASCEND_HOME_PATH})
  message(FATAL_ERROR "ASCEND_HOME_PATH is not set: source the toolkit's set_env.sh")
endif()
set(ASCEND_CANN_PACKAGE_PATH "$ENV{ASCEND_HOME_PATH}")
set(ASCEND_AUTOGEN_PATH "${CMAKE_BINARY_DIR}/autogen")
set(ASC_FOUND TRUE)
file(GLOB _asc_modules
  "${ASCEND_CANN_PACKAGE_PATH}/compiler/tikcpp/ascendc_kernel_cmake/fwk_modules/*.cmake")
foreach(_asc_module IN LISTS _asc_modules)
  include(${_asc_module})
endforeach()
