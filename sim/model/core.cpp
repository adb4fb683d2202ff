// A core's life, its violations, its buffers and the definedness of its UB.
#include "core.h"

#include <algorithm>
#include <cstring>

#include "vector_instr.h"

namespace sim {

namespace {
constexpr size_t kViolationsKept = 64;
constexpr uint32_t kAll = 0xffffffffu;

uint32_t bitsOf(uint32_t from, uint32_t to)
{
    return (to - from == kBlock ? kAll : ((1u << (to - from)) - 1)) << from;
}
} // namespace

Core& core()
{
    static thread_local Core current;
    return current;
}

std::string hex(uint64_t value)
{
    std::ostringstream text;
    text << "0x" << std::hex << value;
    return text.str();
}

const char* dtypeName(Dtype dtype)
{
    switch (dtype) {
    case kI8: return "int8";
    case kU8: return "uint8";
    case kI16: return "int16";
    case kU16: return "uint16";
    case kF16: return "half";
    case kBF16: return "bfloat16";
    case kI32: return "int32";
    case kU32: return "uint32";
    case kF32: return "float";
    case kI64: return "int64";
    case kU64: return "uint64";
    case kF64: return "double";
    }
    return "?";
}

const char* positionName(AscendC::TPosition position)
{
    switch (position) {
    case AscendC::TPosition::VECIN: return "VECIN";
    case AscendC::TPosition::VECOUT: return "VECOUT";
    case AscendC::TPosition::VECCALC: return "VECCALC";
    case AscendC::TPosition::GM: return "GM";
    default: return "non-vector position";
    }
}

void Core::start(const Product& product, GlobalMemory& gm, Trace& trace, uint32_t index, uint32_t count, bool checking)
{
    product_ = &product;
    gm_ = &gm;
    trace_ = &trace;
    index_ = index;
    count_ = count;
    checking_ = checking;
    if (ub_.size() != product.ubBytes) {
        const uint32_t blocks = product.ubBytes / kBlock;
        ub_.resize(product.ubBytes);
        definedBits_.assign(blocks, 0);
        origin_.assign(blocks, 0);
        owner_.assign(blocks, UbView::kNoBuffer);
        for (int p = 0; p < kPipes; ++p) {
            writer_[p].assign(blocks, 0);
            reader_[p].assign(blocks, 0);
        }
    }
    allocated_ = 0;
    buffers_.clear();
    // Numbers go on across cores and launches, so old stamps are simply in the past; start over long before a wrap.
    if (now_ > 0x70000000u) {
        now_ = 0;
        for (int p = 0; p < kPipes; ++p) {
            std::fill(writer_[p].begin(), writer_[p].end(), 0);
            std::fill(reader_[p].begin(), reader_[p].end(), 0);
        }
    }
    base_ = now_ + 1;
    for (int p = 0; p < kPipes; ++p) {
        last_[p] = now_;
        std::fill_n(known_[p], size_t(kPipes), now_);
    }
    issued_.clear();
    signals_.clear();
    gmWrites_.clear();
    std::memset(static_cast<void*>(flags_), 0, sizeof flags_);
    std::memset(eventsInUse_, 0, sizeof eventsInUse_);
    std::memset(queueEvents_, 0, sizeof queueEvents_);
    mask = {};
    padValue = 0;
    padValueSet = false;
    atomic = 0;
    pipe = nullptr;
    lastConflict_ = 0;
}

void Core::finish()
{
    if (!checking_) {
        return;
    }
    for (size_t event = 0; event < std::size(flags_); ++event) {
        for (int id = 0; id < 8; ++id) {
            if (flags_[event][id].set) {
                fail(Api::SetFlag, cat("flag ", eventName(static_cast<AscendC::HardEvent>(event)), " id ", id,
                                       " is still set at the end of the kernel: every SetFlag needs its WaitFlag"));
            }
        }
    }
    if (atomic != 0) {
        fail(Api::SetAtomic, "atomic accumulation is still on at the end of the kernel: call SetAtomicNone");
    }
}

void Core::fail(Api api, const std::string& text)
{
    if (++trace_->violationCount <= kViolationsKept) {
        trace_->violations.push_back({index_, static_cast<uint32_t>(issued_.size()), api, text});
    }
}

bool Core::supports(Api api, Dtype dtype)
{
    const ApiRow& r = row(api);
    const uint16_t dtypes = product_->arch == 2201 ? r.dtypes2201 : r.dtypes3002;
    if (dtypes & dtype) {
        return true;
    }
    fail(api, dtypes == 0 ? cat("not supported on ", product_->name)
                          : cat(dtypeName(dtype), " is not supported on ", product_->name));
    return false;
}

bool Core::inRange(Api api, const char* field, int64_t given, int64_t low, int64_t high)
{
    if (given >= low && given <= high) {
        return true;
    }
    fail(api, cat(field, "=", given, ", must be ", low, "..", high));
    return false;
}

bool Core::inRange(Api api, std::initializer_list<Range> fields)
{
    bool good = true;
    for (const Range& f : fields) {
        good = inRange(api, f.field, f.given, f.low, f.high) && good;
    }
    return good;
}

uint16_t Core::allocate(uint32_t bytes, AscendC::TPosition position, uint16_t indexInQueue)
{
    const uint32_t rounded = (bytes + kBlock - 1) / kBlock * kBlock;
    if (bytes == 0) {
        fail(Api::TPipe, "InitBuffer: length=0, must be at least 1 byte");
    }
    if (rounded > product_->ubBytes - allocated_) {
        fail(Api::TPipe, cat("InitBuffer: ", rounded, " bytes for ", positionName(position), " after ", allocated_,
                             " already given out, but ", product_->name, " has ", product_->ubBytes, " bytes of UB"));
        throw Hang();
    }
    if (buffers_.size() == AscendC::QBUF_MAX_LEN) {
        fail(Api::TPipe, cat("InitBuffer: more than ", AscendC::QBUF_MAX_LEN, " buffers in one TPipe"));
    }
    const auto id = static_cast<uint16_t>(buffers_.size());
    buffers_.push_back({allocated_, allocated_ + rounded, position, Buffer::State::Free, 0, indexInQueue});
    std::fill(owner_.begin() + allocated_ / kBlock, owner_.begin() + (allocated_ + rounded) / kBlock, id);
    if (checking_) {
        std::memset(ub_.data() + allocated_, 0xff, rounded); // NaN in every float type
    }
    undefine(allocated_, allocated_ + rounded, 0);
    allocated_ += rounded;
    return id;
}

void Core::release(Buffer& freed)
{
    freed.state = Buffer::State::Free;
    ++freed.generation;
    undefine(freed.begin, freed.end, 0);
}

void Core::undefine(uint32_t begin, uint32_t end, uint32_t origin)
{
    if (!checking_) {
        return;
    }
    if (begin % kBlock == 0 && end % kBlock == 0) {
        std::fill(definedBits_.begin() + begin / kBlock, definedBits_.begin() + end / kBlock, 0);
        std::fill(origin_.begin() + begin / kBlock, origin_.begin() + end / kBlock, origin);
        return;
    }
    for (uint32_t at = begin; at < end;) {
        const uint32_t block = at / kBlock, to = std::min(end, (block + 1) * kBlock);
        definedBits_[block] &= ~bitsOf(at % kBlock, at % kBlock + (to - at));
        origin_[block] = origin;
        at = to;
    }
}

UbView Core::viewOfAddress(uint64_t address) const
{
    UbView view;
    view.begin = static_cast<uint32_t>(std::min<uint64_t>(address, product_->ubBytes));
    view.end = product_->ubBytes;
    if (address < allocated_) {
        view.buffer = owner_[address / kBlock];
        view.end = buffers_[view.buffer].end;
        view.generation = buffers_[view.buffer].generation;
        view.position = buffers_[view.buffer].position;
    }
    return view;
}

std::string Core::describe(uint32_t begin, uint32_t end) const
{
    std::string text = cat("UB bytes [", begin, ", ", end, ")");
    if (begin < allocated_) {
        const Buffer& b = buffers_[owner_[begin / kBlock]];
        text += cat(" (", positionName(b.position), " buffer ", b.index, " at [", b.begin, ", ", b.end, "))");
    }
    return text;
}

// Whether an operand may touch UB bytes [begin, end): inside its tensor, and its buffer still the kernel's.
bool Core::usable(Api api, const char* operand, const UbView& view, uint64_t begin, uint64_t end)
{
    if (end > view.end || begin < view.begin) {
        fail(api, cat(operand, " touches UB bytes [", begin, ", ", end, ") but the tensor is ",
                      describe(view.begin, view.end), end > product_->ubBytes ? " and UB ends there" : ""));
        return end <= product_->ubBytes;
    }
    if (!checking_ || view.buffer == UbView::kNoBuffer) {
        return true;
    }
    const Buffer& b = buffers_[view.buffer];
    if (view.generation != b.generation || b.state == Buffer::State::Free) {
        fail(api, cat(operand, " is ", describe(view.begin, view.end), ", which was freed: use it before FreeTensor"));
    } else if (b.state == Buffer::State::Queued) {
        fail(api,
             cat(operand, " is ", describe(view.begin, view.end), ", which is in its queue: DeQue it before using it"));
    }
    return true;
}

bool Core::defined(uint32_t begin, uint32_t bytes) const
{
    if (begin % kBlock == 0 && bytes % kBlock == 0) {
        uint32_t all = kAll;
        for (uint32_t block = begin / kBlock, end = block + bytes / kBlock; block < end; ++block) {
            all &= definedBits_[block];
        }
        return all == kAll;
    }
    for (uint32_t at = begin, end = begin + bytes; at < end;) {
        const uint32_t block = at / kBlock, to = std::min(end, (block + 1) * kBlock);
        const uint32_t wanted = bitsOf(at % kBlock, at % kBlock + (to - at));
        if ((definedBits_[block] & wanted) != wanted) {
            return false;
        }
        at = to;
    }
    return true;
}

void Core::define(uint32_t begin, uint32_t bytes)
{
    if (begin % kBlock == 0 && bytes % kBlock == 0) {
        std::fill_n(definedBits_.begin() + begin / kBlock, bytes / kBlock, kAll);
        return;
    }
    for (uint32_t at = begin, end = begin + bytes; at < end;) {
        const uint32_t block = at / kBlock, to = std::min(end, (block + 1) * kBlock);
        definedBits_[block] |= bitsOf(at % kBlock, at % kBlock + (to - at));
        at = to;
    }
}

void Core::copyDefinedness(uint32_t to, uint32_t from, uint32_t bytes)
{
    if (defined(from, bytes)) {
        define(to, bytes);
        return;
    }
    for (uint32_t i = 0; i < bytes; ++i) {
        if (defined(from + i, 1)) {
            define(to + i, 1);
        } else {
            undefine(to + i, to + i + 1, origin_[(from + i) / kBlock]);
        }
    }
}

// Undefined bytes may travel through UB (unused lanes do); here they would reach a result.
void Core::requireDefined(Api api, const char* operand, uint32_t begin, uint32_t bytes, const char* use)
{
    if (!checking_ || defined(begin, bytes)) {
        return;
    }
    uint32_t first = begin;
    while (defined(first, 1)) {
        ++first;
    }
    const uint32_t origin = origin_[first / kBlock];
    fail(api,
         cat(operand, " ", use, " ", describe(begin, begin + bytes), " whose byte ", first - begin, " is undefined: ",
             origin < base_ ? std::string("nothing wrote it since the buffer was allocated")
                            : cat("left undefined by instruction ", ordinal(origin), ", ", row(apiOf(origin)).name)));
    define(begin, bytes); // one report for one mistake
}

} // namespace sim
