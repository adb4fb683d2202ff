# Which products packages can be built for.
set(NPU_SIM_PRODUCTS ascend910b ascend910_93 ascend310b)
foreach(_unit IN LISTS ASCEND_COMPUTE_UNIT)
  if(NOT _unit IN_LIST NPU_SIM_PRODUCTS)
    message(FATAL_ERROR "ASCEND_COMPUTE_UNIT has ${_unit}; it must be of ${NPU_SIM_PRODUCTS}")
  endif()
endforeach()
