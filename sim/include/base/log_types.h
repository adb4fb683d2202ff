// Levels, kinds and modules of the platform's log; of the modules those that this project meets.
#pragma once

#define LOG_FUNC_VISIBILITY __attribute__((visibility("default")))

#define DLOG_DEBUG 0x0
#define DLOG_INFO 0x1
#define DLOG_WARN 0x2
#define DLOG_ERROR 0x3

enum { DLOG_TYPE_DEBUG = 0, DLOG_TYPE_RUN = 1, DLOG_TYPE_MAX };

#define MSG_LENGTH 1024 // bytes of an entry; what is longer is cut

enum { RUNTIME = 7, ASCENDCL = 48, OP = 63 };
