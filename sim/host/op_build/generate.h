// What op_build generates from one set of definitions, and what its parts share.
#pragma once

#include <string>
#include <vector>

#include "register/op_def_registry.h"

namespace op_build {

using Ops = std::vector<ops::OpDef>;

// How one dtype is written: in the ops' information, in a kernel's source, and in host code.
struct Dtype {
    ge::DataType value;
    const char *name;
    const char *kernel;
    const char *enumerator; // of ge::DataType
};

const Dtype &dtype(ge::DataType value); // throws std::runtime_error for one that no kernel has

std::string snakeCase(const std::string &name);                 // Col2ImNd -> col2_im_nd
std::string camelCase(const std::string &name);                 // output_h -> outputH
std::string guardName(const std::string &type);                 // Col2ImNd -> COL2IM_ND
bool readByHost(const ops::OpParamDef &input);                  // its values, that is
void write(const std::string &path, const std::string &text);   // throws std::runtime_error

// The two-stage functions of an op: aclnn_<op>.h and aclnn_<op>.cpp.
std::string aclnnHeader(const ops::OpDef &op);
std::string aclnnSource(const ops::OpDef &op);

// The ops of a graph: op_proto.h and op_proto.cc.
std::string protoHeader(const Ops &ops);
std::string protoSource(const Ops &ops);

// What one product has of an op. A parameter in the product's configuration replaces the op's.
struct ProductOp {
    const ops::OpDef &op;
    const ops::OpAICoreConfig &config;
    std::vector<ops::OpParamDef> inputs, outputs;
};

std::vector<ProductOp> productOps(const Ops &ops, const std::string &soc); // throws where columns differ in length
std::string opsInfoIni(const std::vector<ProductOp> &ops);
std::string opsInfoJson(const std::vector<ProductOp> &ops);

// The dtypes of every kernel of one op for each product, as an initialiser of C++.
std::string supports(const ops::OpDef &op);

// One line per kernel binary: op type, kernel file, binary's name, and the dtypes' macros separated by `;`.
std::string kernelList(const std::vector<ProductOp> &ops);

} // namespace op_build
