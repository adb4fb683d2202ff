// Counting, failing on request, reporting. All state is made on first use and never destroyed.
#include "core.h"

#include <algorithm>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <utility>
#include <vector>

#include "base/alog_pub.h"

namespace simrt {
namespace {

thread_local std::string message;

struct Fault {
    std::string name;
    int64_t call; // 0: every call
    int status;
    std::string message;
};

// ASCEND_SIM_FAIL, parsed when it changes.
struct Faults {
    std::mutex mutex;
    std::string specification;
    std::vector<Fault> rows;
    std::map<std::string, int64_t> calls; // since the specification changed
};

struct Books {
    std::mutex mutex;
    std::map<std::string, int64_t> calls;
    std::map<std::string, std::atomic<int64_t>> quantities;
    std::vector<const Handles *> handles;
};

Faults &faults()
{
    static auto &instance = *new Faults;
    return instance;
}

Books &books()
{
    static auto &instance = *new Books;
    return instance;
}

std::string formatted(const char *format, va_list arguments)
{
    va_list again;
    va_copy(again, arguments);
    std::string text(static_cast<size_t>(std::vsnprintf(nullptr, 0, format, again)), '\0');
    va_end(again);
    std::vsnprintf(text.data(), text.size() + 1, format, arguments);
    return text;
}

// `name@n=status:message`; a row that does not read so stops the process, as a test with a misspelt fault proves
// nothing.
Fault parseFault(const std::string &row)
{
    const size_t at = row.find('@'), equals = row.find('=', at), colon = row.find(':', equals);
    if (at == std::string::npos || equals == std::string::npos || colon == std::string::npos) {
        std::fprintf(stderr, "ASCEND_SIM_FAIL: '%s' is not name@n=status:message\n", row.c_str());
        std::abort();
    }
    const std::string call = row.substr(at + 1, equals - at - 1);
    return {row.substr(0, at), call == "*" ? 0 : std::stoll(call), std::stoi(row.substr(equals + 1)),
            row.substr(colon + 1)};
}

void readFaults(Faults &all, const char *specification)
{
    all.specification = specification;
    all.rows.clear();
    all.calls.clear();
    size_t begin = 0;
    while (begin < all.specification.size()) {
        const size_t end = std::min(all.specification.find(';', begin), all.specification.size());
        if (end > begin) {
            all.rows.push_back(parseFault(all.specification.substr(begin, end - begin)));
        }
        begin = end + 1;
    }
}

} // namespace

int fail(int status, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    message = formatted(format, arguments);
    va_end(arguments);
    AlogRecord(ASCENDCL, DLOG_TYPE_DEBUG, DLOG_ERROR, "%s", message.c_str());
    return status;
}

std::string takeMessage()
{
    return std::exchange(message, {});
}

std::string environment(const char *name, const char *fallback)
{
    const char *value = std::getenv(name);
    return value != nullptr && *value != '\0' ? value : fallback;
}

int64_t environmentNumber(const char *name, int64_t fallback)
{
    const std::string text = environment(name, "");
    return text.empty() ? fallback : std::strtoll(text.c_str(), nullptr, 10);
}

bool enter(const char *name, int *status)
{
    {
        const std::lock_guard<std::mutex> lock(books().mutex);
        ++books().calls[name];
    }
    const char *wanted = std::getenv("ASCEND_SIM_FAIL");
    Faults &all = faults();
    const std::lock_guard<std::mutex> lock(all.mutex);
    if (all.specification != (wanted == nullptr ? "" : wanted)) {
        readFaults(all, wanted == nullptr ? "" : wanted);
    }
    if (all.rows.empty()) {
        return false;
    }
    const int64_t call = ++all.calls[name];
    for (const Fault &fault : all.rows) {
        if (fault.name == name && (fault.call == 0 || fault.call == call)) {
            *status = fail(fault.status, "%s", fault.message.c_str());
            return true;
        }
    }
    return false;
}

Handles::Handles(const char *kind) : kind_(kind)
{
    const std::lock_guard<std::mutex> lock(books().mutex);
    books().handles.push_back(this);
}

void Handles::add(const void *handle)
{
    const std::lock_guard<std::mutex> lock(mutex_);
    held_.insert(handle);
}

bool Handles::holds(const void *handle) const
{
    const std::lock_guard<std::mutex> lock(mutex_);
    return held_.count(handle) != 0;
}

bool Handles::remove(const void *handle)
{
    {
        const std::lock_guard<std::mutex> lock(mutex_);
        if (held_.erase(handle) != 0) {
            return true;
        }
    }
    ++quantity("misuse");
    return false;
}

int64_t Handles::count() const
{
    const std::lock_guard<std::mutex> lock(mutex_);
    return static_cast<int64_t>(held_.size());
}

std::atomic<int64_t> &quantity(const char *kind)
{
    const std::lock_guard<std::mutex> lock(books().mutex);
    return books().quantities[kind];
}

} // namespace simrt

namespace {

using simrt::books;

std::map<std::string, int64_t> live()
{
    std::map<std::string, int64_t> counts;
    const std::lock_guard<std::mutex> lock(books().mutex);
    for (const auto &[kind, count] : books().quantities) {
        counts[kind] = count;
    }
    for (const simrt::Handles *handles : books().handles) {
        counts[handles->kind()] = handles->count();
    }
    return counts;
}

const char *lines(const std::map<std::string, int64_t> &counts)
{
    thread_local std::string text;
    text.clear();
    for (const auto &[name, count] : counts) {
        if (count != 0) {
            text += name + " " + std::to_string(count) + "\n";
        }
    }
    return text.c_str();
}

__attribute__((destructor)) void reportLeaks()
{
    const std::string path = simrt::environment("ASCEND_SIM_LEAK_REPORT", "");
    if (path.empty()) {
        return;
    }
    std::FILE *file = path == "stderr" ? stderr : std::fopen(path.c_str(), "w");
    if (file == nullptr) {
        std::perror(path.c_str());
        return;
    }
    std::fputs(lines(live()), file);
    if (file != stderr) {
        std::fclose(file);
    }
}

} // namespace

int64_t npuSimLive(const char *kind)
{
    const auto counts = live();
    const auto row = counts.find(kind);
    return row == counts.end() ? -1 : row->second;
}

const char *npuSimLiveReport(void)
{
    return lines(live());
}

const char *npuSimCallReport(void)
{
    std::map<std::string, int64_t> calls;
    {
        const std::lock_guard<std::mutex> lock(books().mutex);
        calls = books().calls;
    }
    return lines(calls);
}

void npuSimReport(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    simrt::message = simrt::formatted(format, arguments);
    va_end(arguments);
}
