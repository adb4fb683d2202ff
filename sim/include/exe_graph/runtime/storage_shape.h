// A tensor's shape as the user gave it, and as it lies in memory; the same for the formats of this project.
#pragma once

#include "exe_graph/runtime/shape.h"

namespace gert {

class StorageShape {
public:
    StorageShape() = default;
    explicit StorageShape(const Shape &shape) : shape_(shape) {}
    const Shape &GetOriginShape() const { return shape_; }
    const Shape &GetStorageShape() const { return shape_; }

private:
    Shape shape_;
};

} // namespace gert
