// How the rules speak: one verdict per call, and the notation that Python and C++ share.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace col2im {

// Sums and products of two 64-bit integers, exact.
__extension__ typedef __int128 Wide;
__extension__ typedef unsigned __int128 WideNatural;

using Ints = std::vector<int64_t>;

// The outcome of the rules: `rule` is empty where every rule holds.
struct Verdict {
    std::string rule;
    std::string sentence;

    bool holds() const { return rule.empty(); }
};

// A non-negative integer of any size, for products that the sentences print exactly.
class Natural {
public:
    explicit Natural(uint64_t value = 0) { assign(value); }

    // `factor` < 2**96.
    void multiply(WideNatural factor)
    {
        WideNatural carry = 0;
        for (uint32_t &digit : digits_) {
            carry += digit * factor;
            digit = static_cast<uint32_t>(carry % kBase);
            carry /= kBase;
        }
        for (; carry != 0; carry /= kBase) {
            digits_.push_back(static_cast<uint32_t>(carry % kBase));
        }
        while (!digits_.empty() && digits_.back() == 0) {
            digits_.pop_back();
        }
    }

    // The value, or the largest uint64_t where it is larger.
    uint64_t saturated() const
    {
        WideNatural value = 0;
        for (auto digit = digits_.rbegin(); digit != digits_.rend(); ++digit) {
            value = value * kBase + *digit;
            if (value > UINT64_MAX) {
                return UINT64_MAX;
            }
        }
        return static_cast<uint64_t>(value);
    }

    std::string text() const
    {
        std::string text;
        for (size_t i = digits_.size(); i-- > 0;) {
            const std::string digit = std::to_string(digits_[i]);
            text += (i + 1 == digits_.size() ? "" : std::string(kBaseDigits - digit.size(), '0')) + digit;
        }
        return text.empty() ? "0" : text;
    }

private:
    static constexpr uint32_t kBase = 1000000000;
    static constexpr size_t kBaseDigits = 9;

    void assign(uint64_t value)
    {
        for (; value != 0; value /= kBase) {
            digits_.push_back(static_cast<uint32_t>(value % kBase));
        }
    }

    std::vector<uint32_t> digits_; // least significant first
};

inline std::string decimal(Wide value)
{
    const bool negative = value < 0;
    std::string text;
    do {
        const int digit = static_cast<int>(value % 10);
        text.insert(text.begin(), static_cast<char>('0' + (digit < 0 ? -digit : digit)));
        value /= 10;
    } while (value != 0);
    return negative ? "-" + text : text;
}

// `values` must be positive.
template <typename Values> Natural productOf(const Values &values)
{
    Natural product(1);
    for (const auto value : values) {
        product.multiply(static_cast<WideNatural>(value));
    }
    return product;
}

inline std::string decimal(const std::string &digits)
{
    return digits;
}

template <typename Values> std::string joined(const Values &values, const char *separator)
{
    std::string text;
    for (const auto &value : values) {
        text += (text.empty() ? "" : separator) + decimal(value);
    }
    return text;
}

constexpr size_t kListed = 16; // entries of a list that a sentence shows; what is longer ends in an ellipsis

// A list as the sentences write it: `(3, 4)`.
template <typename Values> std::string listed(const Values &values)
{
    if (values.size() > kListed) {
        return "(" + joined(Values(values.begin(), values.begin() + kListed), ", ") + ", ...)";
    }
    return "(" + joined(values, ", ") + ")";
}

// A product with its factors: `3 * 4 = 12`, or `12` alone.
template <typename Values> std::string productText(const Values &values)
{
    return values.size() == 1 ? decimal(values[0]) : joined(values, " * ") + " = " + productOf(values).text();
}

} // namespace col2im
