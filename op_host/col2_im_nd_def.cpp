// Definition of the op Col2ImNd: ONNX's Col2Im, one to three spatial axes, every parameter per axis.
#include "definition.h"

namespace ops {

class Col2ImNd : public OpDef {
public:
    explicit Col2ImNd(const char *name) : OpDef(name)
    {
        col2im::setListOp(*this, "col", {"image_shape", "block_shape"}, "x");
    }
};

OP_ADD(Col2ImNd);

} // namespace ops
