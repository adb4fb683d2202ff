// Shape and dtype inference of the op Im2ColNd.
#include "infer_shape.h"
#include "register/op_impl_registry.h"

IMPL_OP_INFERSHAPE(Im2ColNd)
    .InferShape(col2im::inferShape<col2im::Im2ColNdOp>)
    .InferDataType(col2im::inferDataType);
