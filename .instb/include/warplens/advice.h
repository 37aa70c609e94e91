// SPDX-License-Identifier: Apache-2.0
// What to change in the kernels of a profile, and how much faster they should then be: `warplens advise` from C. Link
// with -lwarplens. A WlAdvice belongs to its maker and to one thread at a time; it must be freed before its profile is
// closed, and everything it hands out lives until then. C++ may include this file. docs/advice.md says what the figures
// mean.
//
//     WlAdvice *a;
//     if (wl_advice_make(p, &a)) fputs(wl_profile_error(p), stderr);
//     else for (unsigned i = 0; i < wl_advice_count(a); i++) puts(wl_advice_what(a, i));
//     wl_advice_free(a);
#ifndef WARPLENS_ADVICE_H
#define WARPLENS_ADVICE_H

#include <warplens/profile.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct WlAdvice WlAdvice;

// Returns 0, also when there is nothing to advise, or 1: then wl_profile_error tells why and *advice is NULL.
int wl_advice_make(WlProfile *profile, WlAdvice **advice);
void wl_advice_free(WlAdvice *advice);  // NULL is allowed

// Where the samples come from: "simulated", "sampled"; "" when there are none.
const char *wl_advice_provenance(const WlAdvice *advice);
// Sentences on what was missing, and how to get it; from 0.
unsigned wl_advice_notes(const WlAdvice *advice);
const char *wl_advice_note(const WlAdvice *advice, unsigned note);

// Pieces of advice, from 0, most saving in the whole program first. Beyond the last: "", NULL or 0.
unsigned wl_advice_count(const WlAdvice *advice);
const char *wl_advice_rule(const WlAdvice *advice, unsigned i);    // "loop-unrolling"
const char *wl_advice_what(const WlAdvice *advice, unsigned i);    // one sentence
const char *wl_advice_kernel(const WlAdvice *advice, unsigned i);  // mangled
const char *wl_advice_file(const WlAdvice *advice, unsigned i);    // of the place to look at first; NULL: not known
unsigned wl_advice_line(const WlAdvice *advice, unsigned i);
const char *wl_advice_confidence(const WlAdvice *advice, unsigned i);  // "low", "medium", "high"
// Speedup of the kernel and of all GPU time of the program; `low` and `high` (may be NULL) bound the 90 % interval.
double wl_advice_speedup(const WlAdvice *advice, unsigned i, double *low, double *high);
double wl_advice_program_speedup(const WlAdvice *advice, unsigned i, double *low, double *high);
// Advice of one kernel with the same number would remove the same waiting: its savings do not add up.
unsigned wl_advice_group(const WlAdvice *advice, unsigned i);

#ifdef __cplusplus
}
#endif

#endif
