# npu_op_package and npu_op_package_add: what the package holds, and the .run that carries it.

set(_NPU_MODULES ${CMAKE_CURRENT_LIST_DIR})

# npu_op_package(name TYPE RUN CONFIG key value ...)
#
# Keys: ENABLE_SOURCE_PACKAGE, ENABLE_BINARY_PACKAGE, INSTALL_PATH, VENDOR_NAME (the name by default) and
# ENABLE_DEFAULT_PACKAGE_NAME_RULE (True: custom_opp_<system>_<architecture>.run; False: <name>.run).
function(npu_op_package name)
  cmake_parse_arguments(PKG "" "TYPE" "CONFIG" ${ARGN})
  if(NOT PKG_TYPE STREQUAL "RUN")
    message(FATAL_ERROR "npu_op_package: the simulated toolkit makes packages of TYPE RUN, not ${PKG_TYPE}")
  endif()
  set(VENDOR_NAME ${name})
  set(INSTALL_PATH ${CMAKE_INSTALL_PREFIX})
  set(ENABLE_SOURCE_PACKAGE True)
  set(ENABLE_BINARY_PACKAGE True)
  set(ENABLE_DEFAULT_PACKAGE_NAME_RULE True)
  while(PKG_CONFIG)
    list(POP_FRONT PKG_CONFIG key value)
    set(${key} ${value})
  endwhile()
  set(file ${name}.run)
  if(ENABLE_DEFAULT_PACKAGE_NAME_RULE)
    file(STRINGS /etc/os-release system REGEX "^ID=")
    string(REGEX REPLACE "^ID=\"?([^\"]*)\"?$" "\\1" system "${system}")
    set(file custom_opp_${system}_${CMAKE_SYSTEM_PROCESSOR}.run)
  endif()
  set(stage ${CMAKE_BINARY_DIR}/${name}_stage)
  add_custom_target(package
    COMMAND ${CMAKE_COMMAND} -E rm -rf ${stage}
    COMMAND ${CMAKE_COMMAND} --install ${CMAKE_BINARY_DIR} --prefix ${stage} --component ${name}
    COMMAND ${_NPU_MODULES}/package/make_run.sh ${stage} ${VENDOR_NAME} ${INSTALL_PATH}/${file}
    COMMENT "Packing ${file}"
    VERBATIM)
  foreach(key VENDOR_NAME ENABLE_SOURCE_PACKAGE ENABLE_BINARY_PACKAGE)
    set_property(GLOBAL PROPERTY _NPU_${key}_${name} ${${key}})
  endforeach()
endfunction()

# npu_op_package_add(name LIBRARY targets): puts what the targets build where CANN looks for it.
function(npu_op_package_add name)
  cmake_parse_arguments(ADD "" "" "LIBRARY" ${ARGN})
  get_property(vendor GLOBAL PROPERTY _NPU_VENDOR_NAME_${name})
  get_property(autogen GLOBAL PROPERTY _NPU_AUTOGEN_${name})
  set(root packages/vendors/${vendor})
  set(arch ${CMAKE_SYSTEM_PROCESSOR})
  set(impl ${root}/op_impl/ai_core/tbe)
  foreach(target IN LISTS ADD_LIBRARY)
    add_dependencies(package ${target})
    get_target_property(type ${target} _NPU_TYPE)
    if(type STREQUAL "ACLNN")
      install(TARGETS ${target} DESTINATION ${root}/op_api/lib COMPONENT ${name})
      install(DIRECTORY ${autogen}/ DESTINATION ${root}/op_api/include COMPONENT ${name}
        FILES_MATCHING PATTERN "aclnn_*.h")
    elseif(type STREQUAL "TILING")
      install(TARGETS ${target} DESTINATION ${impl}/op_tiling/lib/linux/${arch} COMPONENT ${name})
    elseif(type STREQUAL "GRAPH")
      install(TARGETS ${target} DESTINATION ${root}/op_proto/lib/linux/${arch} COMPONENT ${name})
      install(FILES ${autogen}/op_proto.h DESTINATION ${root}/op_proto/inc COMPONENT ${name})
    elseif(type STREQUAL "ONNX_PLUGIN")
      install(TARGETS ${target} DESTINATION ${root}/framework/onnx COMPONENT ${name})
    elseif(type STREQUAL "KERNEL")
      _npu_install_kernels(${name} ${target} ${vendor} ${impl} ${autogen})
    endif()
  endforeach()
endfunction()

function(_npu_install_kernels name target vendor impl autogen)
  get_property(with_sources GLOBAL PROPERTY _NPU_ENABLE_SOURCE_PACKAGE_${name})
  get_property(with_binaries GLOBAL PROPERTY _NPU_ENABLE_BINARY_PACKAGE_${name})
  foreach(unit IN LISTS ASCEND_COMPUTE_UNIT)
    install(FILES ${autogen}/aic-${unit}-ops-info.json DESTINATION ${impl}/config/${unit} COMPONENT ${name})
    if(with_binaries)
      install(DIRECTORY ${CMAKE_BINARY_DIR}/binary/${unit} DESTINATION ${impl}/kernel COMPONENT ${name})
    endif()
  endforeach()
  if(with_sources)
    get_target_property(base ${target} _NPU_SRC_BASE)
    install(DIRECTORY ${base}/ DESTINATION ${impl}/${vendor}_impl/dynamic COMPONENT ${name}
      PATTERN "*.txt" EXCLUDE)
  endif()
endfunction()
