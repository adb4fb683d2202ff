// A product's platform file, as host code reads it.
#pragma once

#include <cstdint>
#include <string>

namespace fe {

// One product, as the simulated runtime fills it in.
class PlatFormInfos {
public:
    bool isA2;
    uint32_t cubeCores, vectorCores;
    uint64_t ubBytes; // the unified buffer as the query returns it
    std::string shortSoc; // such as Ascend910B

    // Of the platform file only [version] Short_SoC_version.
    bool GetPlatformResWithLock(const std::string &label, const std::string &key, std::string &value)
    {
        if (label != "version" || key != "Short_SoC_version") {
            return false;
        }
        value = shortSoc;
        return true;
    }
};

} // namespace fe
