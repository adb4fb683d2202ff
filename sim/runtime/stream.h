// Streams and events. Every stream has a thread of its own, which runs its tasks in order: what callers have not
// synchronised is really unordered.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>

#include "device.h"

namespace simrt {

// Returns 0, or a status after setting the message of the thread it runs on.
using Task = std::function<int()>;

class Stream {
public:
    explicit Stream(Context &context);
    ~Stream(); // finishes what is queued

    Context &context() { return context_; }
    int id() const { return id_; }
    void submit(Task task);
    bool idle() const;

    // Waits until everything submitted so far is done, at most `timeoutMs` (negative: for ever). Returns the first
    // failure of a task since the last call, with its message set on the calling thread.
    int synchronize(int64_t timeoutMs);

private:
    void work();

    Context &context_;
    const int id_;
    const std::chrono::microseconds delay_;
    mutable std::mutex mutex_;
    std::condition_variable changed_;
    std::deque<Task> queue_;
    bool running_ = false, closing_ = false;
    int status_ = 0;
    std::string message_;
    std::thread thread_; // started by the first task
};

// The recordings of one event, numbered from 1. Shared with the tasks that still mention it.
class Event {
public:
    using Clock = std::chrono::steady_clock;

    uint64_t issue();              // a new recording; its number
    uint64_t issued() const;
    bool complete() const;         // recorded, and the last recording has been reached
    void reach(uint64_t recording);
    void wait(uint64_t recording);
    bool reached(Clock::time_point *when) const;

    std::atomic<int64_t> pendingWaits{0};

private:
    mutable std::mutex mutex_;
    std::condition_variable changed_;
    uint64_t issued_ = 0, reached_ = 0;
    Clock::time_point when_;
};

// What an aclrtEvent points at.
struct EventHandle {
    std::shared_ptr<Event> event = std::make_shared<Event>();
};

// The stream a handle stands for in this thread, null being its context's default stream; or null, with a status
// and message, if it is no stream or belongs to another context.
Stream *streamOf(const char *symbol, aclrtStream handle, int *status);

int synchronizeDevice(Device &device, int64_t timeoutMs);

} // namespace simrt
