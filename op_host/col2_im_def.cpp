// Definition of the op Col2Im: one stride, padding and dilation for both axes.
#include "definition.h"

namespace ops {

class Col2Im : public OpDef {
public:
    explicit Col2Im(const char *name) : OpDef(name)
    {
        const col2im::Dtypes dtypes = {ge::DT_FLOAT, ge::DT_FLOAT16};
        OpParamDef &col = this->Input("col");
        col2im::dataColumns(col, dtypes);
        col.AutoContiguous();
        col2im::dataColumns(this->Output("x"), dtypes);
        this->Attr("output_h").AttrType(OPTIONAL).Int(4);
        this->Attr("output_w").AttrType(OPTIONAL).Int(4);
        this->Attr("kernel_h").AttrType(OPTIONAL).Int(2);
        this->Attr("kernel_w").AttrType(OPTIONAL).Int(2);
        this->Attr("stride_val").AttrType(OPTIONAL).Int(1);
        this->Attr("padding_val").AttrType(OPTIONAL).Int(0);
        this->Attr("dilation_val").AttrType(OPTIONAL).Int(1);
        OpAICoreConfig config;
        col2im::setFlags(config);
        this->AICore().AddConfig("ascend910b", config);
        this->AICore().AddConfig("ascend910_93", config);
        this->AICore().AddConfig("ascend310b", config);
    }
};

OP_ADD(Col2Im);

} // namespace ops
