// SPDX-License-Identifier: Apache-2.0
// Value operations that came with sm_100, for which there is no hardware at hand: against the instructions of which
// they are defined to be made, which exec_gpu_test.c compares with an H200, and against searches through all values of
// a format.
#include "base/testing.h"

#include <math.h>

#include "sim/exec_testing.h"
#include "sim/test_values.h"

enum { ROUNDS = 400 };

static const ExecSelect *tables[2];
static u32 table_count;
static int find_tables(void **state) {
    (void)state;
    table_count = testing_tables(tables);
    return 0;
}

static TestFrame t;

// Executes the row of ops.def for the mnemonic: sources in registers 0, 1, 2, the result in 32. `wide`: all of 64 bits.
static void execute(const ExecSelect *table, u32 op, const char *mnemonic, u32 sources, bool wide) {
    Form form;
    SimInsn insn;
    ExecShape shape = {.form = &form, .dst_bits = wide ? 64 : 32};
    assert_true(testing_row(op, mnemonic, &form));
    testing_insn(&form, &insn);
    insn.dst = wide ? r64_operand(32) : r32_operand(32);
    for (u32 k = 0; k < sources; k++) {
        insn.src[k] = wide ? r64_operand(k) : r32_operand(k);
        shape.src_bits[k] = wide ? 64 : 32;
    }
    ExecFn fn = table[op](&shape, &insn);
    assert_non_null(fn);
    fn(&t.x, &insn, FULL_MASK);
}

static u64 seed = 100;
static u64 random_u64(void) { return value_random(&seed); }
static u32 random_f32(void) {
    static const u32 special[] = {0,          0x80000000, 0x3f800000, 0xbf800000, 0x7f800000, 0xff800000, 0x7fc00000,
                                  0xffc12345, 0x7f812345, 0x7fffffff, 1,          0x80000001, 0x007fffff, 0x807fffff,
                                  0x00800000, 0x80800000, 0x7f7fffff, 0xff7fffff, 0x00400000, 0x00400001, 0x00200000};
    u64 r = random_u64();
    if (r >> 62 == 0) return special[r % WL_COUNT(special)];
    if (r >> 61 == 2) return (u32)r & 0x80ffffff;
    return r >> 61 == 3 ? (u32)r : ((u32)r & 0x83ffffff) | 0x3c000000;
}
static u32 random_half(void) {
    static const u16 special[] = {0, 0x8000, 0x3c00, 0x7c00, 0xfc00, 0x7e00, 0x7d01, 0x3f80, 0x7f80, 0xff80, 1, 0x8001};
    u64 r = random_u64();
    return r >> 61 ? r & 0xffff : special[r % WL_COUNT(special)];
}
static f32 float_of(u32 bits) {
    f32 v;
    return memcpy(&v, &bits, 4), v;
}

// --- f32x2 and mixed precision
// ----------------------------------------------------------------------------------------
static const char *const roundings[] = {".rn", ".rz", ".rm", ".rp"};

static void compare_pairs(const ExecSelect *table, u32 op, u32 single, const char *name, const char *mods,
                          u32 sources) {
    char pair[64], plain[64];
    u64 in[3][LANES], out[LANES];
    snprintf(pair, sizeof pair, "%s%s.f32x2", name, mods);
    snprintf(plain, sizeof plain, "%s%s.f32", name, mods);
    for (u32 k = 0; k < 3; k++)
        for (u32 l = 0; l < LANES; l++) in[k][l] = random_f32() | (u64)random_f32() << 32;
    memcpy(t.r64, in, sizeof in);
    execute(table, op, pair, sources, true);
    memcpy(out, t.r64[32], sizeof out);
    for (u32 half = 0; half < 2; half++) {
        for (u32 k = 0; k < 3; k++)
            for (u32 l = 0; l < LANES; l++) t.r32[k][l] = (u32)(in[k][l] >> 32 * half);
        execute(table, single, plain, sources, false);
        for (u32 l = 0; l < LANES; l++)
            if ((u32)(out[l] >> 32 * half) != t.r32[32][l]) fail_msg("%s lane %u", pair, l);
    }
}

TEST(pairs_are_two_floats) {
    testing_frame(&t);
    for (u32 n = 0; n < table_count; n++)
        for (u32 round = 0; round < ROUNDS; round++) {
            char mods[16];
            snprintf(mods, sizeof mods, "%s%s", roundings[round & 3], round & 4 ? ".ftz" : "");
            compare_pairs(tables[n], OP_ADD_F32X2, OP_ADD_F, "add", mods, 2);
            compare_pairs(tables[n], OP_SUB_F32X2, OP_SUB_F, "sub", mods, 2);
            compare_pairs(tables[n], OP_MUL_F32X2, OP_MUL_F, "mul", mods, 2);
            compare_pairs(tables[n], OP_FMA_F32X2, OP_FMA_F, "fma", mods, 3);
        }
}

// The narrow operands converted, then the f32 instruction.
static void compare_mixed(const ExecSelect *table, u32 op, u32 single, const char *name, const char *mods, u32 narrow,
                          bool bfloat) {
    char mixed[64], plain[64];
    u32 in[3][LANES], out[LANES], sources = narrow + 1;
    snprintf(mixed, sizeof mixed, "%s%s.f32.%s", name, mods, bfloat ? "bf16" : "f16");
    snprintf(plain, sizeof plain, "%s%s.f32", name, mods);
    for (u32 k = 0; k < 3; k++)
        for (u32 l = 0; l < LANES; l++) in[k][l] = k < narrow ? random_half() | (u32)random_u64() << 16 : random_f32();
    memcpy(t.r32, in, sizeof in);
    execute(table, op, mixed, sources, false);
    memcpy(out, t.r32[32], sizeof out);
    for (u32 k = 0; k < narrow; k++) {
        memcpy(t.r32[0], in[k], sizeof in[k]);
        execute(table, OP_CVT_F, bfloat ? "cvt.f32.bf16" : "cvt.f32.f16", 1, false);
        memcpy(t.r32[8 + k], t.r32[32], sizeof in[k]);
    }
    memcpy(t.r32, in, sizeof in);
    memcpy(t.r32[0], t.r32[8], narrow * sizeof in[0]);
    execute(table, single, plain, sources, false);
    for (u32 l = 0; l < LANES; l++)
        if (out[l] != t.r32[32][l]) fail_msg("%s lane %u: %08x, not %08x", mixed, l, out[l], t.r32[32][l]);
}

TEST(mixed_precision_widens_first) {
    testing_frame(&t);
    for (u32 n = 0; n < table_count; n++)
        for (u32 round = 0; round < ROUNDS; round++) {
            char mods[16];
            snprintf(mods, sizeof mods, "%s%s", roundings[round & 3], round & 4 ? ".sat" : "");
            compare_mixed(tables[n], OP_ADD_MIXED, OP_ADD_F, "add", mods, 1, round & 8);
            compare_mixed(tables[n], OP_SUB_MIXED, OP_SUB_F, "sub", mods, 1, round & 8);
            compare_mixed(tables[n], OP_FMA_MIXED, OP_FMA_F, "fma", mods, 2, round & 8);
        }
}

// --- min and max of three
// -----------------------------------------------------------------------------------------------
static bool is_nan(u32 bits) { return (bits & 0x7fffffff) > 0x7f800000; }

// An order of all numbers with -0 below +0.
static i64 rank_of(u32 bits) { return bits >> 31 ? -(i64)(bits & 0x7fffffff) - 1 : (i64)bits; }

static u32 extreme_of_3(const u32 in[3], bool max, bool ftz, bool nan, bool abs) {
    u32 best = 0x7fffffff;
    bool any_nan = false;
    for (u32 k = 0; k < 3; k++) {
        u32 v = in[k];
        any_nan |= is_nan(v);
        if (ftz && !(v & 0x7f800000)) v &= 0x80000000;
        if (abs) v &= 0x7fffffff;
        if (is_nan(v)) continue;
        if (is_nan(best) || (max ? rank_of(v) > rank_of(best) : rank_of(v) < rank_of(best))) best = v;
    }
    return nan && any_nan ? 0x7fffffff : best;
}

TEST(extremes_of_three) {
    testing_frame(&t);
    for (u32 n = 0; n < table_count; n++)
        for (u32 round = 0; round < ROUNDS; round++) {
            bool max = round & 1, ftz = round & 2, nan = round & 4, abs = round & 8;
            char mnemonic[64];
            snprintf(mnemonic, sizeof mnemonic, "%s%s%s%s.f32", max ? "max" : "min", ftz ? ".ftz" : "",
                     nan ? ".NaN" : "", abs ? ".abs" : "");
            for (u32 k = 0; k < 3; k++)
                for (u32 l = 0; l < LANES; l++) t.r32[k][l] = random_f32();
            execute(tables[n], max ? OP_MAX3_F : OP_MIN3_F, mnemonic, 3, false);
            for (u32 l = 0; l < LANES; l++) {
                u32 in[3] = {t.r32[0][l], t.r32[1][l], t.r32[2][l]};
                assert_int_equal(t.r32[32][l], extreme_of_3(in, max, ftz, nan, abs));
            }
        }
}

// --- fp6, fp4
// -------------------------------------------------------------------------------------------------------------
typedef struct Mini {
    const char *name;
    u32 narrow, widen;  // rows of ops.def
    u32 exponent, mantissa, bias;
} Mini;
static const Mini minis[] = {{"e2m3x2", OP_CVT_FP6X2, OP_CVT_HALF_FP6X2, 2, 3, 1},
                             {"e3m2x2", OP_CVT_FP6X2, OP_CVT_HALF_FP6X2, 3, 2, 3},
                             {"e2m1x2", OP_CVT_FP4X2, OP_CVT_HALF_FP4X2, 2, 1, 1}};

static u32 mini_bits(const Mini *m) { return 1 + m->exponent + m->mantissa; }
static f64 mini_value(const Mini *m, u32 code) {
    u32 magnitude = code & ((1u << (m->exponent + m->mantissa)) - 1), e = magnitude >> m->mantissa;
    f64 f = (f64)(magnitude & ((1u << m->mantissa) - 1)) / (1u << m->mantissa);
    f64 v = ldexp(e ? 1 + f : f, (e ? (int)e : 1) - (int)m->bias);
    return code >> (m->exponent + m->mantissa) & 1 ? -v : v;
}
// The nearest of all magnitudes, the even code of two; the sign goes with it. NaN is the largest positive number.
static u32 mini_nearest(const Mini *m, f32 v) {
    u32 sign_bit = 1u << (m->exponent + m->mantissa), best = 0;
    if (isnan(v)) return sign_bit - 1;
    f64 magnitude = fmin(fabs((f64)v), mini_value(m, sign_bit - 1));
    for (u32 code = 1; code < sign_bit; code++) {
        f64 old = fabs(magnitude - mini_value(m, best)), new = fabs(magnitude - mini_value(m, code));
        if (new < old || (new == old && (code & 1) == 0)) best = code;
    }
    return best | (signbit(v) ? sign_bit : 0);
}
static u32 small_float(void) {
    u64 r = random_u64();
    return (r >> 62 ? value_f32_bits((f32)((i64)(r & 0x1fff) - 4096) / (r >> 60 & 1 ? 128.0f : 512.0f)) : random_f32());
}

TEST(fp6_and_fp4_are_the_nearest) {
    testing_frame(&t);
    for (u32 n = 0; n < table_count; n++)
        for (u32 round = 0; round < ROUNDS; round++) {
            const Mini *m = &minis[round % 3];
            bool relu = round & 8;
            u32 shift = m->exponent + m->mantissa < 4 ? 4 : 8;
            char mnemonic[64];
            snprintf(mnemonic, sizeof mnemonic, "cvt.rn.satfinite%s.%s.f32", relu ? ".relu" : "", m->name);
            for (u32 l = 0; l < LANES; l++) t.r32[0][l] = small_float(), t.r32[1][l] = small_float();
            execute(tables[n], m->narrow, mnemonic, 2, false);
            for (u32 l = 0; l < LANES; l++) {
                u32 wanted[2];
                for (u32 k = 0; k < 2; k++) {
                    f32 v = float_of(t.r32[k][l]);
                    wanted[k] = relu && v <= 0 ? 0 : mini_nearest(m, v);
                }
                assert_int_equal(t.r32[32][l], wanted[1] | wanted[0] << shift);
            }
        }
}

TEST(fp6_and_fp4_widen_exactly) {
    testing_frame(&t);
    for (u32 n = 0; n < table_count; n++)
        for (u32 which = 0; which < 6; which++) {
            const Mini *m = &minis[which % 3];
            bool relu = which >= 3;
            u32 shift = mini_bits(m) == 4 ? 4 : 8;
            char mnemonic[64];
            snprintf(mnemonic, sizeof mnemonic, "cvt.rn%s.f16x2.%s", relu ? ".relu" : "", m->name);
            for (u32 first = 0; first < 1u << mini_bits(m); first += LANES) {
                for (u32 l = 0; l < LANES; l++)  // in the upper half the codes backwards
                    t.r32[0][l] = (first + l) % (1u << mini_bits(m)) | ((63 - l) % (1u << mini_bits(m))) << shift;
                u32 in[LANES], out[LANES];
                memcpy(in, t.r32[0], sizeof in);
                execute(tables[n], m->widen, mnemonic, 1, false);
                memcpy(out, t.r32[32], sizeof out);
                for (u32 half = 0; half < 2; half++) {
                    for (u32 l = 0; l < LANES; l++) t.r32[0][l] = out[l] >> (16 * half);
                    execute(tables[n], OP_CVT_F, "cvt.f32.f16", 1, false);
                    for (u32 l = 0; l < LANES; l++) {
                        f64 wanted = mini_value(m, in[l] >> (shift * half) & ((1u << mini_bits(m)) - 1));
                        f32 got = float_of(t.r32[32][l]);
                        if (relu && signbit(wanted)) wanted = 0;
                        if ((f64)got != wanted || !signbit(got) != !signbit(wanted))
                            fail_msg("%s %x: %g, not %g", mnemonic, in[l], (f64)got, wanted);
                    }
                }
            }
        }
}

// --- ue8m0
// ---------------------------------------------------------------------------------------------------------------- The
// largest power of two that is not above |v|, or the smallest that is not below.
static u32 scale_code(f32 v, bool up, bool finite) {
    f64 magnitude = fabs((f64)v);
    if (isnan(v)) return 0xff;
    u32 code = 0;
    while (code < 0xff && (up ? ldexp(1, (int)code - 127) < magnitude : ldexp(1, (int)code - 126) <= magnitude)) code++;
    return finite && code == 0xff ? 0xfe : code;
}

TEST(scales_are_powers_of_two) {
    testing_frame(&t);
    for (u32 n = 0; n < table_count; n++)
        for (u32 round = 0; round < ROUNDS; round++) {
            bool up = round & 1, finite = round & 2, bfloat = round & 4;
            char mnemonic[64];
            snprintf(mnemonic, sizeof mnemonic, "cvt.%s%s.ue8m0x2.%s", up ? "rp" : "rz", finite ? ".satfinite" : "",
                     bfloat ? "bf16x2" : "f32");
            for (u32 l = 0; l < LANES; l++) t.r32[0][l] = random_f32(), t.r32[1][l] = random_f32();
            execute(tables[n], bfloat ? OP_CVT_UE8M0X2_BF16 : OP_CVT_UE8M0X2, mnemonic, bfloat ? 1 : 2, false);
            for (u32 l = 0; l < LANES; l++) {
                u32 high = bfloat ? t.r32[0][l] & 0xffff0000 : t.r32[0][l],
                    low = bfloat ? t.r32[0][l] << 16 : t.r32[1][l];
                u32 wanted = scale_code(float_of(low), up, finite) | scale_code(float_of(high), up, finite) << 8;
                assert_int_equal(t.r32[32][l], wanted);
            }
        }
}

TEST(scales_widen_exactly) {
    testing_frame(&t);
    for (u32 n = 0; n < table_count; n++)
        for (u32 first = 0; first < 256; first += LANES) {
            for (u32 l = 0; l < LANES; l++) t.r32[0][l] = (first + l) | (255 - first - l) << 8;
            execute(tables[n], OP_CVT_BF16_UE8M0X2, "cvt.rn.bf16x2.ue8m0x2", 1, false);
            for (u32 l = 0; l < LANES; l++)
                for (u32 half = 0; half < 2; half++) {
                    u32 code = half ? 255 - first - l : first + l, bits = t.r32[32][l] >> (16 * half) << 16;
                    if (code == 255)
                        assert_int_equal(bits, 0x7fff0000);
                    else
                        assert_true(float_of(bits) == ldexp(1, (int)code - 127));
                }
        }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pairs_are_two_floats),      cmocka_unit_test(mixed_precision_widens_first),
        cmocka_unit_test(extremes_of_three),         cmocka_unit_test(fp6_and_fp4_are_the_nearest),
        cmocka_unit_test(fp6_and_fp4_widen_exactly), cmocka_unit_test(scales_are_powers_of_two),
        cmocka_unit_test(scales_widen_exactly),
    };
    return cmocka_run_group_tests(tests, find_tables, NULL);
}
