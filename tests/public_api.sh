#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# A C program that knows only include/warplens and -lwarplens reads a profile of a launch with known counts.
. tests/e2e/lib.sh
"$W" sim -q examples/vector_add/vector_add.ptx --launch examples/vector_add/vector_add.launch -o "$T/v.wlp"
cat >"$T/read.c" <<'C'
#include <stdio.h>
#include <string.h>
#include <warplens/profile.h>

int main(int argc, char **argv) {
    WlProfile *p;
    double value, line_sum = 0;
    if (wl_profile_open(argv[argc - 1], &p)) return puts(wl_profile_error(p)), wl_profile_close(p), 1;
    printf("%u kernels, complete %d\n", wl_profile_kernels(p), wl_profile_complete(p));
    for (unsigned k = 0; k < wl_profile_kernels(p); k++) {
        if (!strstr(wl_kernel_name(p, k), "vecAddPK")) continue;
        wl_kernel_metric(p, k, "smsp__inst_executed.sum", &value);
        for (unsigned l = 0; l < wl_kernel_lines(p, k); l++) {
            double part = 0;
            wl_line_metric(p, k, l, "smsp__inst_executed.sum", &part);
            line_sum += part;
        }
        printf("%u launches, lines add up: %d, unknown metric: %d\n", wl_kernel_launches(p, k), value == line_sum && value > 0,
               wl_kernel_metric(p, k, "no_such_metric", &value));
    }
    return wl_profile_close(p), 0;
}
C
cc -std=c99 -Wall -Wextra -Werror -pedantic -Iinclude "$T/read.c" -L"$BUILD/lib" -lwarplens -o "$T/read"
export LD_LIBRARY_PATH=$BUILD/lib
same "what the reader says" "$("$T/read" "$T/v.wlp")" "4 kernels, complete 1
1 launches, lines add up: 1, unknown metric: 0"
cat >"$T/advise.c" <<'C'
#include <stdio.h>
#include <string.h>
#include <warplens/advice.h>

int main(int argc, char **argv) {
    WlProfile *p;
    WlAdvice *a = NULL;
    double low = 0, high = 0;
    if (wl_profile_open(argv[argc - 1], &p) || wl_advice_make(p, &a)) return puts(wl_profile_error(p)), wl_profile_close(p), 1;
    printf("%s, notes: %d\n", wl_advice_provenance(a), wl_advice_notes(a) > 0);
    for (unsigned i = 0; i < wl_advice_count(a); i++) {
        if (strcmp(wl_advice_rule(a, i), "global-coalescing")) continue;
        double speedup = wl_advice_speedup(a, i, &low, &high), program = wl_advice_program_speedup(a, i, NULL, NULL);
        printf("%s in %s at %s:%u, group %u, interval: %d\n", wl_advice_rule(a, i), wl_advice_kernel(a, i), wl_advice_file(a, i),
               wl_advice_line(a, i), wl_advice_group(a, i), 1 <= low && low <= speedup && speedup <= high && program > 1);
    }
    printf("beyond the last: '%s' %g\n", wl_advice_what(a, wl_advice_count(a)), wl_advice_speedup(a, 9999, NULL, NULL));
    return wl_advice_free(a), wl_profile_close(p), 0;
}
C
cc -std=c99 -Wall -Wextra -Werror -pedantic -Iinclude "$T/advise.c" -L"$BUILD/lib" -lwarplens -o "$T/advise"
"$W" sim -q --timing tests/advice/pairs/matvec.ptx --launch tests/advice/pairs/matvec.launch -o "$T/m.wlp"
same "advice from C" "$("$T/advise" "$T/m.wlp")" "simulated, notes: 0
global-coalescing in _Z6matvecPKfS0_Pfii at examples/advice/matvec.cu:17, group 0, interval: 1
beyond the last: '' 0"
same "advice from C where nothing was sampled" "$("$T/advise" "$T/v.wlp")" "simulated, notes: 1
beyond the last: '' 0"
same "a file that is not there" "$("$T/read" "$T/nope.wlp")" "$T/nope.wlp: error: cannot open the profile: No such file or directory"

cat >"$T/time.c" <<'C'
#include <math.h>
#include <stdio.h>
#include <warplens/profile.h>

int main(int argc, char **argv) {
    WlProfile *p;
    WlTimeline *t;
    double cycles, low, high, total = 0, sum = 0, units = 0, values[4096];
    if (wl_profile_open(argv[argc - 1], &p)) return puts(wl_profile_error(p)), 1;
    unsigned known = wl_launch_kernel(p, 0) < wl_profile_kernels(p), beyond = wl_launch_kernel(p, 9) == wl_profile_kernels(p);
    if (!wl_launch_cycles(p, 0, &cycles, &low, &high)) return puts("not timed"), wl_profile_close(p), 0;
    printf("%u launches, kernel %u %u, exact %d\n", wl_profile_launches(p), known, beyond, cycles > 0 && low == cycles && high == cycles);
    wl_launch_metric(p, 0, "smsp__inst_executed.sum", &total);
    if (!(t = wl_timeline_open(p, 0, "gpu")) || wl_timeline_points(t) > 4096) return puts("no timeline"), 1;
    wl_timeline_metric(t, "smsp__inst_executed.sum", -1, values);
    for (unsigned i = 0; i < wl_timeline_points(t); i++) sum += values[i];
    printf("points add up %d, step %llu, unknown metric %d\n", sum == total, wl_timeline_step(t), wl_timeline_metric(t, "no_such", -1, values));
    wl_timeline_close(t);
    if (!(t = wl_timeline_open(p, 0, "sm"))) return puts("no timeline of SMs"), 1;
    for (unsigned u = 0; u < wl_timeline_units(t); u++) {
        wl_timeline_metric(t, "smsp__inst_executed.sum", (int)u, values);
        for (unsigned i = 0; i < wl_timeline_points(t); i++) units += values[i];
    }
    printf("%u SMs add up %d, beyond them %d\n", wl_timeline_units(t), units == total, wl_timeline_metric(t, "smsp__inst_executed.sum", 132, values));
    wl_timeline_close(t);
    printf("toasters: %d, a whole run: %d\n", wl_timeline_open(p, 0, "toaster") != NULL,
           wl_timeline_open(p, WL_WHOLE_RUN, "gpu") != NULL);
    return wl_profile_close(p), 0;
}
C
cc -std=c99 -Wall -Wextra -Werror -pedantic -Iinclude "$T/time.c" -L"$BUILD/lib" -lwarplens -o "$T/time"
same "a profile without times" "$("$T/time" "$T/v.wlp")" "not timed"
"$W" sim -q --timing examples/vector_add/vector_add.ptx --launch bench/vector_add.launch -o "$T/t.wlp"
same "timelines" "$("$T/time" "$T/t.wlp")" "1 launches, kernel 1 1, exact 1
points add up 1, step 1000, unknown metric 0
132 SMs add up 1, beyond them 0
toasters: 0, a whole run: 0"
finish
