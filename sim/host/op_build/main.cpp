// op_build: generates the interface of an op package from the definitions in a library.
//
//   op_build LIBRARY DIRECTORY [--compute_unit=ascend910b;ascend310b]
//
// As in CANN, the files are aclnn_<op>.{h,cpp}, op_proto.{h,cc} and aic-<soc>-ops-info.ini; beside them stand what
// its later steps make of the last: aic-<soc>-ops-info.json, and kernels-<soc>.txt, the kernel binaries to build.
#include <dlfcn.h>

#include <cstdio>
#include <set>
#include <sstream>
#include <stdexcept>

#include "generate.h"

namespace {

// Every product that some op has a configuration for, or those asked for.
std::set<std::string> products(const op_build::Ops &ops, const std::string &asked)
{
    std::set<std::string> names;
    std::string name;
    for (std::istringstream list(asked); std::getline(list, name, ';');) {
        names.insert(name);
    }
    if (names.empty()) {
        for (const ops::OpDef &op : ops) {
            for (const auto &config : op.aicore.configs) {
                names.insert(config.first);
            }
        }
    }
    return names;
}

void generate(const op_build::Ops &ops, const std::string &directory, const std::string &asked)
{
    using namespace op_build;
    for (const ops::OpDef &op : ops) {
        const std::string stem = directory + "/aclnn_" + snakeCase(op.type);
        write(stem + ".h", aclnnHeader(op));
        write(stem + ".cpp", aclnnSource(op));
    }
    write(directory + "/op_proto.h", protoHeader(ops));
    write(directory + "/op_proto.cc", protoSource(ops));
    for (const std::string &soc : products(ops, asked)) {
        const std::vector<ProductOp> found = productOps(ops, soc);
        if (found.empty()) {
            throw std::runtime_error("no op has a configuration for " + soc);
        }
        write(directory + "/aic-" + soc + "-ops-info.ini", opsInfoIni(found));
        write(directory + "/aic-" + soc + "-ops-info.json", opsInfoJson(found));
        write(directory + "/kernels-" + soc + ".txt", kernelList(found));
    }
}

} // namespace

int main(int count, char **arguments)
{
    const std::string option = "--compute_unit=";
    const std::string last = count == 4 ? arguments[3] : option;
    if (count < 3 || count > 4 || last.compare(0, option.size(), option) != 0) {
        std::fprintf(stderr, "usage: op_build LIBRARY DIRECTORY [--compute_unit=SOC;SOC]\n");
        return 2;
    }
    try {
        if (dlopen(arguments[1], RTLD_NOW | RTLD_GLOBAL) == nullptr) {
            throw std::runtime_error(dlerror());
        }
        const op_build::Ops ops = ops::OpDefFactory::All();
        if (ops.empty()) {
            throw std::runtime_error(std::string(arguments[1]) + " defines no op");
        }
        generate(ops, arguments[2], last.substr(option.size()));
    } catch (const std::exception &error) {
        std::fprintf(stderr, "op_build: %s\n", error.what());
        return 1;
    }
    return 0;
}
