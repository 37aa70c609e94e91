// SPDX-License-Identifier: Apache-2.0
#include "base/progress.h"

#include <stdio.h>

bool progress_update(Progress *progress, f64 now, u64 done, u64 total) {
    if (!progress->started) {
        progress->started = true;
        progress->start = progress->last = now;
    }
    bool was_finished = progress->total && progress->done >= progress->total;
    bool finished = total && done >= total;
    bool shown = progress->last > progress->start;
    progress->done = done;
    progress->total = total;

    // What was shown under way is also shown finished; work shorter than the interval shows nothing.
    bool due = now - progress->last >= progress->interval && now > progress->start;
    if (!(due && !was_finished) && !(shown && finished && !was_finished)) return false;
    progress->last = now;
    return true;
}

// "1,024"
static const char *grouped(u64 number, char buffer[32]) {
    char *at = buffer + 31;
    *at = '\0';
    for (u32 digits = 0; number || !digits; digits++, number /= 10) {
        if (digits && digits % 3 == 0) *--at = ',';
        *--at = (char)('0' + number % 10);
    }
    return at;
}

// Two or three significant digits, whole from 10 on.
static const char *format_rate(f64 rate, char buffer[32]) {
    if (rate >= 1e18) rate = 1e18;
    if (rate >= 10) return grouped((u64)(rate + 0.5), buffer);
    snprintf(buffer, 32, rate < 1 ? "%.2f" : "%.1f", rate);
    return buffer;
}

static const char *format_seconds(f64 seconds, char buffer[32]) {
    u64 whole = seconds < 1e15 ? (u64)(seconds + 0.5) : (u64)1e15;
    unsigned long long minutes = (whole + 30) / 60, hours = (whole + 1800) / 3600;
    if (seconds < 9.95) {
        snprintf(buffer, 32, "%.1f s", seconds);
    } else if (whole < 120) {
        snprintf(buffer, 32, "%llu s", (unsigned long long)whole);
    } else if (minutes < 120) {
        snprintf(buffer, 32, "%llu min", minutes);
    } else if (hours < 48) {
        snprintf(buffer, 32, "%llu h %llu min", minutes / 60, minutes % 60);
    } else {
        snprintf(buffer, 32, "%llu days", (hours + 12) / 24);
    }
    return buffer;
}

size_t progress_format(const Progress *progress, f64 now, const char *what, const char *unit, char *buffer,
                       size_t size) {
    char done_buffer[32], total_buffer[32], rate_buffer[32], time_buffer[32];
    char amount[96], rate_part[96] = "", time_part[64] = "";
    u64 done = progress->done, total = progress->total;
    f64 elapsed = progress->started ? now - progress->start : 0;
    f64 rate = elapsed > 0 ? (f64)done / elapsed : 0;

    const char *done_text = grouped(done, done_buffer);
    if (total) {
        u32 percent = done >= total ? 100 : (u32)((f64)done / (f64)total * 100);
        snprintf(amount, sizeof amount, "%s of %s %s (%u %%)", done_text, grouped(total, total_buffer), unit, percent);
    } else {
        snprintf(amount, sizeof amount, "%s %s", done_text, unit);
    }
    if (rate > 0) {
        snprintf(rate_part, sizeof rate_part, ", %s %s/s", format_rate(rate, rate_buffer), unit);
    }
    if (rate > 0 && total > done) {
        const char *left = format_seconds((f64)(total - done) / rate, time_buffer);
        snprintf(time_part, sizeof time_part, ", %s left", left);
    } else if (total && done >= total) {
        snprintf(time_part, sizeof time_part, ", took %s", format_seconds(elapsed, time_buffer));
    }
    int len = snprintf(buffer, size, "%s: %s%s%s", what, amount, rate_part, time_part);
    return len < 0 ? 0 : (size_t)len;
}
