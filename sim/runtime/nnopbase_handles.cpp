// libnnopbase.so: making, reading and destroying the arguments of aclnn functions.
#include "nnopbase.h"

#include <cstring>

using namespace simrt;

namespace simrt {

// One row per kind of handle: its type, which is also its name in leak reports.
#define SIM_HANDLES(type)                              \
    template <> Handles &handlesOf<type>()             \
    {                                                  \
        static auto &instance = *new Handles(#type);   \
        return instance;                               \
    }
SIM_HANDLES(aclTensor)
SIM_HANDLES(aclScalar)
SIM_HANDLES(aclIntArray)
SIM_HANDLES(aclFloatArray)
SIM_HANDLES(aclBoolArray)
SIM_HANDLES(aclTensorList)

int64_t elements(const std::vector<int64_t> &shape)
{
    int64_t product = 1;
    for (const int64_t size : shape) {
        product *= size;
    }
    return product;
}

std::vector<int64_t> denseStrides(const std::vector<int64_t> &shape)
{
    std::vector<int64_t> strides(shape.size());
    int64_t step = 1;
    for (size_t axis = shape.size(); axis-- > 0;) {
        strides[axis] = step;
        step *= shape[axis];
    }
    return strides;
}

bool isDense(const aclTensor &tensor)
{
    const std::vector<int64_t> dense = denseStrides(tensor.shape);
    for (size_t axis = 0; axis < tensor.shape.size(); ++axis) {
        if (tensor.shape[axis] != 1 && tensor.strides[axis] != dense[axis]) {
            return false;
        }
    }
    return true;
}

} // namespace simrt

namespace {

template <typename T> T *made(T value)
{
    auto *handle = new T(std::move(value));
    handlesOf<T>().add(handle);
    return handle;
}

template <typename T> aclnnStatus destroy(const char *symbol, const T *handle)
{
    if (handle == nullptr) {
        return ACL_SUCCESS;
    }
    if (!handlesOf<T>().remove(handle)) {
        return fail(ACLNN_ERR_INNER, "%s: %p was destroyed before, or never made", symbol,
                    static_cast<const void *>(handle));
    }
    delete handle;
    return ACL_SUCCESS;
}

aclnnStatus copyOut(const std::vector<int64_t> &values, int64_t **array, uint64_t *size)
{
    *size = values.size();
    *array = new int64_t[values.size()];
    std::copy(values.begin(), values.end(), *array);
    return ACL_SUCCESS;
}

} // namespace

#define SIM_REQUIRE(condition)                                                                      \
    do {                                                                                            \
        if (!(condition)) {                                                                         \
            return fail(ACLNN_ERR_PARAM_NULLPTR, "%s: an argument is null", __func__);              \
        }                                                                                           \
    } while (false)

aclTensor *aclCreateTensor(const int64_t *viewDims, uint64_t viewDimsNum, aclDataType dataType, const int64_t *stride,
                           int64_t offset, aclFormat format, const int64_t *storageDims, uint64_t storageDimsNum,
                           void *tensorData)
{
    SIM_ENTER_POINTER();
    if ((viewDims == nullptr && viewDimsNum > 0) || (storageDims == nullptr && storageDimsNum > 0)) {
        return nullptr;
    }
    std::vector<int64_t> shape(viewDims, viewDims + viewDimsNum);
    std::vector<int64_t> strides =
        stride == nullptr ? denseStrides(shape) : std::vector<int64_t>(stride, stride + viewDimsNum);
    return made(aclTensor{std::move(shape), std::move(strides),
                          std::vector<int64_t>(storageDims, storageDims + storageDimsNum), dataType, format, offset,
                          tensorData});
}

aclScalar *aclCreateScalar(void *value, aclDataType dataType)
{
    SIM_ENTER_POINTER();
    if (value == nullptr) {
        return nullptr;
    }
    const auto *bytes = static_cast<const uint8_t *>(value);
    return made(aclScalar{std::vector<uint8_t>(bytes, bytes + aclDataTypeSize(dataType)), dataType});
}

aclIntArray *aclCreateIntArray(const int64_t *value, uint64_t size)
{
    SIM_ENTER_POINTER();
    return made(aclIntArray{std::vector<int64_t>(value, value + size)});
}

aclFloatArray *aclCreateFloatArray(const float *value, uint64_t size)
{
    SIM_ENTER_POINTER();
    return made(aclFloatArray{std::vector<float>(value, value + size)});
}

aclBoolArray *aclCreateBoolArray(const bool *value, uint64_t size)
{
    SIM_ENTER_POINTER();
    return made(aclBoolArray{std::vector<uint8_t>(value, value + size)});
}

aclTensorList *aclCreateTensorList(const aclTensor *const *value, uint64_t size)
{
    SIM_ENTER_POINTER();
    return made(aclTensorList{std::vector<const aclTensor *>(value, value + size)});
}

aclnnStatus aclDestroyTensor(const aclTensor *tensor)
{
    SIM_ENTER();
    return destroy(__func__, tensor);
}

aclnnStatus aclDestroyScalar(const aclScalar *scalar)
{
    SIM_ENTER();
    return destroy(__func__, scalar);
}

aclnnStatus aclDestroyIntArray(const aclIntArray *array)
{
    SIM_ENTER();
    return destroy(__func__, array);
}

aclnnStatus aclDestroyFloatArray(const aclFloatArray *array)
{
    SIM_ENTER();
    return destroy(__func__, array);
}

aclnnStatus aclDestroyBoolArray(const aclBoolArray *array)
{
    SIM_ENTER();
    return destroy(__func__, array);
}

// As in nnopbase, the list takes its tensors along.
aclnnStatus aclDestroyTensorList(const aclTensorList *array)
{
    SIM_ENTER();
    if (array != nullptr && handlesOf<aclTensorList>().holds(array)) {
        for (const aclTensor *tensor : array->tensors) {
            destroy(__func__, tensor);
        }
    }
    return destroy(__func__, array);
}

aclnnStatus aclGetViewShape(const aclTensor *tensor, int64_t **viewDims, uint64_t *viewDimsNum)
{
    SIM_ENTER();
    SIM_REQUIRE(tensor != nullptr && viewDims != nullptr && viewDimsNum != nullptr);
    return copyOut(tensor->shape, viewDims, viewDimsNum);
}

aclnnStatus aclGetViewStrides(const aclTensor *tensor, int64_t **stridesValue, uint64_t *stridesNum)
{
    SIM_ENTER();
    SIM_REQUIRE(tensor != nullptr && stridesValue != nullptr && stridesNum != nullptr);
    return copyOut(tensor->strides, stridesValue, stridesNum);
}

aclnnStatus aclGetStorageShape(const aclTensor *tensor, int64_t **storageDims, uint64_t *storageDimsNum)
{
    SIM_ENTER();
    SIM_REQUIRE(tensor != nullptr && storageDims != nullptr && storageDimsNum != nullptr);
    return copyOut(tensor->storageShape, storageDims, storageDimsNum);
}

aclnnStatus aclGetViewOffset(const aclTensor *tensor, int64_t *offset)
{
    SIM_ENTER();
    SIM_REQUIRE(tensor != nullptr && offset != nullptr);
    *offset = tensor->offset;
    return ACL_SUCCESS;
}

aclnnStatus aclGetFormat(const aclTensor *tensor, aclFormat *format)
{
    SIM_ENTER();
    SIM_REQUIRE(tensor != nullptr && format != nullptr);
    *format = tensor->format;
    return ACL_SUCCESS;
}

aclnnStatus aclGetDataType(const aclTensor *tensor, aclDataType *dataType)
{
    SIM_ENTER();
    SIM_REQUIRE(tensor != nullptr && dataType != nullptr);
    *dataType = tensor->dtype;
    return ACL_SUCCESS;
}

aclnnStatus aclGetIntArraySize(const aclIntArray *array, uint64_t *size)
{
    SIM_ENTER();
    SIM_REQUIRE(array != nullptr && size != nullptr);
    *size = array->values.size();
    return ACL_SUCCESS;
}

const int64_t *npuSimIntArray(const aclIntArray *array, uint64_t *size)
{
    *size = array == nullptr ? 0 : array->values.size();
    return array == nullptr ? nullptr : array->values.data();
}
