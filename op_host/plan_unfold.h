// Tiles of Im2ColNd, op_kernel/unfold.h.
#pragma once

#include "schedule.h"

namespace col2im {

// Plan Im2ColNd, which has one schedule.
inline Plan planIm2Col(const Fold &fold, const Machine &machine)
{
    FoldTiling tiling = foldTiling(fold);
    const AxisTiling &height = tiling.axes[kHeight];
    const AxisTiling &width = tiling.axes[kWidth];
    const int64_t size = fold.itemsize;
    const int64_t perBlock = kBlock / size;
    // Two inputs and one tile of pixels, and two outputs, for each lane and window.
    const Wide bytesPerWindow = Wide(size) * kLanes * (3 * Wide(width.stride) + 2);
    const int64_t most = static_cast<int64_t>((machine.ubBytes - kLanes * 4 * kSlack) / bytesPerWindow);
    int64_t columns = std::min(most / kLanes * kLanes, roundUp(width.windows, kLanes));
    columns = columns == 0 ? 1 : std::min(columns, width.windows);
    const int64_t pixels = columns == 1 ? 1 : roundUp(columns, kLanes) * width.stride;
    const bool farRows = !fitsGap(Wide(height.stride) * width.pixels * size) ||
                         !fitsGap(Wide(width.windows) * size);
    tiling.columns = static_cast<uint32_t>(columns);
    tiling.columnTiles = tilesOf(width.windows, columns);
    tiling.rows = static_cast<uint32_t>(farRows ? 1 : std::min(kLanes, height.windows));
    tiling.pitch = static_cast<uint32_t>(roundUp(columns, kLanes));
    tiling.stage = static_cast<uint32_t>(roundUp(pixels, perBlock));
    tiling.phase = static_cast<uint32_t>(roundUp(pixels, kLanes) + perBlock);
    tiling.units = tiling.planes * tiling.axes[kDepth].taps * height.taps * tiling.axes[kDepth].windows *
                   tilesOf(height.windows, tiling.rows) * tiling.columnTiles;
    const int64_t cores = std::min({machine.cores, tiling.units, worthwhileCores(tiling, size)});
    return {tiling, kUnfold, cores, 0};
}

} // namespace col2im
