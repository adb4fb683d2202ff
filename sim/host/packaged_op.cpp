#include "packaged_op.h"

#include <algorithm>
#include <cctype>
#include <memory>
#include <string>

#include "tiling/platform/platform_ascendc.h"

#include "../runtime/nnopbase.h"
#include "kernel_name.h"
#include "package.h"
#include "support.h"

namespace npu_sim {

namespace {

// The name that the platform files give a product's family: ascend910b is Ascend910B.
std::string shortSocOf(const sim::Product &product)
{
    std::string name = product.soc;
    std::transform(name.begin() + sizeof "Ascend" - 1, name.end(), name.begin() + sizeof "Ascend" - 1,
                   [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
    name[0] = 'A';
    return name;
}

// What the query returns on Atlas A2: all of the unified buffer but what the runtime itself keeps.
constexpr uint64_t kQueriedUbA2 = 192 * 1024 - 256;

struct Plan {
    const Model *model;
    const sim::Product *product;
    std::string kernel;
    std::vector<Call::Input> inputs;
    std::vector<uint8_t> tiling;
    uint64_t key;
    uint32_t cores;
};

gert::Shape shapeOf(const NpuSimTensor &tensor)
{
    gert::Shape shape;
    for (uint64_t axis = 0; axis < tensor.rank; ++axis) {
        shape.AppendDim(tensor.shape[axis]);
    }
    return shape;
}

void addDesc(const NpuSimTensor &tensor, std::vector<gert::CompileTimeTensorDesc> &descs)
{
    descs.emplace_back(static_cast<ge::DataType>(tensor.dtype), seenFormat(static_cast<ge::Format>(tensor.format)));
}

gert::NodeCall nodeCall(const Call &call, const NpuSimTensor *tensors, const NpuSimTensor &out)
{
    gert::NodeCall node{call.op().type(), {}, {}, {}, {}, gert::RuntimeAttrs(call.attributes())};
    for (const Call::Input &input : call.inputs()) {
        if (input.onDevice) {
            addDesc(*tensors, node.inputDescs);
            node.inputs.emplace_back(gert::StorageShape(shapeOf(*tensors++)), nullptr);
        } else {
            gert::Shape shape;
            shape.AppendDim(static_cast<int64_t>(input.values.size()));
            node.inputDescs.emplace_back(ge::DT_INT64, ge::FORMAT_ND);
            node.inputs.emplace_back(gert::StorageShape(shape), input.values.data());
        }
    }
    addDesc(out, node.outputDescs);
    node.outputShapes.emplace_back(shapeOf(out));
    return node;
}

std::string kernelOf(const gert::NodeCall &node)
{
    std::vector<ge::DataType> dtypes;
    for (const auto *descs : {&node.inputDescs, &node.outputDescs}) {
        for (const gert::CompileTimeTensorDesc &desc : *descs) {
            dtypes.push_back(desc.GetDataType());
        }
    }
    return kernelName(node.type, dtypes);
}

aclnnStatus tile(const NpuSimTensor *inputs, const NpuSimTensor *outputs, const void *given, void **plan,
                 uint64_t *workspaceBytes)
{
    const Call &call = *static_cast<const Call *>(given);
    const char *soc = aclrtGetSocName();
    const sim::Product *product = soc == nullptr ? nullptr : sim::findProduct(soc + sizeof "Ascend" - 1);
    Package &package = call.op().package();
    const gert::OpImplFunctions *functions = package.functions(call.op().type());
    if (product == nullptr || functions == nullptr) {
        return ACLNN_ERR_INNER_TILING_ERROR;
    }
    const bool isA2 = product->arch == 2201;
    fe::PlatFormInfos platform{isA2, isA2 ? product->cores / 2U : product->cores, product->cores,
                               isA2 ? kQueriedUbA2 : product->ubBytes, shortSocOf(*product)};
    const gert::NodeCall node = nodeCall(call, inputs, *outputs);
    const aclnnStatus supported = checkSupported(call.op(), node, *product);
    if (supported != ACL_SUCCESS) {
        return supported;
    }
    const std::string kernel = kernelOf(node);
    const Model *model = package.kernel(*product, call.op().file(), kernel);
    if (model == nullptr) {
        return ACLNN_ERR_INNER_FIND_KERNEL_ERROR;
    }
    gert::TilingContext context(node, platform, functions->maxTilingBytes);
    npuSimReport("%s: tiling failed without a reason", node.type); // unless it reports a better one
    if (functions->tiling(&context) != ge::GRAPH_SUCCESS) {
        return ACLNN_ERR_INNER_TILING_ERROR;
    }
    npuSimReport("%s", "");
    for (const size_t bytes : context.Workspaces()) {
        *workspaceBytes += bytes;
    }
    *plan = new Plan{model,  product, kernel, call.inputs(), context.TilingBytes(), context.GetTilingKey(),
                     context.GetBlockDim()};
    return ACL_SUCCESS;
}

int report(const Plan &plan, SimLaunch *launch, int64_t violations)
{
    if (violations > 0) {
        npuSimReport("%s (%lld in this launch)", plan.model->violation(launch, 0), static_cast<long long>(violations));
    } else if (violations < 0) {
        npuSimReport("%s: %s", plan.kernel.c_str(), plan.model->lastError());
    }
    return violations == 0 ? 0 : 1;
}

int run(const void *given, const NpuSimBuffer *buffers, NpuSimBuffer workspace)
{
    const Plan &plan = *static_cast<const Plan *>(given);
    const Model &model = *plan.model;
    std::unique_ptr<SimLaunch, decltype(model.destroy)> launch(nullptr, model.destroy);
    {
        const std::lock_guard<std::mutex> lock(modelMutex());
        const uint32_t options = npuSimTimed() != 0 ? SIM_CHECK | SIM_RECORD : int{SIM_CHECK};
        launch.reset(model.create(plan.kernel.c_str(), plan.product->name, plan.cores, options));
    }
    if (launch == nullptr) {
        return report(plan, nullptr, -1);
    }
    model.tiling(launch.get(), plan.key, plan.tiling.data(), plan.tiling.size());
    for (const Call::Input &input : plan.inputs) {
        if (input.onDevice) {
            model.argument(launch.get(), buffers->data, buffers->bytes, SIM_IN);
            ++buffers;
        } else {
            model.argument(launch.get(), const_cast<int64_t *>(input.values.data()), input.values.size() * sizeof(int64_t),
                           SIM_IN);
        }
    }
    model.argument(launch.get(), buffers->data, buffers->bytes, SIM_OUT);
    model.argument(launch.get(), workspace.data, workspace.bytes, SIM_INOUT);
    const int64_t violations = model.run(launch.get());
    if (violations == 0 && npuSimTimed() != 0) {
        npuSimSpend(model.time(launch.get(), 0)); // with the published rates of bursts
    }
    return report(plan, launch.get(), violations);
}

void release(void *plan) { delete static_cast<Plan *>(plan); }

} // namespace

PackagedOp::PackagedOp(const char *type, const char *file, uint64_t autoContiguous,
                       std::vector<std::string> parameters, std::vector<Support> supports)
    : file_(file), parameters_(std::move(parameters)), supports_(std::move(supports)),
      launcher_{type, autoContiguous, 0, tile, run, release}
{}

Package &PackagedOp::package() const { return Package::of(this); }

Call &Call::tensor(const aclTensor *tensor)
{
    inputs_.push_back({true, {}});
    tensors_.push_back(tensor);
    return *this;
}

Call &Call::values(const aclIntArray *array)
{
    uint64_t size = 0;
    const int64_t *first = npuSimIntArray(array, &size);
    if (first == nullptr) {
        missing_ = "an array of sizes";
    }
    inputs_.push_back({false, Ints(first, first + size)});
    return *this;
}

Call &Call::values(const aclTensor *tensor)
{
    if (tensor == nullptr || !simrt::handlesOf<aclTensor>().holds(tensor) || tensor->dtype != ACL_INT64 ||
        npuSimHostView(tensor->data, 1) != nullptr) {
        missing_ = "a tensor of sizes: int64, in host memory";
        inputs_.push_back({false, {}});
        return *this;
    }
    const auto *first = static_cast<const int64_t *>(tensor->data) + tensor->offset;
    inputs_.push_back({false, Ints(first, first + simrt::elements(tensor->shape))});
    return *this;
}

Call &Call::attribute(int64_t value)
{
    attributes_.push_back({value});
    return *this;
}

Call &Call::attribute(const aclIntArray *array, std::initializer_list<int64_t> otherwise)
{
    uint64_t size = 0;
    const int64_t *first = npuSimIntArray(array, &size);
    attributes_.push_back(array == nullptr ? Ints(otherwise) : Ints(first, first + size));
    return *this;
}

aclnnStatus Call::prepare(const aclTensor *out, uint64_t *workspaceSize, aclOpExecutor **executor)
{
    if (missing_ != nullptr) {
        npuSimReport("%s: needs %s", symbol_, missing_);
        return ACLNN_ERR_PARAM_NULLPTR;
    }
    return npuSimPrepare(symbol_, &op_.launcher(), tensors_.data(), static_cast<uint32_t>(tensors_.size()), &out, 1,
                         this, workspaceSize, executor);
}

} // namespace npu_sim
