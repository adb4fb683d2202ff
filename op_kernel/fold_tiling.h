// What the host tells the kernel: the fold on three spatial axes, and how it is cut into tiles.
//
// On every axis a pixel is `t * stride + r` with 0 <= r < stride, the residue. Tap k shifts by
// `k * dilation - pad_begin = q * stride + r`, so it reaches only pixels of residue r, and there window w reaches
// t = w + q: within one residue every fold has stride 1.
#pragma once

#include <cstdint>

namespace col2im {

struct AxisTiling {
    int64_t pixels;
    int64_t windows;
    int64_t stride;
    int64_t residues; // that have pixels: min(stride, pixels)
    int64_t length; // t values of residue 0, which has the most
    int64_t taps;
    int64_t tapBegin; // taps outside tapBegin .. tapEnd reach no pixel
    int64_t tapEnd;
    int64_t firstQ; // shift of tap tapBegin
    int64_t firstR;
    int64_t stepQ; // from tap to tap: dilation = q * stride + r
    int64_t stepR;
};

enum AxisName { kDepth, kHeight, kWidth, kAxes };

struct FoldTiling {
    AxisTiling axes[kAxes];
    int64_t planes; // N * C
    int64_t groups; // of planes, or of depths where there are several; equal give or take one
    int64_t units; // tiles of the whole launch; each core takes a contiguous range
    int64_t columnTiles; // tiles along a row
    uint32_t rows; // per tile, of one residue
    uint32_t columns; // t values per tile
    uint32_t residues; // column residues per tile
    uint32_t pitch; // elements from row to row in UB, for one residue
    uint32_t phase; // elements from residue to residue in UB
    uint32_t stage; // elements of one input buffer
    uint32_t taps; // loaded together
    uint32_t rowPitch; // elements from row to row of the result in UB
    uint32_t rowResidues; // per tile: one or all
    uint32_t lastTaps; // loaded together at the very end of a core's work
    uint32_t turned; // taps, of those loaded together, that are transposed together
    uint32_t sheets; // at most, of a tile
    uint32_t buffers; // for inputs
};

static_assert(sizeof(AxisTiling) == 96, "the host and the device agree on AxisTiling");
static_assert(sizeof(FoldTiling) == 376, "the host and the device agree on FoldTiling");

} // namespace col2im
