// libunified_dlog.so: the log of a process, plog.
//
// As in CANN an entry goes to ASCEND_PROCESS_LOG_PATH/debug/plog/plog-<pid>_<time>.log, or to standard output where
// ASCEND_SLOG_PRINT_TO_STDOUT (9.2: ASCEND_LOG_PRINT_TO_STDOUT) is 1, if ASCEND_GLOBAL_LOG_LEVEL (3, errors, unless
// set) lets it. Without a path CANN writes below ~/ascend/log; here nothing is written.
#include "log.h"

#include <sys/stat.h>
#include <sys/time.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <mutex>
#include <string>

namespace {

constexpr const char *kLevels[] = {"DEBUG", "INFO", "WARNING", "ERROR"};

std::string moduleName(uint32_t module)
{
    switch (module) {
    case RUNTIME: return "RUNTIME";
    case ASCENDCL: return "ASCENDCL";
    case OP: return "OP";
    default: return std::to_string(module);
    }
}

std::string environment(const char *name)
{
    const char *value = std::getenv(name);
    return value == nullptr ? "" : value;
}

int lowestLevel()
{
    const std::string level = environment("ASCEND_GLOBAL_LOG_LEVEL");
    return level.empty() ? DLOG_ERROR : std::max(DLOG_DEBUG, std::atoi(level.c_str()));
}

bool toStdout()
{
    const std::string now = environment("ASCEND_LOG_PRINT_TO_STDOUT");
    return (now.empty() ? environment("ASCEND_SLOG_PRINT_TO_STDOUT") : now) == "1";
}

struct Time {
    std::string seconds; // in the format asked for
    std::string milliseconds, microseconds; // of a second and of a millisecond, three digits each
};

Time localTime(const char *format)
{
    timeval now;
    gettimeofday(&now, nullptr);
    tm parts;
    localtime_r(&now.tv_sec, &parts);
    char seconds[32];
    std::strftime(seconds, sizeof seconds, format, &parts);
    const std::string fraction = std::to_string(1000000 + now.tv_usec).substr(1);
    return {seconds, fraction.substr(0, 3), fraction.substr(3)};
}

std::string processName()
{
    char path[4096];
    const ssize_t length = readlink("/proc/self/exe", path, sizeof path);
    const std::string name(path, static_cast<size_t>(std::max<ssize_t>(length, 0)));
    return name.substr(name.find_last_of('/') + 1);
}

// Opens the process's file below `root`, making the directories that are missing; null if that fails.
std::FILE *opened(const std::string &root)
{
    std::string directory;
    for (const std::string &part : {root, std::string("/debug"), std::string("/plog")}) {
        directory += part;
        if (mkdir(directory.c_str(), 0750) != 0 && errno != EEXIST) {
            return nullptr;
        }
    }
    const Time now = localTime("%Y%m%d%H%M%S");
    const std::string file = "/plog-" + std::to_string(getpid()) + "_" + now.seconds + now.milliseconds + ".log";
    return std::fopen((directory + file).c_str(), "a");
}

// Where entries go; null where they go nowhere.
std::FILE *destination()
{
    static const std::string root = environment("ASCEND_PROCESS_LOG_PATH");
    static std::FILE *const file = toStdout() ? stdout : root.empty() ? nullptr : opened(root);
    return file;
}

} // namespace

namespace simlog {

bool record(uint32_t module, int32_t level, const char *format, va_list arguments)
{
    static std::mutex mutex;
    const std::lock_guard<std::mutex> lock(mutex);
    if (format == nullptr || level < lowestLevel() || level > DLOG_ERROR) {
        return false;
    }
    std::FILE *file = destination();
    if (file == nullptr) {
        return false;
    }
    char text[MSG_LENGTH];
    std::vsnprintf(text, sizeof text, format, arguments);
    const Time now = localTime("%Y-%m-%d-%H:%M:%S");
    const std::string head = std::string("[") + kLevels[level] + "] " + moduleName(module) + "(" +
                             std::to_string(getpid()) + "," + processName() + "):" + now.seconds + "." +
                             now.milliseconds + "." + now.microseconds + " ";
    std::fputs(((head + text).substr(0, MSG_LENGTH - 2) + "\n").c_str(), file);
    std::fflush(file);
    return true;
}

} // namespace simlog

extern "C" LOG_FUNC_VISIBILITY void DlogRecord(int32_t module, int32_t level, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    simlog::record(static_cast<uint32_t>(module), level, format, arguments);
    va_end(arguments);
}
