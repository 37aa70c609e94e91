// SPDX-License-Identifier: Apache-2.0
// The .approx and .full instructions over all their arguments.
//   approx_sweep [FORM...]           whether the results are those of an H200, by hash: 2^32 arguments, or 2^30 pairs
//   approx_sweep --errors [FORM...]  the table of errors in docs/validation-values.md
// A form takes up to two minutes, so that no test run does this.
#include <math.h>
#include <stdio.h>

#include "sim/exec_approx_cases.h"

static const ExecSelect *host_table(void) {
#if SIM_HAS_V3
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) return exec_table_v3;
#endif
    return exec_table_base;
}

static bool is_wanted(const char *name, int count, char **names) {
    bool wanted = count == 0;
    for (int i = 0; i < count; i++) wanted |= !strcmp(names[i], name);
    return wanted;
}

static int compare(int count, char **names) {
    static ApproxRun run;
    int wrong = 0;
    for (u32 i = 0; i < WL_COUNT(approx_cases); i++) {
        const ApproxCase *c = &approx_cases[i];
        if (!is_wanted(c->mnemonic, count, names)) continue;
        bool same = approx_start(c, host_table(), &run) && approx_whole(&run) == c->gpu;
        printf("%s %s\n", same ? "=" : "!", c->mnemonic);
        fflush(stdout);
        wrong += !same;
    }
    return wrong != 0;
}

// --- errors -----------------------------------------------------------------------------------------------------
typedef enum Measure { ULP, ABSOLUTE } Measure;
typedef struct ErrorCase {
    const char *mnemonic;
    ApproxRange range;
    f64 (*truth)(f64);  // NULL: a quotient
    f64 from, to;       // of the argument's magnitude
    bool negative;      // arguments of both signs
    Measure measure;
} ErrorCase;

static f64 reciprocal(f64 v) { return 1.0 / v; }
static f64 reciprocal_root(f64 v) { return 1.0 / sqrt(v); }
static const f64 pi = 3.14159265358979323846;

// One octave of what is the same in all; below 2^-30 the sine and tanh are the argument, the others constant.
static const ErrorCase error_cases[] = {
    {"rcp.approx.f32", APPROX_F32, reciprocal, 1, 2, false, ULP},
    {"rcp.approx.f32", APPROX_F32, reciprocal, 0x1p126, INFINITY, false, ULP},
    {"rcp.approx.f32", APPROX_F32, reciprocal, 0x1p-128, 0x1p-126, false, ULP},
    {"sqrt.approx.f32", APPROX_F32, sqrt, 1, 4, false, ULP},
    {"sqrt.approx.f32", APPROX_F32, sqrt, 0x1p-149, 0x1p-126, false, ULP},
    {"rsqrt.approx.f32", APPROX_F32, reciprocal_root, 1, 4, false, ULP},
    {"rsqrt.approx.f32", APPROX_F32, reciprocal_root, 0x1p-149, 0x1p-126, false, ULP},
    {"ex2.approx.f32", APPROX_F32, exp2, 0x1p-30, 126, true, ULP},
    {"ex2.approx.f32", APPROX_F32, exp2, 126, 150, true, ULP},
    {"lg2.approx.f32", APPROX_F32, log2, 0.5, 2, false, ABSOLUTE},
    {"lg2.approx.f32", APPROX_F32, log2, 2, INFINITY, false, ULP},
    {"lg2.approx.f32", APPROX_F32, log2, 0x1p-149, 0.5, false, ULP},
    {"sin.approx.f32", APPROX_F32, sin, 0x1p-30, 2 * pi, true, ABSOLUTE},
    {"sin.approx.f32", APPROX_F32, sin, 2 * pi, 100 * pi, true, ABSOLUTE},
    {"cos.approx.f32", APPROX_F32, cos, 0x1p-30, 2 * pi, true, ABSOLUTE},
    {"cos.approx.f32", APPROX_F32, cos, 2 * pi, 100 * pi, true, ABSOLUTE},
    {"tanh.approx.f32", APPROX_F32, tanh, 0x1p-30, 16, true, ULP},
    {"div.approx.f32", APPROX_PAIR, NULL, 0x1p-126, 0x1p126, true, ULP},
    {"div.full.f32", APPROX_PAIR, NULL, 0x1p-149, INFINITY, true, ULP},
    {"rcp.approx.ftz.f64", APPROX_F64, reciprocal, 1, 2, false, ULP},
    {"rsqrt.approx.ftz.f64", APPROX_F64, reciprocal_root, 1, 4, false, ULP},
    {"ex2.approx.f16", APPROX_HALF, exp2, 0, 32, true, ULP},
    {"tanh.approx.f16", APPROX_HALF, tanh, 0, INFINITY, true, ULP},
    {"ex2.approx.ftz.bf16", APPROX_HALF, exp2, 0, 126, true, ULP},
    {"tanh.approx.bf16", APPROX_HALF, tanh, 0, INFINITY, true, ULP},
};

// How results are stored: bits of the mantissa, smallest exponent of a normal number.
typedef struct Format {
    int mantissa, smallest;
} Format;

static f64 half_value(u32 h, bool bfloat) {
    f32 v;
    u32 exponent = h >> 10 & 31, bits = h << 16;
    if (bfloat) return memcpy(&v, &bits, 4), (f64)v;
    f64 magnitude = exponent == 31 ? (h & 0x3ff ? (f64)NAN : (f64)INFINITY)
                                   : ldexp((h & 0x3ff) + (exponent ? 1024 : 0), exponent ? (int)exponent - 25 : -24);
    return h & 0x8000 ? -magnitude : magnitude;
}

typedef struct Errors {
    f64 worst, worst_relative, sum;
    u64 count, exact;
} Errors;

static f64 power_of_two(int exponent) {
    u64 bits = (u64)(exponent + 1023) << 52;
    f64 v;
    return memcpy(&v, &bits, 8), v;
}

static void account(Errors *e, const ErrorCase *c, Format format, f64 truth, f64 got) {
    u64 bits;
    memcpy(&bits, &truth, 8);
    int exponent = (int)(bits >> 52 & 0x7ff) - 1023;
    if (truth == 0 || exponent == 1024 || isinf(got)) return;
    if (exponent < format.smallest) exponent = format.smallest;
    f64 off = fabs(got - truth), ulp = power_of_two(exponent - format.mantissa);
    f64 error = c->measure == ULP ? off / ulp : off, relative = off / fabs(truth);
    e->sum += error, e->count++, e->exact += off <= 0.5 * ulp;
    if (error > e->worst) e->worst = error;
    if (relative > e->worst_relative && exponent > format.smallest) e->worst_relative = relative;
}

static bool is_measured(const ErrorCase *c, f64 argument) {
    f64 magnitude = fabs(argument);
    return magnitude >= c->from && magnitude < c->to && (c->negative || argument > 0);
}

static void account_lane(Errors *e, const ErrorCase *c, const TestFrame *t, u32 l) {
    bool bfloat = c->range == APPROX_HALF && strstr(c->mnemonic, "bf16");
    Format format = {23, -126};
    f64 a, got, b = 1.0;
    f32 v;
    switch (c->range) {
    case APPROX_F64:
        format = (Format){20, -1022};
        memcpy(&a, &t->r64[0][l], 8), memcpy(&got, &t->r64[APPROX_DST][l], 8);
        break;
    case APPROX_HALF:
        format = bfloat ? (Format){7, -126} : (Format){10, -14};
        a = half_value(t->r32[0][l] & 0xffff, bfloat), got = half_value(t->r32[APPROX_DST][l] & 0xffff, bfloat);
        break;
    default: memcpy(&v, &t->r32[0][l], 4), a = (f64)v; memcpy(&v, &t->r32[APPROX_DST][l], 4), got = (f64)v;
    }
    if (c->range == APPROX_PAIR) memcpy(&v, &t->r32[1][l], 4), b = (f64)v;
    f64 ranged = c->range == APPROX_PAIR ? b : a;
    if (!is_measured(c, ranged) || isinf(a)) return;
    account(e, c, format, c->truth ? c->truth(a) : a / b, got);
}

static void print_errors(const ErrorCase *c, const Errors *e) {
    f64 mean = e->sum / (f64)e->count;
    char worst[64];
    if (c->measure == ABSOLUTE)
        snprintf(worst, sizeof worst, "2^%.2f | 2^%.2f", log2(e->worst), log2(mean));
    else if (e->worst_relative > 0)
        snprintf(worst, sizeof worst, "%.3f ulp, 2^%.2f relative | %.3f ulp", e->worst, log2(e->worst_relative), mean);
    else
        snprintf(worst, sizeof worst, "%.3f ulp | %.3f ulp", e->worst, mean);
    printf("| `%s` | %s%g to %g | %llu | %s | %.1f %% |\n", c->mnemonic, c->negative ? "+-" : "", c->from, c->to,
           (unsigned long long)e->count, worst, 100.0 * (f64)e->exact / (f64)e->count);
    fflush(stdout);
}

// The LANES arguments from n on have one sign and lie side by side: none is measured when neither end is.
static bool is_outside(const ErrorCase *c, u64 n) {
    f64 wide[2];
    f32 v[2];
    if (c->range != APPROX_F32 && c->range != APPROX_F64) return false;
    for (u32 k = 0; k < 2; k++) {
        u64 bits = n + k * (LANES - 1), upper = bits << 32;
        u32 low = (u32)bits;
        memcpy(&v[k], &low, 4), memcpy(&wide[k], &upper, 8);
        if (is_measured(c, c->range == APPROX_F32 ? (f64)v[k] : wide[k])) return false;
    }
    return true;
}

static void measure_case(const ErrorCase *c, ApproxRun *run) {
    Errors errors = {0};
    u64 all = c->range == APPROX_HALF ? 65536 : c->range == APPROX_PAIR ? 1ull << 26 : 1ull << 32;
    for (u64 n = 0; n < all; n += LANES) {
        if (is_outside(c, n)) continue;
        for (u32 l = 0; l < LANES; l++) {
            run->t.r32[0][l] = (u32)(n + l), run->t.r64[0][l] = (n + l) << 32;
            if (c->range == APPROX_PAIR) approx_pair(n + l, &run->t.r32[0][l], &run->t.r32[1][l]);
        }
        run->fn(&run->t.x, &run->insn, FULL_MASK);
        for (u32 l = 0; l < LANES; l++) account_lane(&errors, c, &run->t, l);
    }
    print_errors(c, &errors);
}

static int measure(int count, char **names) {
    static ApproxRun run;
    puts("| instruction | argument | number | greatest error | mean | correctly rounded |\n"
         "|---|---|---|---|---|---|");
    for (u32 i = 0; i < WL_COUNT(error_cases); i++) {
        const ErrorCase *c = &error_cases[i];
        ApproxCase form = {.mnemonic = c->mnemonic, .range = c->range};
        if (is_wanted(c->mnemonic, count, names) && approx_start(&form, host_table(), &run)) measure_case(c, &run);
    }
    return 0;
}

int main(int argc, char **argv) {
    bool errors = argc > 1 && !strcmp(argv[1], "--errors");
    return errors ? measure(argc - 2, argv + 2) : compare(argc - 1, argv + 1);
}
