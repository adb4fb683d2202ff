// The attributes of one call, in the order of the op's definition.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace gert {

template <typename T> class TypedContinuousVector {
public:
    TypedContinuousVector() = default;
    explicit TypedContinuousVector(const std::vector<T> &values) : values_(values) {}
    size_t GetSize() const { return values_.size(); }
    const T *GetData() const { return values_.data(); }

private:
    std::vector<T> values_;
};

class RuntimeAttrs {
public:
    // What the simulated runtime fills in: an int is a list of one.
    explicit RuntimeAttrs(const std::vector<std::vector<int64_t>> &values)
    {
        for (const std::vector<int64_t> &value : values) {
            lists_.emplace_back(value);
        }
    }

    size_t GetAttrNum() const { return lists_.size(); }
    const TypedContinuousVector<int64_t> *GetListInt(size_t index) const
    {
        return index < lists_.size() ? &lists_[index] : nullptr;
    }
    const int64_t *GetInt(size_t index) const
    {
        return index < lists_.size() && lists_[index].GetSize() == 1 ? lists_[index].GetData() : nullptr;
    }

private:
    std::vector<TypedContinuousVector<int64_t>> lists_;
};

} // namespace gert
