// Parameter structs of the instructions: fields, order, defaults and constructors of asc-devkit's
// include/basic_api/kernel_struct_*.h. A field is as narrow as on the device, but remembers what it was given,
// so that a value that does not fit is reported instead of wrapping unseen.
#pragma once

#include <cstdint>
#include <type_traits>

namespace sim {

template <typename T>
class Field {
public:
    constexpr Field() = default;
    template <typename U, typename = std::enable_if_t<std::is_integral_v<U> || std::is_enum_v<U>>>
    constexpr Field(U given) : value_(static_cast<T>(given)), given_(static_cast<int64_t>(given))
    {
    }
    template <typename U>
    constexpr Field(const Field<U>& other) : value_(static_cast<T>(other.given())), given_(other.given())
    {
    }
    constexpr operator T() const { return value_; }
    constexpr int64_t given() const { return given_; }

private:
    T value_ = 0;
    int64_t given_ = 0;
};

using U8 = Field<uint8_t>;
using U16 = Field<uint16_t>;
using U32 = Field<uint32_t>;

} // namespace sim

namespace AscendC {

struct DataCopyParams {
    DataCopyParams() {}
    DataCopyParams(sim::U16 count, sim::U16 len, sim::U16 srcStrideIn, sim::U16 dstStrideIn)
        : blockCount(count), blockLen(len), srcStride(srcStrideIn), dstStride(dstStrideIn)
    {
    }

    sim::U16 blockCount = 1;
    sim::U16 blockLen = 0;
    union {
        sim::U16 srcGap = 0;
        sim::U16 srcStride;
    };
    union {
        sim::U16 dstGap = 0;
        sim::U16 dstStride;
    };
};

struct DataCopyExtParams {
    DataCopyExtParams() {}
    DataCopyExtParams(sim::U16 count, sim::U32 len, sim::U32 srcStrideIn, sim::U32 dstStrideIn, sim::U32 rsvIn)
        : blockCount(count), blockLen(len), srcStride(srcStrideIn), dstStride(dstStrideIn), rsv(rsvIn)
    {
    }

    sim::U16 blockCount = 1;
    sim::U32 blockLen = 0;
    sim::U32 srcStride = 0;
    sim::U32 dstStride = 0;
    sim::U32 rsv = 0;
};

struct DataCopyPadParams {
    DataCopyPadParams() {}
    DataCopyPadParams(bool isPadValue, sim::U8 leftPadValue, sim::U8 rightPadValue, uint64_t padValue)
        : isPad(isPadValue), leftPadding(leftPadValue), rightPadding(rightPadValue), paddingValue(padValue)
    {
    }

    bool isPad = false;
    sim::U8 leftPadding = 0;
    sim::U8 rightPadding = 0;
    uint64_t paddingValue = 0;
};

template <typename T>
struct DataCopyPadExtParams {
    DataCopyPadExtParams() {}
    DataCopyPadExtParams(bool isPadValue, sim::U8 leftPadValue, sim::U8 rightPadValue, T padValue)
        : isPad(isPadValue), leftPadding(leftPadValue), rightPadding(rightPadValue), paddingValue(padValue)
    {
    }

    bool isPad = false;
    sim::U8 leftPadding = 0;
    sim::U8 rightPadding = 0;
    T paddingValue = 0;
};

struct CopyRepeatParams {
    CopyRepeatParams() {}
    CopyRepeatParams(sim::U16 dstStrideIn, sim::U16 srcStrideIn, sim::U16 dstRepeatSizeIn, sim::U16 srcRepeatSizeIn)
        : dstStride(dstStrideIn), srcStride(srcStrideIn), dstRepeatSize(dstRepeatSizeIn), srcRepeatSize(srcRepeatSizeIn)
    {
    }

    sim::U16 dstStride = 0;
    sim::U16 srcStride = 0;
    sim::U16 dstRepeatSize = 8;
    sim::U16 srcRepeatSize = 8;
};

struct UnaryRepeatParams {
    UnaryRepeatParams() {}
    UnaryRepeatParams(sim::U16 dstBlkStrideIn, sim::U16 srcBlkStrideIn, sim::U8 dstRepStrideIn, sim::U8 srcRepStrideIn)
        : dstBlkStride(dstBlkStrideIn), srcBlkStride(srcBlkStrideIn), dstRepStride(dstRepStrideIn),
          srcRepStride(srcRepStrideIn)
    {
    }
    UnaryRepeatParams(sim::U16 dstBlkStrideIn, sim::U16 srcBlkStrideIn, sim::U8 dstRepStrideIn, sim::U8 srcRepStrideIn,
                      bool halfBlockIn)
        : UnaryRepeatParams(dstBlkStrideIn, srcBlkStrideIn, dstRepStrideIn, srcRepStrideIn)
    {
        halfBlock = halfBlockIn;
    }

    uint32_t blockNumber = 8;
    sim::U16 dstBlkStride = 1;
    sim::U16 srcBlkStride = 1;
    sim::U8 dstRepStride = 8;
    sim::U8 srcRepStride = 8;
    bool repeatStrideMode = false;
    bool strideSizeMode = false;
    bool halfBlock = false;
};

struct BinaryRepeatParams {
    BinaryRepeatParams() {}
    BinaryRepeatParams(sim::U8 dstBlkStrideIn, sim::U8 src0BlkStrideIn, sim::U8 src1BlkStrideIn, sim::U8 dstRepStrideIn,
                       sim::U8 src0RepStrideIn, sim::U8 src1RepStrideIn)
        : dstBlkStride(dstBlkStrideIn), src0BlkStride(src0BlkStrideIn), src1BlkStride(src1BlkStrideIn),
          dstRepStride(dstRepStrideIn), src0RepStride(src0RepStrideIn), src1RepStride(src1RepStrideIn)
    {
    }

    uint32_t blockNumber = 8;
    sim::U8 dstBlkStride = 1;
    sim::U8 src0BlkStride = 1;
    sim::U8 src1BlkStride = 1;
    sim::U8 dstRepStride = 8;
    sim::U8 src0RepStride = 8;
    sim::U8 src1RepStride = 8;
    bool repeatStrideMode = false;
    bool strideSizeMode = false;
};

struct GatherMaskParams {
    GatherMaskParams() {}
    GatherMaskParams(sim::U8 src0BlockStrideIn, sim::U16 repeatTimesIn, sim::U16 src0RepeatStrideIn,
                     sim::U8 src1RepeatStrideIn)
        : src0BlockStride(src0BlockStrideIn), repeatTimes(repeatTimesIn), src0RepeatStride(src0RepeatStrideIn),
          src1RepeatStride(src1RepeatStrideIn)
    {
    }

    sim::U8 src0BlockStride = 1;
    sim::U16 repeatTimes = 0;
    sim::U16 src0RepeatStride = 8;
    sim::U8 src1RepeatStride = 8;
};

struct TransDataTo5HDParams {
    constexpr TransDataTo5HDParams() = default;
    constexpr TransDataTo5HDParams(bool dstHighHalfIn, bool srcHighHalfIn, sim::U8 repeatTimesIn,
                                   sim::U16 dstRepStrideIn, sim::U16 srcRepStrideIn)
        : dstHighHalf(dstHighHalfIn), srcHighHalf(srcHighHalfIn), repeatTimes(repeatTimesIn),
          dstRepStride(dstRepStrideIn), srcRepStride(srcRepStrideIn)
    {
    }

    bool dstHighHalf = false;
    bool srcHighHalf = false;
    sim::U8 repeatTimes = 1;
    sim::U16 dstRepStride = 0;
    sim::U16 srcRepStride = 0;
};

} // namespace AscendC
