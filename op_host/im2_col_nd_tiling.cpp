// Tiling of the op Im2ColNd.
#include "launch.h"
#include "register/op_impl_registry.h"

IMPL_OP_OPTILING(Im2ColNd)
    .Tiling(col2im::tile<col2im::Im2ColNdOp>)
    .TilingParse<col2im::CompileInfo>(col2im::prepareNothing);
