// What every exported function shares: counting its calls, failing on request, and reporting why it failed.
#pragma once

#include <atomic>
#include <cstdint>
#include <mutex>
#include <string>
#include <unordered_set>

#include "acl/acl_base.h"
#include "npu_sim.h"

namespace simrt {

// Sets the calling thread's message, logs it, and returns `status`.
int fail(int status, const char *format, ...) __attribute__((format(printf, 2, 3)));

std::string takeMessage(); // returns and clears the thread's message
std::string environment(const char *name, const char *fallback);
int64_t environmentNumber(const char *name, int64_t fallback);

// Counts one call of `name`; true if ASCEND_SIM_FAIL wants it to fail, then with the status set and the message
// reported.
bool enter(const char *name, int *status);

// Objects of one kind that callers hold by pointer: counted, and checked before use. Never destroyed, so that
// threads still running at exit find them.
class Handles {
public:
    explicit Handles(const char *kind);
    void add(const void *handle);
    bool holds(const void *handle) const;
    bool remove(const void *handle); // false, and counted as misuse, if it is not held
    int64_t count() const;
    const char *kind() const { return kind_; }

private:
    const char *kind_;
    mutable std::mutex mutex_;
    std::unordered_set<const void *> held_;
};

// A quantity that is not a set of handles, such as bytes.
std::atomic<int64_t> &quantity(const char *kind);

} // namespace simrt

// First line of an exported function that returns a status.
#define SIM_ENTER()                                    \
    do {                                               \
        int simStatus = 0;                             \
        if (::simrt::enter(__func__, &simStatus)) {    \
            return simStatus;                          \
        }                                              \
    } while (false)

// First line of an exported function that returns a pointer.
#define SIM_ENTER_POINTER()                            \
    do {                                               \
        int simStatus = 0;                             \
        if (::simrt::enter(__func__, &simStatus)) {    \
            return nullptr;                            \
        }                                              \
    } while (false)

#define SIM_REQUIRE_POINTER(pointer)                                                              \
    do {                                                                                          \
        if ((pointer) == nullptr) {                                                               \
            return ::simrt::fail(ACL_ERROR_INVALID_PARAM, "%s: %s is null", __func__, #pointer);  \
        }                                                                                         \
    } while (false)
