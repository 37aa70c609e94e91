// SPDX-License-Identifier: Apache-2.0
// Two CTAs of a cluster on gpus/h200.gpu, against what an H200 takes (2026-11-23): bench/hwref/h200-cluster.tsv; the
// same loops as bench/micro/cluster.cu, of one thread.
#include "sim/time/loop_testing.h"

enum { TURNS = 64 };

#define HEAD                                                                                                       \
    ".version 9.0\n.target sm_90a\n.address_size 64\n.visible .entry loop(.param .u64 out, .param .u32 turns) {\n" \
    ".reg .b64 %rd<16>;\n.reg .b32 %r<32>;\n.reg .pred %p<5>;\n.reg .b16 %h<2>;\n"                                 \
    ".shared .align 8 .b64 bar;\n.shared .align 128 .b8 buffer[8192];\n"                                           \
    "ld.param.u64 %rd1, [out];\nld.param.u32 %r1, [turns];\nmov.u32 %r2, %cluster_ctarank;\nmov.u32 %r3, bar;\n"   \
    "setp.eq.u32 %p2, %r2, 0;\nmbarrier.init.shared::cta.b64 [%r3], 1;\nfence.mbarrier_init.release.cluster;\n"    \
    "mov.u32 %r4, buffer;\nxor.b32 %r5, %r2, 1;\nmapa.shared::cluster.u32 %r6, %r3, %r5;\nmov.u32 %r8, 0;\n"       \
    "mov.u16 %h1, 3;\n" MEET "mov.u64 %rd6, %clock64;\nTURN:\n.pragma \"nounroll\";\nand.b32 %r9, %r8, 1;\n"
#define MEET "barrier.cluster.arrive.aligned;\nbarrier.cluster.wait.aligned;\n"
#define WAIT(label) label ":\nmbarrier.try_wait.parity.shared::cta.b64 %p3, [%r3], %r9;\n@!%p3 bra " label ";\n"
#define TAIL                                                                                      \
    "add.u32 %r8, %r8, 1;\nsetp.lt.u32 %p1, %r8, %r1;\n@%p1 bra TURN;\nmov.u64 %rd8, %clock64;\n" \
    "sub.s64 %rd8, %rd8, %rd6;\n@%p2 st.global.u64 [%rd1], %rd8;\n" MEET "ret;\n}\n"
// One CTA arrives, the other waits, and then in turn.
#define IN_TURNS(sem)                                                                          \
    HEAD "@%p2 mbarrier.arrive." sem                                                           \
         ".cluster.shared::cluster.b64 _, [%r6];\n" WAIT("HEARD") "@!%p2 mbarrier.arrive." sem \
                                                                  ".cluster.shared::cluster.b64 _, [%r6];\n" TAIL

// Cycles of a turn of the first CTA; of the second launch, which finds its code and data.
static double play(const char *text) {
    return (double)loop_cycles(&(LoopTest){.text = text,
                                           .kernel = "loop",
                                           .cluster = 2,
                                           .threads = 1,
                                           .launches = 2,
                                           .bytes = 65536,
                                           .values = {TURNS}}) /
           TURNS;
}

static void expect(const char *name, double cycles, double h200, double least, double most) {
    print_message("%-16s %7.1f, an H200 %7.1f\n", name, cycles, h200);
    if (cycles < h200 * least || cycles > h200 * most) fail_msg("%s: %g, an H200 %g", name, cycles, h200);
}

TEST(barriers_of_a_cluster) {
    expect("release", play(HEAD MEET TAIL), 373.8, 0.85, 1.15);
    expect("relaxed", play(HEAD "barrier.cluster.arrive.relaxed.aligned;\nbarrier.cluster.wait.aligned;\n" TAIL), 110,
           0.85, 1.2);
}

// The other CTA's arrival is heard as soon as it is made, on an H200 some 80 cycles later: a third of its time, or with
// a fence three quarters, and not a multiple of it.
TEST(arrivals_at_another_ctas_mbarrier) {
    expect("turns, release", play(IN_TURNS("release")), 862, 0.6, 1.1);
    expect("turns, relaxed", play(IN_TURNS("relaxed")), 324, 0.25, 1.1);
}

// Eight loads of the other CTA's memory, each of the address that the one before gives.
#define LOAD "ld.shared::cluster.u32 %r10, [%r11+64];\nadd.s32 %r11, %r11, %r10;\n"
#define OTHER "mapa.shared::cluster.u32 %r11, %r4, %r5;\n"
#define EIGHT(what) what what what what what what what what
TEST(memory_of_another_cta) {
    double turn = play(HEAD OTHER "st.shared.u32 [%r4+64], 0;\n" TAIL);
    double loads = play(HEAD OTHER "st.shared.u32 [%r4+64], 0;\n" EIGHT(LOAD) "st.shared.u32 [%r4+128], %r11;\n" TAIL);
    expect("chain of loads", (loads - turn) / 8, 203.9, 0.85, 1.1);
}

// From global memory, for both CTAs: the own mbarrier hears of it when it has come. A turn has two barriers besides.
TEST(copies_for_several_ctas) {
    double turn = play(HEAD "mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r3], 8192;\n" MEET
                            "@%p2 cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster "
                            "[%r4], [%rd1+16384], 8192, [%r3], %h1;\n" WAIT("THERE") MEET TAIL);
    expect("multicast", turn - 2 * play(HEAD MEET TAIL), 539, 0.7, 1.2);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(barriers_of_a_cluster),
        cmocka_unit_test(arrivals_at_another_ctas_mbarrier),
        cmocka_unit_test(memory_of_another_cta),
        cmocka_unit_test(copies_for_several_ctas),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
