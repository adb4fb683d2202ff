// Shape and dtype inference of the op Col2ImNd.
#include "infer_shape.h"
#include "register/op_impl_registry.h"

IMPL_OP_INFERSHAPE(Col2ImNd)
    .InferShape(col2im::inferShape<col2im::Col2ImNdOp>)
    .InferDataType(col2im::inferDataType);
