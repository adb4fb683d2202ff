// Calls aclnnCol2Im on an NPU: folds columns into a (1, 3, 4, 5) image and checks every pixel.
//
//   bash build.sh --run_example col2_im eager cust --vendor_name=custom
//
// With a value of 1 in every column, a pixel becomes the number of windows that cover it.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include "acl/acl.h"
#include "aclnn_col2_im.h"

namespace {

constexpr int64_t kBatch = 1, kChannels = 3, kOutputH = 4, kOutputW = 5, kKernelH = 2, kKernelW = 3;
constexpr int64_t kStride = 1, kPadding = 1, kDilation = 1;

int64_t windows(int64_t size, int64_t kernel)
{
    return (size + 2 * kPadding - kDilation * (kernel - 1) - 1) / kStride + 1;
}

void check(const char *call, int status)
{
    if (status != ACL_SUCCESS) {
        const char *message = aclGetRecentErrMsg();
        std::fprintf(stderr, "%s failed with %d: %s\n", call, status, message == nullptr ? "no message" : message);
        std::exit(1);
    }
}
#define CHECK(call) check(#call, call)

// A tensor on the device, with the memory it lies in.
class DeviceTensor {
public:
    DeviceTensor(const std::vector<int64_t> &shape, const std::vector<float> &values)
        : bytes_(values.size() * sizeof(float))
    {
        CHECK(aclrtMalloc(&memory_, bytes_, ACL_MEM_MALLOC_HUGE_FIRST));
        CHECK(aclrtMemcpy(memory_, bytes_, values.data(), bytes_, ACL_MEMCPY_HOST_TO_DEVICE));
        std::vector<int64_t> strides(shape.size(), 1);
        for (size_t axis = shape.size() - 1; axis > 0; --axis) {
            strides[axis - 1] = strides[axis] * shape[axis];
        }
        tensor_ = aclCreateTensor(shape.data(), shape.size(), ACL_FLOAT, strides.data(), 0, ACL_FORMAT_ND, shape.data(),
                                  shape.size(), memory_);
        check("aclCreateTensor", tensor_ == nullptr ? ACL_ERROR_INTERNAL_ERROR : ACL_SUCCESS);
    }
    ~DeviceTensor()
    {
        aclDestroyTensor(tensor_);
        aclrtFree(memory_);
    }
    DeviceTensor(const DeviceTensor &) = delete;
    DeviceTensor &operator=(const DeviceTensor &) = delete;

    const aclTensor *get() const { return tensor_; }
    void read(std::vector<float> &values) const
    {
        CHECK(aclrtMemcpy(values.data(), bytes_, memory_, bytes_, ACL_MEMCPY_DEVICE_TO_HOST));
    }

private:
    size_t bytes_;
    void *memory_ = nullptr;
    aclTensor *tensor_ = nullptr;
};

// The sum that the definition of the operator gives for columns of ones.
std::vector<float> expectedImage()
{
    std::vector<float> image(kBatch * kChannels * kOutputH * kOutputW, 0.0f);
    for (int64_t plane = 0; plane < kBatch * kChannels; ++plane) {
        for (int64_t tap = 0; tap < kKernelH * kKernelW; ++tap) {
            for (int64_t window = 0; window < windows(kOutputH, kKernelH) * windows(kOutputW, kKernelW); ++window) {
                const int64_t row = window / windows(kOutputW, kKernelW) * kStride + tap / kKernelW * kDilation - kPadding;
                const int64_t column =
                    window % windows(kOutputW, kKernelW) * kStride + tap % kKernelW * kDilation - kPadding;
                if (row >= 0 && row < kOutputH && column >= 0 && column < kOutputW) {
                    image[static_cast<size_t>((plane * kOutputH + row) * kOutputW + column)] += 1.0f;
                }
            }
        }
    }
    return image;
}

std::vector<float> foldOnes(aclrtStream stream)
{
    const std::vector<int64_t> colShape = {kBatch, kChannels * kKernelH * kKernelW,
                                           windows(kOutputH, kKernelH) * windows(kOutputW, kKernelW)};
    const std::vector<int64_t> imageShape = {kBatch, kChannels, kOutputH, kOutputW};
    const DeviceTensor col(colShape, std::vector<float>(static_cast<size_t>(colShape[0] * colShape[1] * colShape[2]), 1.0f));
    std::vector<float> result(kBatch * kChannels * kOutputH * kOutputW, -1.0f);
    const DeviceTensor image(imageShape, result);

    uint64_t workspaceSize = 0;
    aclOpExecutor *executor = nullptr;
    CHECK(aclnnCol2ImGetWorkspaceSize(col.get(), kOutputH, kOutputW, kKernelH, kKernelW, kStride, kPadding, kDilation,
                                      image.get(), &workspaceSize, &executor));
    void *workspace = nullptr;
    if (workspaceSize > 0) {
        CHECK(aclrtMalloc(&workspace, workspaceSize, ACL_MEM_MALLOC_HUGE_FIRST));
    }
    CHECK(aclnnCol2Im(workspace, workspaceSize, executor, stream));
    CHECK(aclrtSynchronizeStream(stream));
    if (workspace != nullptr) {
        CHECK(aclrtFree(workspace));
    }
    image.read(result);
    return result;
}

} // namespace

int main()
{
    const int32_t device = 0;
    aclrtStream stream = nullptr;
    CHECK(aclInit(nullptr));
    CHECK(aclrtSetDevice(device));
    CHECK(aclrtCreateStream(&stream));
    const std::vector<float> result = foldOnes(stream);
    CHECK(aclrtDestroyStream(stream));
    CHECK(aclrtResetDevice(device));
    CHECK(aclFinalize());

    const std::vector<float> expected = expectedImage();
    for (size_t i = 0; i < expected.size(); ++i) {
        if (result[i] != expected[i]) {
            std::fprintf(stderr, "pixel %zu is %g, must be %g\n", i, static_cast<double>(result[i]),
                         static_cast<double>(expected[i]));
            return 1;
        }
    }
    std::printf("test_aclnn_col2_im: all %zu pixels are right\n", expected.size());
    return 0;
}
