// Streams and events. Every stream has a thread of its own, which runs its tasks in order: what callers have not
// synchronised is really unordered.
#pragma once

#include <atomic>
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

    // The modelled microseconds that its kernels took so far, for the tasks that it runs; and whether to model them.
    static Stream *current(); // of the calling task, or null
    double modelled() const { return modelled_; }
    void spend(double microseconds) { modelled_ += microseconds; }
    bool timed() const { return timed_; }
    void startTiming() { timed_ = true; }

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
    std::atomic<bool> timed_{false};
    double modelled_ = 0; // of the stream's thread alone
    int status_ = 0;
    std::string message_;
    std::thread thread_; // started by the first task
};

// The recordings of one event, numbered from 1. Shared with the tasks that still mention it.
class Event {
public:
    explicit Event(bool timed) : timed(timed) {}

    const bool timed; // keeps when it was reached
    uint64_t issue();              // a new recording; its number
    uint64_t issued() const;
    bool complete() const;         // recorded, and the last recording has been reached
    void reach(uint64_t recording, double modelledMicroseconds);
    void wait(uint64_t recording);
    bool reached(double *modelledMicroseconds) const;

    std::atomic<int64_t> pendingWaits{0};

private:
    mutable std::mutex mutex_;
    std::condition_variable changed_;
    uint64_t issued_ = 0, reached_ = 0;
    double when_ = 0;
};

// What an aclrtEvent points at.
struct EventHandle {
    explicit EventHandle(bool timed) : event(std::make_shared<Event>(timed)) {}

    std::shared_ptr<Event> event;
};

// The stream a handle stands for in this thread, null being its context's default stream; or null, with a status
// and message, if it is no stream or belongs to another context.
Stream *streamOf(const char *symbol, aclrtStream handle, int *status);

int synchronizeDevice(Device &device, int64_t timeoutMs);

} // namespace simrt
