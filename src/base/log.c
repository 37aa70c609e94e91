// SPDX-License-Identifier: Apache-2.0
#include "base/log.h"

#include <stdarg.h>
#include <stdio.h>

#include "base/mem.h"

void log_printf(const Log *log, LogLevel level, const char *format, ...) {
    if (!log || !log->write || level > log->level) return;
    char line[1024];
    va_list args;
    va_start(args, format);
    int len = vsnprintf(line, sizeof line, format, args);
    va_end(args);
    if (len < 0) return;

    // A longer text goes through the heap; when memory is out its beginning must do.
    char *longer = (size_t)len < sizeof line ? NULL : mem_alloc((size_t)len + 1);
    if (longer) {
        va_start(args, format);
        vsnprintf(longer, (size_t)len + 1, format, args);
        va_end(args);
    }
    log->write(log->context, level, longer ? longer : line);
    mem_free(longer);
}

void log_to_stderr(void *context, LogLevel level, const char *text) {
    (void)context;
    (void)level;
    fprintf(stderr, "warplens: %s\n", text);
}
