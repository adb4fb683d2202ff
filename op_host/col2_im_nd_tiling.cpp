// Tiling of the op Col2ImNd.
#include "launch.h"
#include "register/op_impl_registry.h"

IMPL_OP_OPTILING(Col2ImNd)
    .Tiling(col2im::tile<col2im::Col2ImNdOp>)
    .TilingParse<col2im::CompileInfo>(col2im::prepareNothing);
