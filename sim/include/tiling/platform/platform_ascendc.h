// What host code may ask about the product that a call runs on.
#pragma once

#include <cstdint>

#include "platform/platform_infos_def.h"

namespace platform_ascendc {

enum class SocVersion { ASCEND910B = 1, ASCEND310B = 5, RESERVED_VERSION = 99999 };
enum class CoreMemType { L0_A, L0_B, L0_C, L1, L2, UB, HBM, RESERVED };

class PlatformAscendC {
public:
    explicit PlatformAscendC(fe::PlatFormInfos *infos) : infos_(infos) {}
    uint32_t GetCoreNum() const { return infos_->vectorCores; }
    uint32_t GetCoreNumAiv() const { return infos_->vectorCores; }
    uint32_t GetCoreNumAic() const { return infos_->cubeCores; }
    SocVersion GetSocVersion() const { return infos_->isA2 ? SocVersion::ASCEND910B : SocVersion::ASCEND310B; }
    uint32_t GetLibApiWorkSpaceSize() const { return (infos_->isA2 ? 16U : 2U) << 20; }

    // 0 for the memories that no vector kernel of this project uses.
    void GetCoreMemSize(const CoreMemType &memory, uint64_t &bytes) const
    {
        bytes = memory == CoreMemType::UB ? infos_->ubBytes : 0;
    }

private:
    fe::PlatFormInfos *infos_;
};

} // namespace platform_ascendc
