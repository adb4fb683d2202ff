// Definition of the op Im2ColNd, the adjoint of Col2ImNd.
#include "definition.h"

namespace ops {

class Im2ColNd : public OpDef {
public:
    explicit Im2ColNd(const char *name) : OpDef(name)
    {
        col2im::setListOp(*this, "x", {"block_shape"}, "col");
    }
};

OP_ADD(Im2ColNd);

} // namespace ops
