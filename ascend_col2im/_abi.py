"""The C interface of CANN as this package uses it: one row per function, and the codes around it.

Only this table holds signatures. Sources: ``acl/acl_rt.h``, ``acl/acl_base_rt.h`` and
``acl/error_codes/rt_error_codes.h`` of CANN, which the torch-npu wheel ships (a test compares
every row with them); ``aclnn/acl_meta.h`` and ``opdev/op_errno.h`` of nnopbase for the handles
and the 161xxx to 561xxx codes; the operators' functions as CANN generates them from their
definitions: inputs, attributes in the order of definition, output, workspace size, executor.
"""

from __future__ import annotations

import ctypes
from ctypes import POINTER, c_char_p, c_int, c_int32, c_int64, c_size_t, c_uint64, c_void_p
from typing import Any, Final, Literal, NamedTuple

Library = Literal["libascendcl.so", "libnnopbase.so", "libcust_opapi.so"]

ACL: Final[Library] = "libascendcl.so"
NNOPBASE: Final[Library] = "libnnopbase.so"
OPAPI: Final[Library] = "libcust_opapi.so"


class Symbol(NamedTuple):
    """One C function: the library that exports it, its name, its result and its arguments."""

    library: Library
    name: str
    restype: Any
    argtypes: tuple[Any, ...]


_INT64S = POINTER(c_int64)
_ENUM = c_int
_PREPARE_TAIL = (c_void_p, POINTER(c_uint64), POINTER(c_void_p))  # out, workspaceSize, executor
_EXECUTE = (c_void_p, c_uint64, c_void_p, c_void_p)  # workspace, workspaceSize, executor, stream

SYMBOLS: Final = {
    row.name: row
    for row in (
        Symbol(ACL, "aclInit", c_int, (c_char_p,)),
        Symbol(ACL, "aclGetRecentErrMsg", c_char_p, ()),
        Symbol(ACL, "aclrtGetSocName", c_char_p, ()),
        Symbol(ACL, "aclrtGetDeviceCount", c_int, (POINTER(ctypes.c_uint32),)),
        Symbol(ACL, "aclrtGetDevice", c_int, (POINTER(c_int32),)),
        Symbol(ACL, "aclrtSetDevice", c_int, (c_int32,)),
        Symbol(ACL, "aclrtMalloc", c_int, (POINTER(c_void_p), c_size_t, _ENUM)),
        Symbol(ACL, "aclrtFree", c_int, (c_void_p,)),
        Symbol(ACL, "aclrtMemcpy", c_int, (c_void_p, c_size_t, c_void_p, c_size_t, _ENUM)),
        Symbol(ACL, "aclrtCreateStream", c_int, (POINTER(c_void_p),)),
        Symbol(ACL, "aclrtSynchronizeStream", c_int, (c_void_p,)),
        Symbol(ACL, "aclrtDestroyStream", c_int, (c_void_p,)),
        Symbol(ACL, "aclrtCreateEventWithFlag", c_int, (POINTER(c_void_p), ctypes.c_uint32)),
        Symbol(ACL, "aclrtRecordEvent", c_int, (c_void_p, c_void_p)),
        Symbol(ACL, "aclrtEventElapsedTime", c_int, (POINTER(ctypes.c_float), c_void_p, c_void_p)),
        Symbol(ACL, "aclrtDestroyEvent", c_int, (c_void_p,)),
        Symbol(
            NNOPBASE,
            "aclCreateTensor",
            c_void_p,
            # viewDims, viewDimsNum, dataType, stride, offset, format, storageDims, ...Num, data
            (_INT64S, c_uint64, _ENUM, _INT64S, c_int64, _ENUM, _INT64S, c_uint64, c_void_p),
        ),
        Symbol(NNOPBASE, "aclDestroyTensor", c_int, (c_void_p,)),
        Symbol(NNOPBASE, "aclCreateIntArray", c_void_p, (_INT64S, c_uint64)),
        Symbol(NNOPBASE, "aclDestroyIntArray", c_int, (c_void_p,)),
        Symbol(NNOPBASE, "aclDestroyAclOpExecutor", c_int, (c_void_p,)),
        Symbol(
            OPAPI,
            "aclnnCol2ImGetWorkspaceSize",
            c_int,
            # col, outputH, outputW, kernelH, kernelW, strideVal, paddingVal, dilationVal
            (c_void_p, *(c_int64,) * 7, *_PREPARE_TAIL),
        ),
        Symbol(OPAPI, "aclnnCol2Im", c_int, _EXECUTE),
        Symbol(
            OPAPI,
            "aclnnCol2ImNdGetWorkspaceSize",
            c_int,
            # col, imageShape, blockShape, dilations, pads, strides
            (c_void_p, *(c_void_p,) * 5, *_PREPARE_TAIL),
        ),
        Symbol(OPAPI, "aclnnCol2ImNd", c_int, _EXECUTE),
        Symbol(
            OPAPI,
            "aclnnIm2ColNdGetWorkspaceSize",
            c_int,
            # x, blockShape, dilations, pads, strides
            (c_void_p, *(c_void_p,) * 4, *_PREPARE_TAIL),
        ),
        Symbol(OPAPI, "aclnnIm2ColNd", c_int, _EXECUTE),
    )
}

DTYPES: Final = {"float32": 0, "float16": 1, "bfloat16": 27}
"""``aclDataType`` of the dtypes that devices take, by this package's names."""

COL2IM_DTYPES: Final = ("float32", "float16")
"""What the operator Col2Im takes; Col2ImNd and Im2ColNd take all of `DTYPES`."""

FORMAT_ND: Final = 2
MALLOC_HUGE_FIRST: Final = 0
HOST_TO_DEVICE: Final = 1
DEVICE_TO_HOST: Final = 2

EVENT_TIME_LINE: Final = 8
"""An event that keeps the time at which a stream reaches it."""

REPEAT_INITIALIZE: Final = 100002
CONTEXT_NULL: Final = 107002

STATUS_NAMES: Final = {
    100000: "ACL_ERROR_INVALID_PARAM",
    100001: "ACL_ERROR_UNINITIALIZE",
    100002: "ACL_ERROR_REPEAT_INITIALIZE",
    107000: "ACL_ERROR_RT_PARAM_INVALID",
    107001: "ACL_ERROR_RT_INVALID_DEVICEID",
    107002: "ACL_ERROR_RT_CONTEXT_NULL",
    107003: "ACL_ERROR_RT_STREAM_CONTEXT",
    107017: "ACL_ERROR_RT_INVALID_HANDLE",
    107019: "ACL_ERROR_RT_WAIT_TIMEOUT",
    107020: "ACL_ERROR_RT_TASK_TIMEOUT",
    161001: "ACLNN_ERR_PARAM_NULLPTR",
    161002: "ACLNN_ERR_PARAM_INVALID",
    200000: "ACL_ERROR_BAD_ALLOC",
    200001: "ACL_ERROR_API_NOT_SUPPORT",
    200006: "ACL_ERROR_FEATURE_UNSUPPORTED",
    207000: "ACL_ERROR_RT_FEATURE_NOT_SUPPORT",
    207001: "ACL_ERROR_RT_MEMORY_ALLOCATION",
    207002: "ACL_ERROR_RT_MEMORY_FREE",
    207004: "ACL_ERROR_RT_NO_DEVICE",
    207005: "ACL_ERROR_RT_RESOURCE_ALLOC_FAIL",
    361001: "ACLNN_ERR_RUNTIME_ERROR",
    500000: "ACL_ERROR_INTERNAL_ERROR",
    500001: "ACL_ERROR_FAILURE",
    507008: "ACL_ERROR_RT_SOC_VERSION",
    507011: "ACL_ERROR_RT_MODEL_EXECUTE",
    507014: "ACL_ERROR_RT_AICORE_TIMEOUT",
    507015: "ACL_ERROR_RT_AICORE_EXCEPTION",
    507033: "ACL_ERROR_RT_DEV_SETUP_ERROR",
    507034: "ACL_ERROR_RT_VECTOR_CORE_TIMEOUT",
    507035: "ACL_ERROR_RT_VECTOR_CORE_EXCEPTION",
    507899: "ACL_ERROR_RT_DRV_INTERNAL_ERROR",
    561000: "ACLNN_ERR_INNER",
    561002: "ACLNN_ERR_INNER_TILING_ERROR",
    561003: "ACLNN_ERR_INNER_FIND_KERNEL_ERROR",
    561101: "ACLNN_ERR_INNER_CREATE_EXECUTOR",
    561103: "ACLNN_ERR_INNER_NULLPTR",
    561107: "ACLNN_ERR_INNER_OPP_PATH_NOT_FOUND",
    561112: "ACLNN_ERR_INNER_OPP_KERNEL_PKG_NOT_FOUND",
}
"""The status codes that users of an operator meet."""
