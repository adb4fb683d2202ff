// Shape and dtype inference of the op Col2Im.
#include "infer_shape.h"
#include "register/op_impl_registry.h"

IMPL_OP_INFERSHAPE(Col2Im)
    .InferShape(col2im::inferShape<col2im::Col2ImOp>)
    .InferDataType(col2im::inferDataType);
