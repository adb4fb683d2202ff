// libnnopbase.so: from the two stages of an aclnn function to a task on a stream.
#include <algorithm>
#include <cstring>
#include <memory>
#include <string>

#include "device.h"
#include "nnopbase.h"
#include "stream.h"

using namespace simrt;

namespace {

constexpr uint64_t kAlignment = 512; // between the parts of a workspace

uint64_t aligned(uint64_t bytes)
{
    return (bytes + kAlignment - 1) / kAlignment * kAlignment;
}

// One tensor of a call, as it was described when the call was prepared.
struct Argument {
    aclTensor tensor;
    const aclTensor *handle;
    uint64_t itemBytes;
    bool viaWorkspace;
    uint64_t workspaceOffset = 0; // of the dense copy

    uint64_t bytes() const { return static_cast<uint64_t>(elements(tensor.shape)) * itemBytes; }
};

enum class Direction { ToDense, FromDense };

// Copies between a view and dense memory, in row-major order.
void copyView(const Argument &argument, uint8_t *storage, uint8_t *dense, Direction direction)
{
    const std::vector<int64_t> &shape = argument.tensor.shape;
    std::vector<int64_t> index(shape.size(), 0);
    for (uint64_t done = 0; done < argument.bytes(); done += argument.itemBytes) {
        int64_t element = argument.tensor.offset;
        for (size_t axis = 0; axis < shape.size(); ++axis) {
            element += index[axis] * argument.tensor.strides[axis];
        }
        uint8_t *item = storage + element * static_cast<int64_t>(argument.itemBytes);
        if (direction == Direction::ToDense) {
            std::memcpy(dense + done, item, argument.itemBytes);
        } else {
            std::memcpy(item, dense + done, argument.itemBytes);
        }
        for (size_t axis = shape.size(); axis-- > 0 && ++index[axis] == shape[axis];) {
            index[axis] = 0;
        }
    }
}

// What the stream runs: shared by the executor and the tasks it was launched as.
struct Job {
    const NpuSimOp *op;
    std::vector<Argument> arguments; // inputs, then outputs
    size_t inputs;
    void *plan = nullptr;
    bool empty = false; // no output element: nothing runs
    uint64_t kernelWorkspace = 0, workspace = 0;

    ~Job()
    {
        if (plan != nullptr) {
            op->release(plan);
        }
    }

    int run(const Device &device, void *workspaceAddress) const;
};

int fault(const Job &job, const char *what, const void *address, uint64_t bytes)
{
    return fail(ACL_ERROR_RT_AICORE_EXCEPTION, "%s: %s %p + %llu bytes is not inside one live allocation of the device",
                job.op->type, what, address, static_cast<unsigned long long>(bytes));
}

int Job::run(const Device &device, void *workspaceAddress) const
{
    auto *scratch = static_cast<uint8_t *>(workspace == 0 ? nullptr : device.hostView(workspaceAddress, workspace));
    if (workspace != 0 && scratch == nullptr) {
        return fault(*this, "the workspace", workspaceAddress, workspace);
    }
    std::vector<uint8_t *> storages;
    std::vector<NpuSimBuffer> buffers;
    for (size_t i = 0; i < arguments.size(); ++i) {
        const Argument &argument = arguments[i];
        const auto span = static_cast<uint64_t>(elements(argument.tensor.storageShape)) * argument.itemBytes;
        auto *storage = static_cast<uint8_t *>(device.hostView(argument.tensor.data, span));
        if (storage == nullptr) {
            return fault(*this, i < inputs ? "an input" : "an output", argument.tensor.data, span);
        }
        storages.push_back(storage);
        uint8_t *start = argument.viaWorkspace
                             ? scratch + argument.workspaceOffset
                             : storage + argument.tensor.offset * static_cast<int64_t>(argument.itemBytes);
        if (argument.viaWorkspace && i < inputs) {
            copyView(argument, storage, start, Direction::ToDense);
        }
        buffers.push_back({start, argument.bytes()});
    }
    if (op->run(plan, buffers.data(), {scratch, kernelWorkspace}) != 0) {
        return ACL_ERROR_RT_AICORE_EXCEPTION;
    }
    for (size_t i = inputs; i < arguments.size(); ++i) {
        if (arguments[i].viaWorkspace) {
            copyView(arguments[i], storages[i], static_cast<uint8_t *>(buffers[i].data), Direction::FromDense);
        }
    }
    return 0;
}

Handles &executors()
{
    static auto &instance = *new Handles("aclOpExecutor");
    return instance;
}

// First and last element a view touches, in elements of its storage.
bool insideStorage(const aclTensor &tensor)
{
    int64_t low = tensor.offset, high = tensor.offset;
    for (size_t axis = 0; axis < tensor.shape.size(); ++axis) {
        const int64_t reach = (tensor.shape[axis] - 1) * tensor.strides[axis];
        (reach < 0 ? low : high) += reach;
    }
    return low >= 0 && high < elements(tensor.storageShape);
}

// Describes one tensor of the call; a status if it cannot be used.
aclnnStatus addArgument(Job &job, const char *symbol, const char *role, size_t index, const aclTensor *tensor,
                        uint64_t autoContiguous)
{
    if (tensor == nullptr || !handlesOf<aclTensor>().holds(tensor)) {
        return fail(ACLNN_ERR_PARAM_NULLPTR, "%s: %s %zu is %s", symbol, role, index,
                    tensor == nullptr ? "null" : "no tensor that is alive");
    }
    const size_t itemBytes = aclDataTypeSize(tensor->dtype);
    const bool empty = elements(tensor->shape) == 0;
    if (itemBytes == 0 || (!empty && !insideStorage(*tensor))) {
        return fail(ACLNN_ERR_PARAM_INVALID, "%s: %s %zu has dtype %d and a view that must lie inside its storage",
                    symbol, role, index, tensor->dtype);
    }
    const bool dense = empty || isDense(*tensor);
    if (!dense && (autoContiguous >> index & 1) == 0) {
        return fail(ACLNN_ERR_INNER, "%s: %s %zu is not contiguous, and the op's definition does not say AutoContiguous",
                    symbol, role, index);
    }
    job.arguments.push_back({*tensor, tensor, itemBytes, !dense});
    return ACL_SUCCESS;
}

} // namespace

struct aclOpExecutor {
    std::shared_ptr<Job> job;
    bool repeatable = false;
};

aclnnStatus npuSimPrepare(const char *symbol, const NpuSimOp *op, const aclTensor *const *inputs, uint32_t inputCount,
                          const aclTensor *const *outputs, uint32_t outputCount, const void *attributes,
                          uint64_t *workspaceSize, aclOpExecutor **executor)
{
    int status = 0;
    if (enter(symbol, &status)) {
        return status;
    }
    if (workspaceSize == nullptr || executor == nullptr) {
        return fail(ACLNN_ERR_PARAM_NULLPTR, "%s: workspaceSize or executor is null", symbol);
    }
    if (currentContext() == nullptr) {
        return fail(ACLNN_ERR_RUNTIME_ERROR, "%s: this thread has no device: call aclrtSetDevice first", symbol);
    }
    const auto job = std::make_shared<Job>();
    job->op = op;
    job->inputs = inputCount;
    for (uint32_t i = 0; i < inputCount && status == 0; ++i) {
        status = addArgument(*job, symbol, "input", i, inputs[i], op->autoContiguousInputs);
    }
    for (uint32_t i = 0; i < outputCount && status == 0; ++i) {
        status = addArgument(*job, symbol, "output", i, outputs[i], op->autoContiguousOutputs);
    }
    if (status != 0) {
        return status;
    }
    std::vector<NpuSimTensor> views;
    job->empty = true;
    for (size_t i = 0; i < job->arguments.size(); ++i) {
        const Argument &argument = job->arguments[i];
        views.push_back(argument.tensor.view());
        job->empty = job->empty && (i < inputCount || argument.bytes() == 0);
    }
    if (!job->empty) {
        status = op->tile(views.data(), views.data() + inputCount, attributes, &job->plan, &job->kernelWorkspace);
        if (status != 0) {
            return status;
        }
        job->workspace = job->kernelWorkspace;
        for (Argument &argument : job->arguments) {
            if (argument.viaWorkspace) {
                argument.workspaceOffset = aligned(job->workspace);
                job->workspace = argument.workspaceOffset + argument.bytes();
            }
        }
    }
    *workspaceSize = job->workspace;
    *executor = new aclOpExecutor{job};
    executors().add(*executor);
    return ACL_SUCCESS;
}

aclnnStatus npuSimLaunch(const char *symbol, void *workspace, uint64_t workspaceSize, aclOpExecutor *executor,
                         aclrtStream stream)
{
    int status = 0;
    if (!executors().holds(executor)) {
        return fail(ACLNN_ERR_INNER_NULLPTR, "%s: %p is no executor, or was used before", symbol,
                    static_cast<void *>(executor));
    }
    // Whatever becomes of the launch, the executor is spent: as in nnopbase.
    const std::shared_ptr<Job> job = executor->job;
    if (!executor->repeatable) {
        executors().remove(executor);
        delete executor;
    }
    if (enter(symbol, &status)) {
        return status;
    }
    for (const Argument &argument : job->arguments) {
        if (!handlesOf<aclTensor>().holds(argument.handle)) {
            return fail(ACLNN_ERR_INNER, "%s: a tensor was destroyed between the two stages", symbol);
        }
    }
    if (workspaceSize < job->workspace || (job->workspace > 0 && workspace == nullptr)) {
        return fail(ACLNN_ERR_PARAM_INVALID, "%s: workspace %p of %llu bytes; %llu are needed", symbol, workspace,
                    static_cast<unsigned long long>(workspaceSize), static_cast<unsigned long long>(job->workspace));
    }
    Stream *queue = streamOf(symbol, stream, &status);
    if (queue == nullptr) {
        return ACLNN_ERR_RUNTIME_ERROR;
    }
    if (job->empty) {
        return ACL_SUCCESS;
    }
    const bool fails = enter((std::string(job->op->type) + "/kernel").c_str(), &status);
    const std::string message = fails ? takeMessage() : std::string();
    const Device &device = queue->context().device;
    queue->submit([job, workspace, &device, status, message] {
        return status != 0 ? fail(status, "%s", message.c_str()) : job->run(device, workspace);
    });
    return ACL_SUCCESS;
}

aclnnStatus aclSetAclOpExecutorRepeatable(aclOpExecutor *executor)
{
    SIM_ENTER();
    if (!executors().holds(executor)) {
        return fail(ACLNN_ERR_INNER_NULLPTR, "aclSetAclOpExecutorRepeatable: %p is no executor",
                    static_cast<void *>(executor));
    }
    executor->repeatable = true;
    return ACL_SUCCESS;
}

aclnnStatus aclDestroyAclOpExecutor(aclOpExecutor *executor)
{
    SIM_ENTER();
    if (!executors().remove(executor)) {
        return fail(ACLNN_ERR_INNER_NULLPTR, "aclDestroyAclOpExecutor: %p is no executor, or was used before",
                    static_cast<void *>(executor));
    }
    delete executor;
    return ACL_SUCCESS;
}
