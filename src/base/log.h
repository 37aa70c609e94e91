// SPDX-License-Identifier: Apache-2.0
// Messages for people from long-running parts (the injected libraries, the CLI). The owner decides where they go.
#ifndef WL_BASE_LOG_H
#define WL_BASE_LOG_H

#include "base/types.h"

typedef enum LogLevel { LOG_ERROR, LOG_WARNING, LOG_INFO, LOG_DEBUG } LogLevel;

typedef void (*LogWrite)(void *context, LogLevel level, const char *text);  // one line, no newline at its end

typedef struct Log {
    LogWrite write;  // NULL = silent
    void *context;
    LogLevel level;  // messages above it are not made
} Log;

void log_printf(const Log *log, LogLevel level, const char *format, ...) WL_PRINTF(3, 4);
void log_to_stderr(void *context, LogLevel level, const char *text);  // a LogWrite: "warplens: text"

#endif
