// A tensor whose values the host knows, or only its shape.
#pragma once

#include "exe_graph/runtime/storage_shape.h"

namespace gert {

class Tensor {
public:
    Tensor() = default;
    Tensor(const StorageShape &shape, const void *data) : shape_(shape), data_(data) {}
    const StorageShape &GetShape() const { return shape_; }
    const Shape &GetOriginShape() const { return shape_.GetOriginShape(); }
    int64_t GetShapeSize() const { return shape_.GetStorageShape().GetShapeSize(); }
    template <typename T> const T *GetData() const { return static_cast<const T *>(data_); }

private:
    StorageShape shape_;
    const void *data_ = nullptr; // null: not known to the host
};

} // namespace gert
