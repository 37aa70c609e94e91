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

#ifdef __cplusplus
}
#endif

#endif
