// SPDX-License-Identifier: Apache-2.0
// The functions of exec/ against computations of their own kind: 128-bit integers, long double, exhaustive 16-bit
// inputs, the host's libm.
#include "base/testing.h"

#include <math.h>

#include "sim/exec_testing.h"

static const ExecSelect *tables[2];
static u32 table_count;
static int find_tables(void **state) {
    (void)state;
    table_count = testing_tables(tables);
    return 0;
}

static TestFrame t;
static u64 seed = 42;
static u64 random_u64(void) {
    u64 z = seed += 0x9e3779b97f4a7c15ull;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ull;
    return z ^ z >> 29;
}
// Numbers of all sizes, so that carries, signs and small divisors occur.
static u64 random_size(void) { return random_u64() >> (random_u64() & 63); }

// An instruction on registers: destination 32, sources 0, 1, 2, of 32 or 64 bits as `wide` says (bit 0: destination,
// bit k+1: source k).
static SimInsn insn;
static Form form;
static ExecFn prepare(const ExecSelect *table, const char *mnemonic, u32 sources, u32 wide) {
    ExecShape shape = {.form = &form};
    assert_true(testing_form(mnemonic, &form));
    testing_insn(&form, &insn);
    insn.dst = wide & 1 ? r64_operand(32) : r32_operand(32);
    shape.dst_bits = wide & 1 ? 64 : 32;
    for (u32 k = 0; k < sources; k++) {
        insn.src[k] = wide >> (k + 1) & 1 ? r64_operand(k) : r32_operand(k);
        shape.src_bits[k] = wide >> (k + 1) & 1 ? 64 : 32;
    }
    insn.pred_src = insn.pred_dst2 = 2;  // as the lowering does for CC.CF
    testing_frame(&t);
    ExecFn fn = table[form.op](&shape, &insn);
    assert_non_null(fn);
    return fn;
}

TEST(carry_chain_adds_128_bits) {
    for (u32 k = 0; k < table_count; k++) {
        for (u32 round = 0; round < 200; round++) {
            // (r64[1] : r64[0]) + (r64[3] : r64[2]), then the difference.
            for (u32 subtract = 0; subtract < 2; subtract++) {
                ExecFn low = prepare(tables[k], subtract ? "sub.cc.u64" : "add.cc.u64", 2, 7);
                SimInsn first = insn;
                ExecFn high = prepare(tables[k], subtract ? "subc.u64" : "addc.u64", 2, 7);
                SimInsn second = insn;
                first.src[0] = r64_operand(0), first.src[1] = r64_operand(2), first.dst = r64_operand(4);
                second.src[0] = r64_operand(1), second.src[1] = r64_operand(3), second.dst = r64_operand(5);
                for (u32 r = 0; r < 4; r++)
                    for (u32 l = 0; l < LANES; l++)
                        t.r64[r][l] = random_u64() % 4 ? random_size() : 0 - random_size() % 3;
                t.pred[2] = (u32)random_u64();  // must not be read by the first
                low(&t.x, &first, FULL_MASK);
                high(&t.x, &second, FULL_MASK);
                for (u32 l = 0; l < LANES; l++) {
                    unsigned __int128 a = (unsigned __int128)t.r64[1][l] << 64 | t.r64[0][l];
                    unsigned __int128 b = (unsigned __int128)t.r64[3][l] << 64 | t.r64[2][l],
                                      r = subtract ? a - b : a + b;
                    assert_true(t.r64[4][l] == (u64)r && t.r64[5][l] == (u64)(r >> 64));
                }
            }
        }
    }
}

TEST(carry_of_mad_and_of_inactive_lanes) {
    for (u32 k = 0; k < table_count; k++) {
        ExecFn fn = prepare(tables[k], "mad.lo.cc.u32", 3, 0);
        for (u32 l = 0; l < LANES; l++)
            t.r32[0][l] = (u32)random_u64(), t.r32[1][l] = (u32)random_u64(), t.r32[2][l] = (u32)random_u64();
        t.pred[2] = 0xffff0000;
        fn(&t.x, &insn, 0x00ffff00);
        for (u32 l = 0; l < LANES; l++) {
            u64 sum = (u64)(u32)(t.r32[0][l] * t.r32[1][l]) + t.r32[2][l];
            bool active = 0x00ffff00 >> l & 1;
            assert_int_equal(t.pred[2] >> l & 1, active ? sum >> 32 : l >= 16);
            assert_int_equal(t.r32[32][l], active ? (u32)sum : 0);
        }
        fn = prepare(tables[k], "madc.hi.s64", 3, 15);
        for (u32 l = 0; l < LANES; l++)
            t.r64[0][l] = random_u64(), t.r64[1][l] = random_u64(), t.r64[2][l] = random_u64();
        t.pred[2] = 0x0f0f0f0f;
        fn(&t.x, &insn, FULL_MASK);
        assert_int_equal(t.pred[2], 0x0f0f0f0f);  // no .cc: not written
        for (u32 l = 0; l < LANES; l++) {
            u64 high = (u64)((__int128)(i64)t.r64[0][l] * (i64)t.r64[1][l] >> 64);
            assert_true(t.r64[32][l] == high + t.r64[2][l] + (0x0f0f0f0fu >> l & 1));
        }
    }
}

TEST(division_of_every_size) {
    static const char *const names[] = {"div.u32", "rem.u32", "div.s32", "rem.s32"};
    for (u32 k = 0; k < table_count; k++) {
        for (u32 n = 0; n < 4; n++) {
            ExecFn fn = prepare(tables[k], names[n], 2, 0);
            for (u32 round = 0; round < 20000; round++) {
                for (u32 l = 0; l < LANES; l++) {
                    u32 b = (u32)random_size(), q = (u32)random_size();
                    t.r32[1][l] = b ? b : 1;
                    // Around multiples of the divisor, where a rounded quotient would go wrong.
                    t.r32[0][l] = round & 1 ? (u32)random_u64() : q / (b ? b : 1) * b + (u32)(random_u64() % 3) - 1;
                }
                fn(&t.x, &insn, FULL_MASK);
                for (u32 l = 0; l < LANES; l++) {
                    u32 a = t.r32[0][l], b = t.r32[1][l];
                    i64 sa = (i32)a, sb = (i32)b;
                    u32 want = n == 0 ? a / b : n == 1 ? a % b : n == 2 ? (u32)(sa / sb) : (u32)(sa % sb);
                    assert_int_equal(t.r32[32][l], want);
                }
            }
        }
    }
}

TEST(division_never_traps) {
    static const u64 edges[] = {0, 1, UINT64_MAX, 1ull << 63, 1ull << 31, UINT32_MAX, 0xffffffff80000000ull};
    static const char *const names[] = {"div.s16", "rem.s16", "div.s32", "rem.s32",
                                        "div.s64", "rem.s64", "div.u64", "rem.u64"};
    for (u32 k = 0; k < table_count; k++) {
        for (u32 n = 0; n < WL_COUNT(names); n++) {
            bool wide = strstr(names[n], "64");
            ExecFn fn = prepare(tables[k], names[n], 2, wide ? 7 : 0);
            for (u32 i = 0; i < WL_COUNT(edges); i++) {
                for (u32 l = 0; l < LANES; l++) {
                    t.r32[0][l] = (u32)edges[i], t.r64[0][l] = edges[i];
                    t.r32[1][l] = (u32)edges[l % 7], t.r64[1][l] = edges[l % 7];
                }
                fn(&t.x, &insn, FULL_MASK);
                fn(&t.x, &insn, 0x10);
                u64 by_zero = wide ? t.r64[32][0] : (u64)(i64)(i32)t.r32[32][0];
                assert_true(by_zero == UINT64_MAX);
            }
        }
    }
}

// --- 16-bit floats ----------------------------------------------------------------------------------------------
// From the definition: sign, exponent, fraction.
static f64 half_value(u32 h, u32 mantissa, i32 bias) {
    u32 fraction = h & ((1u << mantissa) - 1), exponent = (h & 0x7fff) >> mantissa;
    if (exponent == (0x7fffu >> mantissa)) return fraction ? NAN : h & 0x8000 ? -INFINITY : INFINITY;
    f64 v = exponent ? ldexp(fraction + ldexp(1, (i32)mantissa), (i32)exponent - bias - (i32)mantissa)
                     : ldexp(fraction, 1 - bias - (i32)mantissa);
    return h & 0x8000 ? -v : v;
}
// The nearest, ties to even: by searching the ordered encodings.
static u32 nearest_half(long double v, u32 mantissa, i32 bias) {
    if (v != v) return 0x7fff;
    u32 sign = signbit(v) ? 0x8000 : 0, infinity = 0x7fffu >> mantissa << mantissa, low = 0, high = infinity;
    long double a = fabsl(v), limit = half_value(infinity - 1, mantissa, bias),
                step = limit - half_value(infinity - 2, mantissa, bias);
    if (a >= limit + step / 2) return sign | infinity;
    while (high - low > 1) {
        u32 middle = (low + high) / 2;
        if (middle < infinity && half_value(middle, mantissa, bias) <= a)
            low = middle;
        else
            high = middle;
    }
    if (low == infinity - 1) return sign | low;
    long double below = a - half_value(low, mantissa, bias), above = half_value(low + 1, mantissa, bias) - a;
    return sign | (below < above || (below == above && !(low & 1)) ? low : low + 1);
}

TEST(halves_widen_exactly) {
    for (u32 k = 0; k < table_count; k++) {
        for (u32 bfloat = 0; bfloat < 2; bfloat++) {
            ExecFn fn = prepare(tables[k], bfloat ? "cvt.f32.bf16" : "cvt.f32.f16", 1, 0);
            for (u32 h = 0; h < 65536; h += LANES) {
                for (u32 l = 0; l < LANES; l++) t.r32[0][l] = h + l;
                fn(&t.x, &insn, FULL_MASK);
                for (u32 l = 0; l < LANES; l++) {
                    f32 got, want = (f32)(bfloat ? half_value(h + l, 7, 127) : half_value(h + l, 10, 15));
                    memcpy(&got, &t.r32[32][l], 4);
                    assert_true(got == want ? signbit(got) == signbit(want) : got != got && want != want);
                }
            }
        }
    }
}

// Narrowing and arithmetic round once: against long double, whose 64 bits hold every sum of two products of halves that
// matters here.
TEST(halves_round_once) {
    static const struct {
        const char *name;
        u32 mantissa;
        i32 bias;
    } formats[] = {{"f16", 10, 15}, {"bf16", 7, 127}};
    for (u32 k = 0; k < table_count; k++) {
        for (u32 n = 0; n < 2; n++) {
            char name[32];
            u32 m = formats[n].mantissa;
            i32 bias = formats[n].bias;
            snprintf(name, sizeof name, "cvt.rn.%s.f32", formats[n].name);
            ExecFn fn = prepare(tables[k], name, 1, 0);
            for (u32 round = 0; round < 2000; round++) {
                for (u32 l = 0; l < LANES; l++) {  // near the halfway points of all magnitudes
                    f32 v = (f32)half_value((u32)random_u64() & 0x7fff, m, bias) * (1.0f + 0x1p-11f);
                    u32 bits;
                    memcpy(&bits, &v, 4);
                    t.r32[0][l] = round & 1 ? (u32)random_u64() : bits + (u32)(random_u64() % 5) - 2;
                }
                fn(&t.x, &insn, FULL_MASK);
                for (u32 l = 0; l < LANES; l++) {
                    f32 v;
                    memcpy(&v, &t.r32[0][l], 4);
                    assert_int_equal(t.r32[32][l] & 0xffff, nearest_half(v, m, bias));
                }
            }
            snprintf(name, sizeof name, "fma.rn.%s", formats[n].name);
            fn = prepare(tables[k], name, 3, 0);
            for (u32 round = 0; round < 2000; round++) {
                for (u32 r = 0; r < 3; r++)
                    for (u32 l = 0; l < LANES; l++) t.r32[r][l] = (u32)random_u64() & 0xffff;
                fn(&t.x, &insn, FULL_MASK);
                for (u32 l = 0; l < LANES; l++) {
                    long double a = half_value(t.r32[0][l], m, bias), b = half_value(t.r32[1][l], m, bias);
                    long double c = half_value(t.r32[2][l], m, bias), product = a * b, sum = product + c;
                    // Rounded to odd: cut off, with the last bit set, so that no sum becomes a tie that it is not.
                    long double part = sum - product, rest = (product - (sum - part)) + (c - part);
                    if (rest > 0 || rest < 0) {
                        if ((rest < 0) != (sum < 0)) sum = nextafterl(sum, 0);
                        u64 significand;
                        memcpy(&significand, &sum, 8);
                        significand |= 1;
                        memcpy(&sum, &significand, 8);
                    }
                    if ((t.r32[32][l] & 0xffff) != nearest_half(sum, m, bias))
                        fail_msg("%s of %x %x %x: %x, not %x", name, t.r32[0][l], t.r32[1][l], t.r32[2][l],
                                 t.r32[32][l], nearest_half(sum, m, bias));
                }
            }
        }
    }
}

// --- f32 against wider arithmetic -------------------------------------------------------------------------------
static f32 f32_at(u32 reg, u32 lane) {
    f32 v;
    return memcpy(&v, &t.r32[reg][lane], 4), v;
}
static void set_f32(u32 reg, u32 lane, f32 v) { memcpy(&t.r32[reg][lane], &v, 4); }

// The approximations' errors, as the PTX ISA states them.
TEST(approximations_keep_their_promise) {
    enum { RELATIVE, ABSOLUTE };
    static const struct {
        const char *name;
        long double (*truth)(long double);
        f32 from, to;
        f64 error;
        u32 kind;
    } cases[] = {
        {"sin.approx.f32", sinl, -3.14159f, 3.14159f, 0x1p-20, ABSOLUTE},
        {"cos.approx.f32", cosl, -3.14159f, 3.14159f, 0x1p-20, ABSOLUTE},
        {"sin.approx.f32", sinl, -300, 300, 0x1p-13, ABSOLUTE},
        {"ex2.approx.f32", exp2l, -126, 127.9f, 0x1p-22, RELATIVE},
        {"ex2.approx.ftz.f32", exp2l, -1, 1, 0x1p-22, RELATIVE},
        {"lg2.approx.f32", log2l, 0.5f, 2, 0x1p-22, ABSOLUTE},
        {"lg2.approx.f32", log2l, 2, 1e30f, 0x1p-22, RELATIVE},
        {"tanh.approx.f32", tanhl, -10, 10, 0x1p-11, RELATIVE},
        {"sqrt.approx.f32", sqrtl, 0, 1e30f, 0x1p-23, RELATIVE},
    };
    for (u32 k = 0; k < table_count; k++) {
        for (u32 n = 0; n < WL_COUNT(cases); n++) {
            ExecFn fn = prepare(tables[k], cases[n].name, 1, 0);
            for (u32 round = 0; round < 500; round++) {
                for (u32 l = 0; l < LANES; l++)
                    set_f32(0, l, cases[n].from + (cases[n].to - cases[n].from) * (f32)((f64)random_u64() * 0x1p-64));
                fn(&t.x, &insn, FULL_MASK);
                for (u32 l = 0; l < LANES; l++) {
                    long double want = cases[n].truth(f32_at(0, l)), off = fabsl(f32_at(32, l) - want);
                    if (off > cases[n].error * (cases[n].kind == RELATIVE ? fabsl(want) : 1))
                        fail_msg("%s(%a) = %a", cases[n].name, (f64)f32_at(0, l), (f64)f32_at(32, l));
                }
            }
        }
    }
}

// .ftz: what a product of 24 bits says, of any exponent, decides, not its rounding to units of 2^-149.
TEST(results_are_flushed_after_rounding) {
    static const struct {
        const char *name;
        u32 a, b, result;
    } cases[] = {
        {"mul.rn.ftz.f32", 0x3f7fffff, 0x00800000, 0},           // 2^-126 (1 - 2^-24): has 24 bits
        {"mul.rn.ftz.f32", 0x3f7ff800, 0x00800400, 0x00800000},  // 2^-126 (1 - 2^-26): rounded up
        {"mul.rz.ftz.f32", 0x3f7ff800, 0x00800400, 0},
        {"mul.rm.ftz.f32", 0xbf7fffff, 0x00800000, 0x80000000},
        {"mul.rn.f32", 0x3f7fffff, 0x00800000, 0x00800000},
        {"mul.rn.ftz.sat.f32", 0x3f7fffff, 0x00800000, 0},
        {"mul.rn.ftz.f16", 0x3bff, 0x0400, 0},  // 2^-14 (1 - 2^-11)
        {"mul.rn.f16", 0x3bff, 0x0400, 0x0400},
        {"div.rp.ftz.f32", 0x00ffffff, 0x40000000, 0},
        {"div.rp.f32", 0x00ffffff, 0x40000000, 0x00800000},
        {"div.full.ftz.f32", 0x00ffffff, 0x40000000, 0},
        {"div.approx.ftz.f32", 0x00ffffff, 0x40000000, 0},
    };
    for (u32 k = 0; k < table_count; k++) {
        for (u32 n = 0; n < WL_COUNT(cases); n++) {
            ExecFn fn = prepare(tables[k], cases[n].name, 2, 0);
            for (u32 l = 0; l < LANES; l++) t.r32[0][l] = cases[n].a, t.r32[1][l] = cases[n].b;
            fn(&t.x, &insn, FULL_MASK);
            if (t.r32[32][5] != cases[n].result) fail_msg("%s: 0x%08x", cases[n].name, t.r32[32][5]);
        }
        ExecFn fma = prepare(tables[k], "fma.rn.ftz.f32", 3, 0);
        for (u32 l = 0; l < LANES; l++) t.r32[0][l] = 0x3f7fffff, t.r32[1][l] = 0x00800000, t.r32[2][l] = 0;
        fma(&t.x, &insn, FULL_MASK);
        assert_int_equal(t.r32[32][0], 0);
        static const char *const directed[] = {"fma.rn.ftz.f32", "fma.rz.ftz.f32", "fma.rm.ftz.f32", "fma.rp.ftz.f32"};
        for (u32 n = 0; n < WL_COUNT(directed); n++) {  // 2^127 (1 - 2^-23) - 2^128 (1 - 2^-24) = -2^127
            fma = prepare(tables[k], directed[n], 3, 0);
            for (u32 l = 0; l < LANES; l++)
                t.r32[0][l] = 0xfefffffe, t.r32[1][l] = 0xbf800000, t.r32[2][l] = 0xff7fffff;
            fma(&t.x, &insn, FULL_MASK);
            assert_int_equal(t.r32[32][0], 0xff000000);
        }
        ExecFn narrow = prepare(tables[k], "cvt.rn.ftz.f32.f64", 1, 2);
        for (u32 l = 0; l < LANES; l++) t.r64[0][l] = 0x380ffffff0000000;
        narrow(&t.x, &insn, FULL_MASK);
        assert_int_equal(t.r32[32][0], 0x00800000);  // 2^-126 (1 - 2^-25), a tie
        for (u32 l = 0; l < LANES; l++) t.r64[0][l] = 0x380fffffe0000000;
        narrow(&t.x, &insn, FULL_MASK);
        assert_int_equal(t.r32[32][0], 0);
    }
}

TEST(host_rounding_mode_is_left_alone) {
    for (u32 k = 0; k < table_count; k++) {
        ExecFn fn = prepare(tables[k], "add.rp.f32", 2, 0);
        for (u32 l = 0; l < LANES; l++) set_f32(0, l, 1), set_f32(1, l, 0x1p-30f);
        fn(&t.x, &insn, FULL_MASK);
        assert_true(f32_at(32, 7) == 1 + 0x1p-23f);
        volatile f32 one = 1, tiny = 0x1p-30f;
        assert_true(one + tiny == 1);
    }
}

// cvt between registers wider than the types.
TEST(wide_registers) {
    for (u32 k = 0; k < table_count; k++) {
        ExecFn fn = prepare(tables[k], "cvt.s8.s32", 1, 3);  // r64 to r64
        for (u32 l = 0; l < LANES; l++) t.r64[0][l] = 0x1234567800000000ull | (l * 9);
        fn(&t.x, &insn, FULL_MASK);
        for (u32 l = 0; l < LANES; l++) assert_true(t.r64[32][l] == (u64)(i64)(i8)(l * 9));
        fn = prepare(tables[k], "cvt.rzi.u8.f32", 1, 1);
        for (u32 l = 0; l < LANES; l++) set_f32(0, l, (f32)l * 10 - 5);
        fn(&t.x, &insn, FULL_MASK);
        for (u32 l = 0; l < LANES; l++) assert_true(t.r64[32][l] == (l == 0 ? 0 : l * 10 - 5 > 255 ? 255 : l * 10 - 5));
        fn = prepare(tables[k], "cvt.rn.f32.s16", 1, 2);
        for (u32 l = 0; l < LANES; l++) t.r64[0][l] = 0xabcd0000 | (u16)(0 - l);
        fn(&t.x, &insn, FULL_MASK);
        for (u32 l = 0; l < LANES; l++) assert_true(f32_at(32, l) == -(f32)l);
    }
}

// --- lanes ------------------------------------------------------------------------------------------------------
TEST(lop3_gives_every_table) {
    for (u32 k = 0; k < table_count; k++) {
        ExecFn fn = prepare(tables[k], "lop3.b32", 4, 0);
        for (u32 table = 0; table < 256; table++) {
            for (u32 l = 0; l < LANES; l++) {
                for (u32 r = 0; r < 3; r++) t.r32[r][l] = (u32)random_u64();
                t.r32[3][l] = table;
            }
            fn(&t.x, &insn, FULL_MASK);
            for (u32 l = 0; l < LANES; l++) {
                u32 want = 0;
                for (u32 bit = 0; bit < 32; bit++) {
                    u32 index =
                        (t.r32[0][l] >> bit & 1) << 2 | (t.r32[1][l] >> bit & 1) << 1 | (t.r32[2][l] >> bit & 1);
                    want |= (table >> index & 1) << bit;
                }
                assert_int_equal(t.r32[32][l], want);
            }
        }
    }
}

// Lanes that diverged: only those here take part; two groups with masks of their own may meet.
TEST(votes_among_the_lanes_present) {
    for (u32 k = 0; k < table_count; k++) {
        ExecFn fn = prepare(tables[k], "vote.sync.ballot.b32", 0, 0);
        insn.pred_src = 3;
        insn.src[3] = r32_operand(0);
        t.pred[3] = 0xf0f0f0f0;
        for (u32 l = 0; l < LANES; l++) t.r32[0][l] = 0x0000ffff;
        fn(&t.x, &insn, 0x0000ffff);
        assert_int_equal(t.r32[32][3], 0x0000f0f0);
        assert_int_equal(t.r32[32][16], 0);
        fn = prepare(tables[k], "vote.sync.all.pred", 0, 0);
        insn.dst = SIM_NO_OPERAND;
        insn.pred_dst = 4, insn.pred_dst2 = WL_NONE, insn.pred_src = 3, insn.src[3] = r32_operand(0);
        t.pred[3] = 0xffff0000;
        for (u32 l = 0; l < LANES; l++) t.r32[0][l] = l < 16 ? 0x0000ffff : 0xffff0000;
        fn(&t.x, &insn, FULL_MASK);
        assert_int_equal(t.pred[4], 0xffff0000);
        fn = prepare(tables[k], "redux.sync.min.s32", 1, 0);
        insn.src[3] = r32_operand(1);
        for (u32 l = 0; l < LANES; l++) t.r32[0][l] = 0 - l, t.r32[1][l] = 0xff;
        fn(&t.x, &insn, 0xff);
        assert_int_equal((i32)t.r32[32][0], -7);
        assert_int_equal(t.r32[32][8], 0);
        fn = prepare(tables[k], "elect.sync", 0, 0);
        insn.pred_dst = 4, insn.pred_dst2 = WL_NONE, insn.src[3] = r32_operand(1);
        for (u32 l = 0; l < LANES; l++) t.r32[1][l] = 0xf8;
        fn(&t.x, &insn, 0xf8);
        assert_int_equal(t.pred[4], 8);
        assert_int_equal(t.r32[32][7], 3);
    }
}

// A lane that is not here gives 0 (measured on an H200): 8 lanes reduce with distances 16 and 8 too, as in NVIDIA's
// reduction sample.
TEST(shuffles_from_absent_lanes_give_zero) {
    for (u32 k = 0; k < table_count; k++) {
        ExecFn fn = prepare(tables[k], "shfl.sync.down.b32", 4, 0);
        for (u32 l = 0; l < LANES; l++) t.r32[0][l] = 100 + l, t.r32[1][l] = 16, t.r32[2][l] = 31, t.r32[3][l] = 0xff;
        fn(&t.x, &insn, 0xff);
        for (u32 l = 0; l < 8; l++) assert_int_equal(t.r32[32][l], 0);
        for (u32 l = 0; l < LANES; l++) t.r32[1][l] = 3;
        fn(&t.x, &insn, 0xff);
        for (u32 l = 0; l < 8; l++) assert_int_equal(t.r32[32][l], l < 5 ? 103 + l : 0);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(carry_chain_adds_128_bits),
        cmocka_unit_test(carry_of_mad_and_of_inactive_lanes),
        cmocka_unit_test(division_of_every_size),
        cmocka_unit_test(division_never_traps),
        cmocka_unit_test(halves_widen_exactly),
        cmocka_unit_test(halves_round_once),
        cmocka_unit_test(approximations_keep_their_promise),
        cmocka_unit_test(results_are_flushed_after_rounding),
        cmocka_unit_test(host_rounding_mode_is_left_alone),
        cmocka_unit_test(wide_registers),
        cmocka_unit_test(lop3_gives_every_table),
        cmocka_unit_test(votes_among_the_lanes_present),
        cmocka_unit_test(shuffles_from_absent_lanes_give_zero),
    };
    return cmocka_run_group_tests(tests, find_tables, NULL);
}
