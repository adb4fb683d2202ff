# npu_op_kernel_library and npu_op_kernel_options: the kernel binaries, one per product, op and choice of dtypes.

if(NOT TARGET binary)
  add_custom_target(binary)
endif()

# npu_op_kernel_options(target ALL|OpType [COMPUTE_UNIT units] OPTIONS options); after npu_op_code_gen.
function(npu_op_kernel_options target op_type)
  cmake_parse_arguments(OPT "" "" "COMPUTE_UNIT;OPTIONS" ${ARGN})
  if(NOT OPT_COMPUTE_UNIT)
    set(OPT_COMPUTE_UNIT ${ASCEND_COMPUTE_UNIT})
  endif()
  foreach(unit IN LISTS OPT_COMPUTE_UNIT)
    set_property(GLOBAL APPEND PROPERTY _NPU_OPTIONS_${target}_${unit}_${op_type} ${OPT_OPTIONS})
  endforeach()
endfunction()

# npu_op_kernel_library(target SRC_BASE directory TILING_LIBRARY library)
#
# The kernel of op MyOp is SRC_BASE/my_op.cpp; the whole of SRC_BASE goes into the source package.
function(npu_op_kernel_library target)
  cmake_parse_arguments(LIB "" "SRC_BASE;TILING_LIBRARY" "" ${ARGN})
  get_property(autogen GLOBAL PROPERTY _NPU_AUTOGEN)
  file(GLOB_RECURSE sources ${LIB_SRC_BASE}/*)
  add_custom_target(${target} DEPENDS ${LIB_TILING_LIBRARY})
  set_target_properties(${target} PROPERTIES _NPU_TYPE KERNEL _NPU_SRC_BASE ${LIB_SRC_BASE})
  foreach(unit IN LISTS ASCEND_COMPUTE_UNIT)
    file(STRINGS ${autogen}/kernels-${unit}.txt rows)
    foreach(row IN LISTS rows)
      _npu_kernel(${target} ${unit} "${row}" "${sources}")
    endforeach()
  endforeach()
endfunction()

# One row of kernels-<unit>.txt: op type, file, name, macros.
function(_npu_kernel target unit row sources)
  string(REPLACE " " ";" row "${row}")
  list(POP_FRONT row op file name)
  get_target_property(base ${target} _NPU_SRC_BASE)
  get_property(options GLOBAL PROPERTY _NPU_OPTIONS_${target}_${unit}_${op})
  get_property(for_all GLOBAL PROPERTY _NPU_OPTIONS_${target}_${unit}_ALL)
  string(JOIN " " options ${for_all} ${options})
  set(output ${CMAKE_BINARY_DIR}/binary/${unit}/${file})
  add_custom_command(OUTPUT ${output}/${name}.o ${output}/${name}.json
    COMMAND ${ASCEND_CANN_PACKAGE_PATH}/compiler/bin/asc_opc --soc=${unit} --source=${base}/${file}.cpp
      --entry=${file} --name=${name} "--define=${row}" --output=${output} "--options=${options}"
    DEPENDS ${sources}
    COMMENT "Building the kernel of ${op} for ${unit}: ${name}"
    VERBATIM)
  add_custom_target(${name}_${unit} DEPENDS ${output}/${name}.o)
  if(NOT TARGET ${op}_${unit})
    add_custom_target(${op}_${unit})
  endif()
  add_dependencies(${op}_${unit} ${name}_${unit})
  add_dependencies(${target} ${name}_${unit})
  add_dependencies(binary ${name}_${unit})
endfunction()
