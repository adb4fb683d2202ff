// A tile of the schedules whose tiles are rows: which pixels it holds, and how they are stored.
#pragma once

#include "axis.h"
#include "transfer.h"

namespace col2im {

// Some image rows of one row residue, or of all; of each row some t, and some column residues. They are those of one
// sheet, which is one plane at one depth, or those of several: of neighbouring planes of one depth, or of depths of one
// plane.
class RowTile {
public:
    __aicore__ inline explicit RowTile(const FoldTiling &tiling)
        : tiling_(tiling), width_(tiling.axes[kWidth]), height_(tiling.axes[kHeight]), depth_(tiling.axes[kDepth])
    {}

    // Set the tile of one unit. From the fastest: column tile, column residues, row residue, rows, sheets. A core
    // that has several row residues has some with few taps and some with many.
    __aicore__ inline void locate(int64_t unit)
    {
        const int64_t column = unit % tiling_.columnTiles * tiling_.columns;
        unit /= tiling_.columnTiles;
        columns = intersect({column, column + tiling_.columns}, {0, width_.length});
        const int64_t residueTiles = (width_.residues + tiling_.residues - 1) / tiling_.residues;
        firstResidue = unit % residueTiles * tiling_.residues;
        unit /= residueTiles;
        const int64_t rowResidues = tiling_.rowResidues > 1 ? 1 : height_.residues;
        rowResidue = unit % rowResidues;
        unit /= rowResidues;
        const int64_t rowTiles = (height_.length + tiling_.rows - 1) / tiling_.rows;
        const int64_t row = unit % rowTiles * tiling_.rows;
        unit /= rowTiles;
        // Pixels of residue r: as many t as t * stride + r < pixels allows.
        const int64_t last = (height_.pixels - rowResidue + height_.stride - 1) / height_.stride;
        rows = intersect({row, row + tiling_.rows}, {0, last});
        const bool planes = depth_.pixels == 1;
        const Range stack = part(planes ? tiling_.planes : depth_.pixels, tiling_.groups, unit % tiling_.groups);
        sheets = stack.size();
        plane = planes ? stack.begin : unit / tiling_.groups;
        z = planes ? 0 : stack.begin;
    }

    // Store the result, whose rows are rowPitch apart in UB; in a row, pixel r of every t, `residues` apart.
    template <typename M>
    __aicore__ inline void store(const AscendC::GlobalTensor<M> &image, const AscendC::LocalTensor<M> &result) const
    {
        const int64_t sheet = height_.pixels * width_.pixels;
        const int64_t first = (plane * depth_.pixels + z) * sheet;
        const int64_t row = first + (rows.begin * height_.stride + rowResidue) * width_.pixels;
        const bool whole = columns.size() * width_.stride == width_.pixels && tiling_.residues == width_.stride;
        if (whole && tiling_.rowPitch == width_.pixels && tiling_.rowResidues == height_.stride) {
            // Rows follow each other on both sides, and so do sheets.
            storeRuns(image[row], result, 1, sheets * rows.size() * height_.stride * width_.pixels, 0, 0);
            return;
        }
        for (int64_t i = 0; i < sheets; ++i) {
            storeSheet(image, row + i * sheet, result[static_cast<uint32_t>(i * rows.size() * tiling_.rowPitch)]);
        }
    }

    Range columns{0, 0}; // t values
    Range rows{0, 0}; // t values
    int64_t firstResidue = 0; // of the columns
    int64_t rowResidue = 0;
    int64_t z = 0; // of the first sheet
    int64_t plane = 0; // of the first sheet
    int64_t sheets = 1;

private:
    // Store the rows of one sheet, the first at `row`.
    template <typename M>
    __aicore__ inline void storeSheet(const AscendC::GlobalTensor<M> &image, int64_t row,
                                      const AscendC::LocalTensor<M> &result) const
    {
        const int64_t pitch = tiling_.rowPitch;
        const int64_t imagePitch = height_.stride * width_.pixels;
        if (tiling_.residues != width_.stride) {
            for (int64_t i = 0; i < rows.size(); ++i) {
                storeResidues(image, row + i * imagePitch, result[static_cast<uint32_t>(i * pitch)]);
            }
            return;
        }
        const int64_t begin = columns.begin * width_.stride;
        const int64_t all = width_.pixels - begin;
        const int64_t length = columns.size() * width_.stride < all ? columns.size() * width_.stride : all;
        storeRuns(image[row + begin], result, rows.size(), length, pitch, imagePitch);
    }

    // Store one row of a tile that holds some of the column residues: a run for every t.
    template <typename M>
    __aicore__ inline void storeResidues(const AscendC::GlobalTensor<M> &image, int64_t row,
                                         const AscendC::LocalTensor<M> &result) const
    {
        const int64_t left = width_.stride - firstResidue;
        const int64_t run = tiling_.residues < left ? tiling_.residues : left;
        const int64_t begin = row + columns.begin * width_.stride + firstResidue;
        // The last t may have fewer pixels than `run`, or none.
        const int64_t last = columns.end - 1;
        const int64_t cut = width_.pixels - last * width_.stride - firstResidue;
        const int64_t whole = cut < run ? columns.size() - 1 : columns.size();
        if (whole > 0) {
            storeRuns(image[begin], result, whole, run, tiling_.residues, width_.stride);
        }
        if (cut > 0 && cut < run) {
            storeRuns(image[begin + whole * width_.stride], result[static_cast<uint32_t>(whole * tiling_.residues)],
                      1, cut, 0, 0);
        }
    }

    const FoldTiling &tiling_;
    const AxisTiling &width_;
    const AxisTiling &height_;
    const AxisTiling &depth_;
};

} // namespace col2im
