// The kernel interface of the simulated NPU: the subset of AscendC's kernel_operator.h that vector kernels use.
//
// A kernel written for the real header compiles unchanged against this one; here it executes on the host, and
// every instruction is checked against the documented hardware and recorded (docs/design/simulated-npu.md).
#pragma once

#include "ascendc/qualifiers.h"
#include "ascendc/half.h"
#include "ascendc/types.h"
#include "ascendc/params.h"
#include "ascendc/tensor.h"
#include "ascendc/queue.h"
#include "ascendc/sync.h"
#include "ascendc/data_copy.h"
#include "ascendc/vector.h"
#include "ascendc/vector_fill.h"
#include "ascendc/cast.h"
#include "ascendc/rearrange.h"
#include "ascendc/gather.h"
#include "ascendc/tiling.h"
