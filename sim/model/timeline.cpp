#include "timeline.h"

#include <algorithm>
#include <limits>

namespace sim {

namespace {

constexpr double kNever = std::numeric_limits<double>::infinity();

// One step as its pipe sees it. `fence` is how many waits of the scalar unit precede it in program order.
struct Entry {
    uint32_t step;
    uint32_t fence;
};

class Scheduler {
public:
    Scheduler(const CoreTrace& trace, double bytesPerCycle, Assumption assumption)
        : steps_(trace.steps), bytesPerCycle_(bytesPerCycle), assumption_(assumption)
    {
        uint32_t fences = 0, tokens = 0;
        for (uint32_t i = 0; i < steps_.size(); ++i) {
            const Step& step = steps_[i];
            tokens = step.kind == Step::Kind::Signal ? std::max(tokens, step.token + 1) : tokens;
            const bool onScalar = step.kind == Step::Kind::ScalarWait || step.pipe == S || step.pipe == kAllPipes;
            program_[onScalar ? S : step.pipe].push_back({i, fences});
            fences += onScalar;
        }
        signalled_.assign(tokens, kNever);
    }

    CoreTimeline run()
    {
        for (bool moved = true; moved;) {
            moved = false;
            for (const Pipe pipe : {S, V, MTE2, MTE3}) {
                while (!running_[pipe] && next_[pipe] < program_[pipe].size() && start(pipe)) {
                    moved = true;
                }
            }
            if (moved) {
                continue;
            }
            moved = advance();
        }
        return std::move(result_);
    }

private:
    // Whether all that precedes `step` in program order on `pipe` is complete.
    bool drained(Pipe pipe, uint32_t step) const
    {
        return !running_[pipe] && (next_[pipe] == program_[pipe].size() || program_[pipe][next_[pipe]].step > step);
    }

    // Takes the pipe's next step if it can begin now.
    bool start(Pipe pipe)
    {
        const Entry& entry = program_[pipe][next_[pipe]];
        const Step& step = steps_[entry.step];
        if (entry.fence > (pipe == S ? next_[S] : passed_)) {
            return false;
        }
        switch (step.kind) {
        case Step::Kind::Await:
            if (signalled_[step.token] == kNever) {
                return false;
            }
            break;
        case Step::Kind::Signal: signalled_[step.token] = now_; break;
        case Step::Kind::ScalarWait:
            if (!drained(step.pipe, entry.step)) {
                return false;
            }
            break;
        case Step::Kind::Barrier:
            for (const Pipe other : {V, MTE2, MTE3}) {
                if (step.pipe == kAllPipes && !drained(other, entry.step)) {
                    return false;
                }
            }
            break; // of one pipe: in-order here anyway
        case Step::Kind::Work:
            running_[pipe] = true;
            begun_[pipe] = now_;
            cycles_[pipe] = step.cycles;
            bytes_[pipe] = pipe == V ? 0 : step.memory[assumption_];
            return true;
        }
        ++next_[pipe];
        passed_ = next_[S];
        return true;
    }

    double rate(Pipe pipe) const
    {
        const int movers = (running_[MTE2] && bytes_[MTE2] > 0) + (running_[MTE3] && bytes_[MTE3] > 0);
        return bytes_[pipe] > 0 ? bytesPerCycle_ / movers : 0;
    }

    // Lets time pass until the next instruction ends, or a move ends and frees bandwidth.
    bool advance()
    {
        double step = kNever;
        for (const Pipe pipe : {V, MTE2, MTE3}) {
            if (running_[pipe]) {
                const double left = begun_[pipe] + cycles_[pipe] - now_;
                const double moving = bytes_[pipe] > 0 ? bytes_[pipe] / rate(pipe) : 0;
                step = std::min(step, moving > 0 ? moving : std::max(left, 0.0));
            }
        }
        if (step == kNever) {
            return false;
        }
        double rates[kPipes];
        for (const Pipe pipe : {V, MTE2, MTE3}) {
            rates[pipe] = rate(pipe);
        }
        now_ += step;
        for (const Pipe pipe : {V, MTE2, MTE3}) {
            if (!running_[pipe]) {
                continue;
            }
            const double left = bytes_[pipe] - rates[pipe] * step;
            bytes_[pipe] = left < 1e-6 * std::max(1.0, bytes_[pipe]) ? 0 : left;
            if (bytes_[pipe] == 0 && now_ >= begun_[pipe] + cycles_[pipe] - 1e-6) {
                running_[pipe] = false;
                result_.busy[pipe] += now_ - begun_[pipe];
                result_.spans.push_back({program_[pipe][next_[pipe]].step, begun_[pipe], now_});
                result_.cycles = now_;
                ++next_[pipe];
            }
        }
        return true;
    }

    const std::vector<Step>& steps_;
    double bytesPerCycle_;
    Assumption assumption_;
    std::vector<Entry> program_[kPipes];
    size_t next_[kPipes] = {};
    size_t passed_ = 0; // steps of the scalar unit that are over
    bool running_[kPipes] = {};
    double now_ = 0, begun_[kPipes] = {}, cycles_[kPipes] = {}, bytes_[kPipes] = {};
    std::vector<double> signalled_;
    CoreTimeline result_;
};

} // namespace

double coreBytesPerCycle(const Launch& launch)
{
    const Product& p = *launch.product;
    if (p.gmGBytesPerSec == 0) {
        return p.gmBytesPerCycle;
    }
    const double chip = p.gmGBytesPerSec * 1e3 / p.mhz;
    return std::min(p.gmBytesPerCycle, chip / std::min<double>(launch.cores, p.cores));
}

CoreTimeline schedule(const CoreTrace& trace, double bytesPerCycle, Assumption assumption)
{
    return Scheduler(trace, bytesPerCycle, assumption).run();
}

LaunchTimeline schedule(const Launch& launch, Assumption assumption)
{
    const size_t used = std::min<size_t>(launch.cores, launch.product->cores);
    LaunchTimeline all;
    all.cycles.resize(used);
    for (size_t block = 0; block < launch.trace.cores.size(); ++block) {
        const CoreTimeline t = schedule(launch.trace.cores[block], coreBytesPerCycle(launch), assumption);
        all.cycles[block % used] += t.cycles;
        for (int p = 0; p < kPipes; ++p) {
            all.busy[p] += t.busy[p];
        }
    }
    return all;
}

} // namespace sim
