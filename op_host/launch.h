// Tiling of every op: check the rules, plan for the product at hand, and hand the plan to the platform.
#pragma once

#include "exe_graph/runtime/tiling_parse_context.h"
#if __has_include("platform/platform_infos_def.h")
#include "platform/platform_infos_def.h" // CANN 9
#else
#include "experiment/platform/platform/platform_infos_def.h" // CANN 8
#endif
#include "tiling/platform/platform_ascendc.h"

#include "arguments.h"
#include "plan.h"

namespace col2im {

// The vendor's library keeps this much of an Atlas A2's UB for itself; the platform query does not subtract it.
constexpr int64_t kReservedUbA2 = 8 * 1024;

inline bool isA2(platform_ascendc::PlatformAscendC &platform)
{
    return platform.GetSocVersion() != platform_ascendc::SocVersion::ASCEND310B;
}

// The row of the product that the call runs on, or null where there is none.
inline const Target *targetOf(fe::PlatFormInfos &platform)
{
    std::string soc;
    return platform.GetPlatformResWithLock("version", "Short_SoC_version", soc) ? findTargetOfSoc(soc) : nullptr;
}

inline Machine machineOf(platform_ascendc::PlatformAscendC &platform)
{
    uint64_t bytes = 0;
    platform.GetCoreMemSize(platform_ascendc::CoreMemType::UB, bytes);
    return {platform.GetCoreNumAiv(), static_cast<int64_t>(bytes) - (isA2(platform) ? kReservedUbA2 : 0)};
}

inline Tensor tensorOf(const char *name, const gert::CompileTimeTensorDesc &desc, const gert::StorageShape &shape)
{
    return {name, dtypeName(desc.GetDataType()), formatName(desc.GetStorageFormat()),
            sizesOf(shape.GetOriginShape())};
}

inline ge::graphStatus handOver(const Plan &plan, gert::TilingContext &context)
{
    FoldTiling *tiling = context.GetTilingData<FoldTiling>();
    size_t *workspace = context.GetWorkspaceSizes(1);
    if (tiling == nullptr || workspace == nullptr) {
        return ge::GRAPH_FAILED;
    }
    *tiling = plan.tiling;
    workspace[0] = 0;
    context.SetTilingKey(static_cast<uint64_t>(plan.schedule));
    context.SetBlockDim(static_cast<uint32_t>(plan.cores));
    return ge::GRAPH_SUCCESS;
}

template <typename Op> ge::graphStatus tile(gert::TilingContext *context)
{
    const gert::CompileTimeTensorDesc *inputDesc = context->GetInputDesc(0);
    const gert::CompileTimeTensorDesc *outDesc = context->GetOutputDesc(0);
    const gert::StorageShape *inputShape = context->GetInputShape(0);
    const gert::StorageShape *outShape = context->GetOutputShape(0);
    Arguments arguments;
    if (inputDesc == nullptr || outDesc == nullptr || inputShape == nullptr || outShape == nullptr ||
        context->GetPlatformInfo() == nullptr || !Op::read(*context, arguments)) {
        return ge::GRAPH_FAILED;
    }
    const Target *target = targetOf(*context->GetPlatformInfo());
    if (target == nullptr) { // the definition has no configuration for it either
        return ge::GRAPH_FAILED;
    }
    platform_ascendc::PlatformAscendC platform(context->GetPlatformInfo());
    const Tensor input = tensorOf(Op::kInput, *inputDesc, *inputShape);
    const Tensor out = tensorOf("out", *outDesc, *outShape);
    const Call call = {*target, arguments, input, &out};
    Fold fold;
    Ints shape;
    const Verdict verdict = checkOp<Op>(call, fold, shape);
    if (!verdict.holds()) {
        return refuse(Op::kName, verdict);
    }
    const Machine machine = machineOf(platform);
    return handOver(Op::kIm2Col ? planIm2Col(fold, machine) : planCol2Im(fold, machine), *context);
}

// Nothing is worth keeping from one call of an op to the next.
struct CompileInfo {};

inline ge::graphStatus prepareNothing(gert::TilingParseContext *)
{
    return ge::GRAPH_SUCCESS;
}

} // namespace col2im
