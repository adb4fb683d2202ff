// What each product accepts: the device rows of `TARGETS` in ascend_col2im/facts.py.
#pragma once

#include <cctype>
#include <cstddef>
#include <cstring>
#include <string>

namespace col2im {

struct Target {
    const char *name; // CANN's build name
    const char *dtypes; // accepted dtypes, sorted
    size_t maxAxes;
};

struct Dtype {
    const char *name;
    unsigned itemsize; // bytes
};

inline const Target *findTarget(const char *name)
{
    static const Target targets[] = {
        {"ascend910b", "bfloat16, float16, float32", 3},
        {"ascend910_93", "bfloat16, float16, float32", 3},
        {"ascend310b", "float16, float32", 3},
    };
    for (const Target &target : targets) {
        if (std::strcmp(target.name, name) == 0) {
            return &target;
        }
    }
    return nullptr;
}

// By the name of the platform files, such as Ascend910B.
inline const Target *findTargetOfSoc(std::string soc)
{
    for (char &c : soc) {
        c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    }
    return findTarget(soc.c_str());
}

// What holds on every product, for where it is not known.
inline const Target &everyTarget()
{
    static const Target target = {"every product", "float16, float32", 3};
    return target;
}

// Bytes of one element of a dtype that some target accepts; 0 for any other.
inline unsigned itemsizeOf(const char *dtype)
{
    static const Dtype dtypes[] = {{"float32", 4}, {"float16", 2}, {"bfloat16", 2}};
    for (const Dtype &known : dtypes) {
        if (std::strcmp(known.name, dtype) == 0) {
            return known.itemsize;
        }
    }
    return 0;
}

} // namespace col2im
