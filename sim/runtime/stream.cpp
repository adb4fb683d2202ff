// The stream thread and the event counters.
#include "stream.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "acl/acl_rt.h"
#include "npu_sim.h"

namespace simrt {
namespace {

thread_local Stream *own = nullptr; // of a stream's thread

struct AllStreams {
    std::mutex mutex;
    std::vector<Stream *> list;
    int next = 0;
};

AllStreams &all()
{
    static auto &instance = *new AllStreams;
    return instance;
}

int enrol(Stream *stream)
{
    const std::lock_guard<std::mutex> lock(all().mutex);
    all().list.push_back(stream);
    return all().next++;
}

} // namespace

Stream::Stream(Context &context)
    : context_(context), id_(enrol(this)), delay_(environmentNumber("ASCEND_SIM_TASK_DELAY_US", 0))
{
}

Stream::~Stream()
{
    {
        const std::lock_guard<std::mutex> lock(all().mutex);
        all().list.erase(std::find(all().list.begin(), all().list.end(), this));
    }
    {
        const std::lock_guard<std::mutex> lock(mutex_);
        closing_ = true;
    }
    changed_.notify_all();
    if (thread_.joinable()) {
        thread_.join();
    }
}

void Stream::submit(Task task)
{
    {
        const std::lock_guard<std::mutex> lock(mutex_);
        queue_.push_back(std::move(task));
        if (!thread_.joinable()) {
            thread_ = std::thread([this] { work(); });
        }
    }
    changed_.notify_all();
}

bool Stream::idle() const
{
    const std::lock_guard<std::mutex> lock(mutex_);
    return queue_.empty() && !running_;
}

int Stream::synchronize(int64_t timeoutMs)
{
    std::unique_lock<std::mutex> lock(mutex_);
    const auto done = [this] { return queue_.empty() && !running_; };
    if (timeoutMs < 0) {
        changed_.wait(lock, done);
    } else if (!changed_.wait_for(lock, std::chrono::milliseconds(timeoutMs), done)) {
        return fail(ACL_ERROR_RT_WAIT_TIMEOUT, "stream %d is not done after %lld ms", id_,
                    static_cast<long long>(timeoutMs));
    }
    const int status = std::exchange(status_, 0);
    return status == 0 ? 0 : fail(status, "%s", message_.c_str());
}

Stream *Stream::current()
{
    return own;
}

void Stream::work()
{
    own = this;
    setCurrentContext(&context_);
    std::unique_lock<std::mutex> lock(mutex_);
    while (true) {
        changed_.wait(lock, [this] { return closing_ || !queue_.empty(); });
        if (queue_.empty()) {
            return;
        }
        Task task = std::move(queue_.front());
        queue_.pop_front();
        running_ = true;
        lock.unlock();
        if (delay_.count() > 0) {
            std::this_thread::sleep_for(delay_);
        }
        const int status = task();
        task = nullptr; // what it holds goes before the stream counts as idle
        lock.lock();
        if (status != 0 && status_ == 0) {
            status_ = status;
            message_ = takeMessage();
        }
        running_ = false;
        changed_.notify_all();
    }
}

uint64_t Event::issue()
{
    const std::lock_guard<std::mutex> lock(mutex_);
    return ++issued_;
}

uint64_t Event::issued() const
{
    const std::lock_guard<std::mutex> lock(mutex_);
    return issued_;
}

bool Event::complete() const
{
    const std::lock_guard<std::mutex> lock(mutex_);
    return issued_ > 0 && reached_ == issued_;
}

void Event::reach(uint64_t recording, double modelledMicroseconds)
{
    {
        const std::lock_guard<std::mutex> lock(mutex_);
        if (recording > reached_) {
            reached_ = recording;
            when_ = modelledMicroseconds;
        }
    }
    changed_.notify_all();
}

void Event::wait(uint64_t recording)
{
    std::unique_lock<std::mutex> lock(mutex_);
    changed_.wait(lock, [&] { return reached_ >= recording; });
}

bool Event::reached(double *modelledMicroseconds) const
{
    const std::lock_guard<std::mutex> lock(mutex_);
    *modelledMicroseconds = when_;
    return reached_ > 0 && reached_ == issued_;
}

int synchronizeDevice(Device &device, int64_t timeoutMs)
{
    // Streams may be destroyed meanwhile only by a caller that breaks the rules of CANN too.
    std::vector<Stream *> streams;
    {
        const std::lock_guard<std::mutex> lock(all().mutex);
        streams = all().list;
    }
    int status = 0;
    for (Stream *stream : streams) {
        if (&stream->context().device == &device) {
            const int one = stream->synchronize(timeoutMs);
            status = status == 0 ? one : status;
        }
    }
    return status;
}

} // namespace simrt

int npuSimTimed(void)
{
    const simrt::Stream *stream = simrt::Stream::current();
    return stream != nullptr && stream->timed() ? 1 : 0;
}

void npuSimSpend(double microseconds)
{
    simrt::Stream *stream = simrt::Stream::current();
    if (stream != nullptr) {
        stream->spend(microseconds);
    }
}
