// SPDX-License-Identifier: Apache-2.0
#include "cuda/progress.h"

#include <stdio.h>
#include <unistd.h>

#include "binary/demangle.h"

#define INTERVAL 0.25  // seconds between two lines on a terminal
#define INTERVAL_FILE 5.0

void progress_show(void *context, const char *kernel, u64 done, u64 total) {
    CudaContext *c = context;
    if (!c->config.progress) return;
    bool terminal = isatty(2);
    f64 now = (f64)cuda_now() * 1e-9;
    if (c->progress_launch != c->launches || !c->progress.started) {
        // A launch has its own rate; the time since the last line goes on, so that short launches are seen as well.
        Progress before = c->progress;
        c->progress = (Progress){.interval = terminal ? INTERVAL : INTERVAL_FILE,
                                 .started = before.started,
                                 .start = now,
                                 .last = before.last};
        c->progress_launch = c->launches;
    }
    if (!progress_update(&c->progress, now, done, total)) return;
    char *name = demangle_short(kernel);
    char what[160], line[288], clock[40] = "";
    if (c->config.timing) snprintf(clock, sizeof clock, ", at %.3f ms", (f64)cuda_simulated_ns(c) * 1e-6);
    snprintf(what, sizeof what, "launch %llu, %.80s%s", (unsigned long long)c->launches, name ? name : kernel, clock);
    mem_free(name);
    progress_format(&c->progress, now, what, "CTAs", line, sizeof line);
    fprintf(stderr, terminal ? "\r\033[K%s" : "%s\n", line);
    fflush(stderr);
    c->progress_shown = terminal;
}

void progress_clear(CudaContext *c) {
    if (!c->progress_shown) return;
    c->progress_shown = false;
    fputs("\r\033[K", stderr);
    fflush(stderr);
}
