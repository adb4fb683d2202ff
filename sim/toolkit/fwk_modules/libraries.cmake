# npu_op_code_gen and npu_op_library: the generated interface, and the package's libraries.

# CANN's libraries have the strings of the old C++ ABI; only what is marked is visible.
function(_npu_host_target target)
  target_compile_definitions(${target} PRIVATE _GLIBCXX_USE_CXX11_ABI=0)
  target_compile_options(${target} PRIVATE -fPIC -fvisibility=hidden -Wall -Wextra)
  target_compile_features(${target} PRIVATE cxx_std_11)
  target_include_directories(${target} PRIVATE ${ASCEND_CANN_PACKAGE_PATH}/include)
  target_link_directories(${target} PRIVATE ${ASCEND_CANN_PACKAGE_PATH}/lib64)
  if(TARGET cust_intf_pub)
    target_link_libraries(${target} PRIVATE cust_intf_pub)
  endif()
endfunction()

# npu_op_code_gen(SRC sources PACKAGE name OUT_DIR directory [COMPILE_OPTIONS options] [JOIN_OP_DEF True])
#
# Runs op_build while the project is configured, so that what it generates can be listed.
function(npu_op_code_gen)
  cmake_parse_arguments(GEN "" "PACKAGE;OUT_DIR;JOIN_OP_DEF" "SRC;COMPILE_OPTIONS" ${ARGN})
  file(MAKE_DIRECTORY ${GEN_OUT_DIR})
  set(library ${GEN_OUT_DIR}/libascend_all_ops.so)
  # Where CXX brings arguments, CMake keeps them as a string of their own.
  separate_arguments(arguments UNIX_COMMAND "${CMAKE_CXX_COMPILER_ARG1}")
  execute_process(
    COMMAND ${CMAKE_CXX_COMPILER} ${arguments} -std=c++11 -fPIC -shared -D_GLIBCXX_USE_CXX11_ABI=0 ${GEN_COMPILE_OPTIONS}
      -I${ASCEND_CANN_PACKAGE_PATH}/include ${GEN_SRC} -o ${library}
      -L${ASCEND_CANN_PACKAGE_PATH}/lib64 -lregister -lascendcl
    RESULT_VARIABLE failed)
  if(failed)
    message(FATAL_ERROR "the op definitions do not compile")
  endif()
  set(units "")
  if(NOT GEN_JOIN_OP_DEF)
    string(REPLACE ";" "\\;" units "--compute_unit=${ASCEND_COMPUTE_UNIT}")
  endif()
  execute_process(COMMAND ${ASCEND_CANN_PACKAGE_PATH}/tools/opbuild/op_build ${library} ${GEN_OUT_DIR} ${units}
    RESULT_VARIABLE failed)
  if(failed)
    message(FATAL_ERROR "op_build failed")
  endif()
  set_property(DIRECTORY ${CMAKE_SOURCE_DIR} APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${GEN_SRC})
  set_property(GLOBAL PROPERTY _NPU_AUTOGEN_${GEN_PACKAGE} ${GEN_OUT_DIR})
  set_property(GLOBAL PROPERTY _NPU_AUTOGEN ${GEN_OUT_DIR})
endfunction()

# npu_op_library(target ACLNN|TILING|GRAPH|ONNX_PLUGIN sources)
function(npu_op_library target type)
  add_library(${target} SHARED ${ARGN})
  _npu_host_target(${target})
  if(type STREQUAL "ACLNN")
    set_target_properties(${target} PROPERTIES OUTPUT_NAME cust_opapi)
    target_link_libraries(${target} PRIVATE op_runner nnopbase ascendcl)
  elseif(type STREQUAL "TILING")
    set_target_properties(${target} PROPERTIES OUTPUT_NAME cust_opmaster_rt2.0)
    target_compile_definitions(${target} PRIVATE OP_TILING_LIB)
    target_link_libraries(${target} PRIVATE register ascendcl)
  elseif(type STREQUAL "GRAPH")
    set_target_properties(${target} PROPERTIES OUTPUT_NAME cust_opsproto_rt2.0)
    target_compile_definitions(${target} PRIVATE OP_PROTO_LIB)
    target_link_libraries(${target} PRIVATE register ascendcl)
  elseif(type STREQUAL "ONNX_PLUGIN")
    set_target_properties(${target} PROPERTIES OUTPUT_NAME cust_onnx_parsers)
    target_link_libraries(${target} PRIVATE register ascendcl)
  else()
    message(FATAL_ERROR "npu_op_library: ${type} is none of ACLNN, TILING, GRAPH, ONNX_PLUGIN")
  endif()
  set_target_properties(${target} PROPERTIES _NPU_TYPE ${type})
endfunction()
