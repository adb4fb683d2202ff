// Tiling of the op Col2Im.
#include "launch.h"
#include "register/op_impl_registry.h"

IMPL_OP_OPTILING(Col2Im)
    .Tiling(col2im::tile<col2im::Col2ImOp>)
    .TilingParse<col2im::CompileInfo>(col2im::prepareNothing);
