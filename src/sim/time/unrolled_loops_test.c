// SPDX-License-Identifier: Apache-2.0
// What a warp issues for an unrolled loop whose number of turns is not known when it is compiled, against the way
// through what ptxas 13.0 makes of the same PTX for sm_90: four turns at once, then two, then one.
#include "sim/device_testing.h"
#include "sim/machine.h"
#include "sim/time/time.h"

enum { MOST_TURNS = 23 };

// Instructions of the parts of ptxas' listing.
typedef struct Listing {
    u32 around;     // before the loop, behind it, and asking how much is left
    u32 begin;      // before the first four turns at once
    u32 four, two;  // turns at once
    u32 one;        // the last
} Listing;

#define HEAD                                                                                                         \
    "(.param .u64 a, .param .u64 b, .param .u32 n) {\n.reg .b64 %rd<9>;\n.reg .b32 %r<4>;\n.reg .f32 %f<3>;\n.reg "  \
    ".pred %p<3>;\nld.param.u64 %rd1, [a];\nld.param.u64 %rd2, [b];\nld.param.u32 %r1, [n];\nmov.u32 %r2, %tid.x;\n" \
    "mul.wide.u32 %rd3, %r2, 4;\nadd.s64 %rd4, %rd1, %rd3;\nadd.s64 %rd5, %rd2, %rd3;\nmov.f32 %f1, 0f00000000;\n"   \
    "setp.lt.s32 %p1, %r1, 1;\n@%p1 bra OVER;\n"
#define TAIL "OVER:\nst.global.f32 [%rd5], %f1;\nret;\n}\n"

static const char kernels[] = PTX_HEAD
    ".visible .entry down" HEAD "mov.u32 %r3, %r1;\nTURN:\nld.global.f32 %f2, [%rd4];\nadd.f32 %f1, %f1, %f2;\n"
    "add.s64 %rd4, %rd4, 4;\nadd.s32 %r3, %r3, -1;\nsetp.ne.s32 %p2, %r3, 0;\n@%p2 bra TURN;\n" TAIL
    ".visible .entry up" HEAD "mov.u32 %r3, 0;\nTURN:\nld.global.f32 %f2, [%rd4];\nadd.f32 %f1, %f1, %f2;\n"
    "add.s64 %rd4, %rd4, 4;\nadd.s32 %r3, %r3, 1;\nsetp.lt.s32 %p2, %r3, %r1;\n@%p2 bra TURN;\n" TAIL
    // Each turn's index becomes an address: 32 bits may wrap around, so it is no offset of the first turn's.
    ".visible .entry index" HEAD "mov.u32 %r3, 0;\nTURN:\nmul.wide.s32 %rd7, %r3, 4;\nadd.s64 %rd8, %rd4, %rd7;\n"
    "ld.global.f32 %f2, [%rd8];\nadd.f32 %f1, %f1, %f2;\nadd.s32 %r3, %r3, 1;\nsetp.lt.s32 %p2, %r3, %r1;\n"
    "@%p2 bra TURN;\n" TAIL
    // Lanes have turns of their own: the lower four bits, and those of their number that the others say.
    ".visible .entry parted" HEAD "shr.u32 %r3, %r1, 4;\nand.b32 %r3, %r3, %r2;\nand.b32 %r1, %r1, 15;\n"
    "add.s32 %r1, %r1, %r3;\nmov.u32 %r3, 0;\nTURN:\nld.global.f32 %f2, [%rd4];\nadd.f32 %f1, %f1, %f2;\n"
    "add.s64 %rd4, %rd4, 4;\nadd.s32 %r3, %r3, 1;\nsetp.lt.s32 %p2, %r3, %r1;\n@%p2 bra TURN;\n" TAIL;

static u64 issued(const TestDevice *d) {
    u64 sum = 0;
    for (u32 sm = 0; d->sim->machines[0] && sm < time_sms(d->sim->machines[0]); sm++)
        sum += time_sm_counters(d->sim->machines[0], sm)[SMC_ISSUED];
    return sum;
}

static u64 play(TestDevice *d, const char *kernel, u32 turns) {
    SimKernel *k;
    u64 params[] = {device_memory(d, NULL, 1 << 12), device_memory(d, NULL, 1 << 12), turns};
    u64 before = issued(d);
    SimLaunchResult result = {0};
    assert_int_equal(sim_find_kernel(d->sim, d->module, kernel, &k), STATUS_OK);
    SimLaunch launch = {.kernel = k, .grid = {1, 1, 1}, .block = {32, 1, 1}, .params = params};
    assert_int_equal(sim_launch(d->sim, &launch, &result, &d->diag), STATUS_OK);
    return issued(d) - before;
}

// Seven more; two less for each part: moves of addresses that ptxas makes of pairs of registers, and the comparison of
// the last turn.
static void expect_turns(const char *kernel, Listing ptxas) {
    TestDevice d = {0};
    device_open_with(&d, kernels, (SimConfig){.threads = 1, .timing = true});
    for (u32 turns = 1; turns <= MOST_TURNS; turns++) {
        u32 fours = turns / 4, parts = fours + (turns & 2) / 2 + (turns & 1),
            expected = ptxas.around + (fours ? ptxas.begin : 0) + fours * ptxas.four + (turns & 2 ? ptxas.two : 0) +
                       (turns & 1 ? ptxas.one : 0);
        u64 ours = play(&d, kernel, turns);
        print_message("%s, %u turns: %llu, ptxas %u\n", kernel, turns, (unsigned long long)ours, expected);
        assert_true(ours <= expected + 7 && ours + 4 + 2 * parts >= expected);
    }
    device_close(&d);
}

TEST(turns_cost_what_ptxas_makes_of_them) {
    expect_turns("down", (Listing){.around = 26, .begin = 1, .four = 15, .two = 10, .one = 9});
    expect_turns("up", (Listing){.around = 26, .begin = 2, .four = 15, .two = 10, .one = 2});
    expect_turns("index", (Listing){.around = 22, .begin = 2, .four = 18, .two = 9, .one = 3});
}

// Four turns at once are of the lanes that have so many left; the others wait, and have two and one when those are done
// (BSSY around four turns at once, two and one, each): as if the whole warp had turns of all these kinds, but that
// groups of lanes come to where they meet one by one.
TEST(lanes_with_turns_of_their_own_have_what_is_left_behind_the_others) {
    TestDevice d = {0};
    device_open_with(&d, kernels, (SimConfig){.threads = 1, .timing = true});
    static const struct {
        u32 turns, others, like;
    } rows[] = {{4, 1, 5}, {4, 2, 6}, {4, 3, 7}, {5, 1, 7}, {7, 1, 11}, {8, 3, 11}, {1, 2, 3}, {2, 1, 3}};
    for (u32 i = 0; i < WL_COUNT(rows); i++) {
        u64 parted = play(&d, "parted", rows[i].turns | rows[i].others << 4), whole = play(&d, "parted", rows[i].like);
        print_message("%u turns and %u more: %llu, as many as %u: %llu\n", rows[i].turns, rows[i].others,
                      (unsigned long long)parted, rows[i].like, (unsigned long long)whole);
        assert_true(parted >= whole && parted <= whole + 4);
    }
    device_close(&d);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(turns_cost_what_ptxas_makes_of_them),
        cmocka_unit_test(lanes_with_turns_of_their_own_have_what_is_left_behind_the_others),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
