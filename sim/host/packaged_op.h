// How the generated functions of an op package (libcust_opapi.so) call their op on the simulated device.
//
// A call runs the host tiling of the package's libcust_opmaster_rt2.0.so and picks the kernel binary of its dtypes;
// the launch runs that kernel on the model of the product, with every check. Exported by libop_runner.so.
#pragma once

#include <initializer_list>
#include <string>
#include <vector>

#include "graph/types.h"
#include "op_launch.h"

namespace npu_sim {

class Package;

// What the op's definition has for one product: the dtypes of every kernel, of the inputs and then of the output.
// Every format is ND.
struct Support {
    using Column = std::vector<ge::DataType>;
    std::string soc; // the build name
    std::vector<Column> columns;
};

// One op of a package. Lives as long as the library that it is in.
class PackagedOp {
public:
    // `file` is what the op's kernel files are called; bit i of `autoContiguous` stands for the i-th tensor input;
    // `parameters` are the names of the inputs and of the output.
    PackagedOp(const char *type, const char *file, uint64_t autoContiguous, std::vector<std::string> parameters,
               std::vector<Support> supports);

    const char *type() const { return launcher_.type; }
    const char *file() const { return file_; }
    const std::vector<std::string> &parameters() const { return parameters_; }
    const std::vector<Support> &supports() const { return supports_; }
    const NpuSimOp &launcher() const { return launcher_; }
    Package &package() const; // the package that this object's library belongs to

private:
    const char *file_;
    std::vector<std::string> parameters_;
    std::vector<Support> supports_;
    NpuSimOp launcher_;
};

// One call of an op: its inputs and attributes in the order of its definition.
class Call {
public:
    using Ints = std::vector<int64_t>;

    Call(const char *symbol, const PackagedOp &op) : symbol_(symbol), op_(op) {}

    Call &tensor(const aclTensor *tensor);
    Call &values(const aclIntArray *array);  // of an input that the host reads
    Call &values(const aclTensor *tensor);   // the same, in host memory
    Call &attribute(int64_t value);
    Call &attribute(const aclIntArray *array, std::initializer_list<int64_t> otherwise);

    aclnnStatus prepare(const aclTensor *out, uint64_t *workspaceSize, aclOpExecutor **executor);

    // An input is a tensor on the device, or values that the host reads.
    struct Input {
        bool onDevice;
        Ints values;
    };
    const PackagedOp &op() const { return op_; }
    const std::vector<Input> &inputs() const { return inputs_; }
    const std::vector<Ints> &attributes() const { return attributes_; }

private:
    const char *symbol_;
    const PackagedOp &op_;
    std::vector<Input> inputs_;
    std::vector<const aclTensor *> tensors_;
    std::vector<Ints> attributes_;
    const char *missing_ = nullptr; // what the caller left out
};

} // namespace npu_sim
