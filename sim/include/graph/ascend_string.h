// The string that CANN passes between libraries of different standard-library ABIs.
#pragma once

#include <string>

namespace ge {

class AscendString {
public:
    AscendString() = default;
    AscendString(const char *text) : text_(text == nullptr ? "" : text) {}
    const char *GetString() const { return text_.c_str(); }
    size_t GetLength() const { return text_.size(); }

private:
    std::string text_;
};

} // namespace ge
