// Shapes of at most 25 axes, as CANN passes them to host functions.
#pragma once

#include <cstddef>
#include <cstdint>

namespace gert {

class Shape {
public:
    static constexpr size_t kMaxDimNum = 25;
    static constexpr int64_t kInvalidDimValue = INT64_MIN;

    Shape() = default;
    size_t GetDimNum() const { return count_; }
    void SetDimNum(size_t count) { count_ = count; }
    int64_t GetDim(size_t axis) const { return axis < count_ ? sizes_[axis] : kInvalidDimValue; }

    Shape &AppendDim(int64_t size)
    {
        if (count_ < kMaxDimNum) {
            sizes_[count_++] = size;
        }
        return *this;
    }

    int64_t GetShapeSize() const
    {
        int64_t elements = 1;
        for (size_t axis = 0; axis < count_; ++axis) {
            elements *= sizes_[axis];
        }
        return elements;
    }

private:
    size_t count_ = 0;
    int64_t sizes_[kMaxDimNum] = {};
};

} // namespace gert
