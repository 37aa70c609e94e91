// SPDX-License-Identifier: Apache-2.0
// Reading Warplens profiles from C: link with -lwarplens. A WlProfile belongs to its opener and to one thread at a
// time; everything it hands out lives until wl_profile_close. Metric names and units: docs/metrics.md. C++ may include
// this file.
//
//     WlProfile *p;
//     if (wl_profile_open("app.1.wlp", &p)) fputs(wl_profile_error(p), stderr);
//     else for (unsigned k = 0; k < wl_profile_kernels(p); k++) puts(wl_kernel_name(p, k));
//     wl_profile_close(p);
#ifndef WARPLENS_PROFILE_H
#define WARPLENS_PROFILE_H

#ifdef __cplusplus
extern "C" {
#endif

typedef struct WlProfile WlProfile;

// Opens a profile for reading; also one whose program was killed or still runs. Returns 0, or 1 when it cannot be read:
// then *profile has only wl_profile_error. *profile is NULL when memory is out. Close it in either case.
int wl_profile_open(const char *path, WlProfile **profile);
void wl_profile_close(WlProfile *profile);               // NULL is allowed
const char *wl_profile_error(const WlProfile *profile);  // the last problem as one line; "" when there was none
int wl_profile_complete(const WlProfile *profile);       // 0: the program was killed before its end

// Kernels (and device functions with counts), from 0. Names are mangled.
unsigned wl_profile_kernels(const WlProfile *profile);
const char *wl_kernel_name(const WlProfile *profile, unsigned kernel);
unsigned wl_kernel_launches(const WlProfile *profile, unsigned kernel);
// A metric over all launches of the kernel. Returns 1 and sets *value, or 0 when the kernel has no such figure.
int wl_kernel_metric(WlProfile *profile, unsigned kernel, const char *metric, double *value);

// Source lines of a kernel, from 0; file is NULL without line information (then line is one of the PTX text).
unsigned wl_kernel_lines(WlProfile *profile, unsigned kernel);
const char *wl_line_file(WlProfile *profile, unsigned kernel, unsigned line);
unsigned wl_line_number(WlProfile *profile, unsigned kernel, unsigned line);
int wl_line_metric(WlProfile *profile, unsigned kernel, unsigned line, const char *metric, double *value);

// Launches, from 0, in the order of the run; 0 when they cannot be read.
unsigned wl_profile_launches(WlProfile *profile);
// The kernel of a launch; wl_profile_kernels(profile) when there is no such launch.
unsigned wl_launch_kernel(WlProfile *profile, unsigned launch);
// A metric of one launch. Returns as wl_kernel_metric.
int wl_launch_metric(WlProfile *profile, unsigned launch, const char *metric, double *value);
// The cycles of the SM clock that a launch took, and between which they are: all equal, unless they are an estimate
// (`warplens run --sample`; then with 95 % confidence). `low` and `high` may be NULL. Returns 0 when it was not timed.
int wl_launch_cycles(WlProfile *profile, unsigned launch, double *cycles, double *low, double *high);

// Counters of a launch over time, of all units of one kind: "gpu" (one unit: everything added up), "sm", "port",
// "slice", "channel", "bank". Point p is what the cycles from `first` + p * `step` on, `step` of them, added; on a real
// GPU (`warplens run --interval`), which has "gpu" only, it is ns instead of cycles, on the host's monotonic clock.
typedef struct WlTimeline WlTimeline;
// Instead of a launch: the whole run, on the first GPU that has one.
#define WL_WHOLE_RUN (~0u)
// NULL when the launch has none of that kind, or when it cannot be read (then wl_profile_error says why). To be closed
// before the profile.
WlTimeline *wl_timeline_open(WlProfile *profile, unsigned launch, const char *unit);
void wl_timeline_close(WlTimeline *timeline);  // NULL is allowed
unsigned wl_timeline_units(const WlTimeline *timeline);
unsigned wl_timeline_points(const WlTimeline *timeline);
unsigned long long wl_timeline_first(const WlTimeline *timeline);  // cycles
unsigned long long wl_timeline_step(const WlTimeline *timeline);   // cycles
double wl_timeline_cycle_ns(const WlTimeline *timeline);           // how long a cycle is
// A metric, or a formula of several, at all points of one unit, or of all units together when `unit` is negative. Fills
// wl_timeline_points values, NaN where there is nothing to compute it from; returns 0 when that is so at every point.
int wl_timeline_metric(WlTimeline *timeline, const char *metric, int unit, double *values);

#ifdef __cplusplus
}
#endif

#endif
