// SPDX-License-Identifier: Apache-2.0
// What SMs execute by themselves, ahead of the front's order (front.c): nothing shows of it, in results, cycles,
// faults, on any number of threads.
#include "sim/device_testing.h"
#include "sim/machine.h"

// race: blocks read and write the same words and count in others, so what they find depends on the order of all of it.
// own: threads whose ways part for long, shared memory, a barrier; nobody reads what another block writes.
// wild: the thread 70 of block 9 reads where nothing is, after a load that is in bounds.
static const char kernels[] = PTX_HEAD
    ".visible .entry race(.param .u64 in, .param .u64 out) {\n.reg .b64 %rd<8>;\n.reg .b32 %r<16>;\n.reg .pred %p<4>;\n"
    ".shared .align 4 .b32 words[128];\n"
    "ld.param.u64 %rd1, [in];\nld.param.u64 %rd2, [out];\nmov.u32 %r1, %tid.x;\nmov.u32 %r2, %ctaid.x;\n"
    "mov.u32 %r3, %ntid.x;\nmad.lo.u32 %r4, %r2, %r3, %r1;\nmov.u32 %r5, 0;\nmov.u32 %r6, %r4;\n"
    "AGAIN:\nmad.lo.u32 %r7, %r5, 37, %r4;\nand.b32 %r7, %r7, 1023;\nmul.wide.u32 %rd3, %r7, 4;\n"
    "add.s64 %rd4, %rd2, %rd3;\nld.global.u32 %r8, [%rd4];\nadd.s64 %rd5, %rd1, %rd3;\nld.global.u32 %r9, [%rd5];\n"
    "mad.lo.u32 %r6, %r6, 5, %r8;\nadd.u32 %r6, %r6, %r9;\nand.b32 %r10, %r6, 3;\nsetp.ne.u32 %p1, %r10, 1;\n"
    "@%p1 bra NO;\nst.global.u32 [%rd4+64], %r6;\nNO:\nand.b32 %r10, %r6, 31;\nsetp.ne.u32 %p1, %r10, 7;\n"
    "@%p1 bra NONE;\natom.global.add.u32 %r11, [%rd2+4224], 1;\nxor.b32 %r6, %r6, %r11;\n"
    "red.global.add.u32 [%rd1+4096], 1;\nNONE:\n"
    "bar.sync 0;\nadd.u32 %r5, %r5, 1;\nsetp.lt.u32 %p2, %r5, 10;\n@%p2 bra AGAIN;\n"
    "mul.wide.u32 %rd6, %r4, 4;\nadd.s64 %rd6, %rd2, %rd6;\nst.global.u32 [%rd6+8192], %r6;\nret;\n}\n"
    ".visible .entry own(.param .u64 in, .param .u64 out) {\n.reg .b64 %rd<8>;\n.reg .b32 %r<16>;\n.reg .pred %p<4>;\n"
    ".shared .align 4 .b32 words[128];\n"
    "ld.param.u64 %rd1, [in];\nld.param.u64 %rd2, [out];\nmov.u32 %r1, %tid.x;\nmov.u32 %r2, %ctaid.x;\n"
    "mov.u32 %r3, %ntid.x;\nmad.lo.u32 %r4, %r2, %r3, %r1;\nmul.lo.u32 %r5, %r1, 29;\nand.b32 %r5, %r5, 63;\n"
    "mov.u32 %r6, %r4;\nmov.u32 %r12, words;\nshl.b32 %r13, %r1, 2;\nadd.u32 %r12, %r12, %r13;\n"
    "LOOP:\nand.b32 %r7, %r6, 1023;\nmul.wide.u32 %rd3, %r7, 4;\nadd.s64 %rd4, %rd1, %rd3;\n"
    "and.b32 %r8, %r6, 1;\nsetp.eq.u32 %p1, %r8, 0;\n@%p1 bra EVEN;\nld.global.u32 %r9, [%rd4];\n"
    "mad.lo.u32 %r6, %r6, 3, %r9;\nbra.uni JOIN;\nEVEN:\nshr.u32 %r6, %r6, 1;\nadd.u32 %r6, %r6, 77;\nJOIN:\n"
    "st.shared.u32 [%r12], %r6;\nadd.u32 %r5, %r5, -1;\nsetp.gt.s32 %p2, %r5, 0;\n@%p2 bra LOOP;\n"
    "bar.sync 0;\nxor.b32 %r14, %r13, 4;\nmov.u32 %r15, words;\nadd.u32 %r15, %r15, %r14;\nld.shared.u32 %r10, "
    "[%r15];\n"
    "add.u32 %r6, %r6, %r10;\nmul.wide.u32 %rd6, %r4, 4;\nadd.s64 %rd6, %rd2, %rd6;\nst.global.u32 [%rd6], "
    "%r6;\nret;\n}\n"
    ".visible .entry wild(.param .u64 in, .param .u64 out) {\n.reg .b64 %rd<8>;\n.reg .b32 %r<8>;\n.reg .pred %p<3>;\n"
    "ld.param.u64 %rd1, [in];\nld.param.u64 %rd2, [out];\nmov.u32 %r1, %tid.x;\nmov.u32 %r2, %ctaid.x;\n"
    "ld.global.u32 %r3, [%rd1];\nsetp.eq.u32 %p1, %r2, 9;\nsetp.eq.and.u32 %p1, %r1, 70, %p1;\nmov.u64 %rd3, %rd1;\n"
    "@%p1 add.s64 %rd3, %rd1, 16777216;\nld.global.u32 %r4, [%rd3];\nst.global.u32 [%rd2], %r4;\nret;\n}\n";

enum { WORDS = 65536 };

typedef struct Timed {
    TestDevice d;
    struct {
        DevicePtr in, out;
    } params;
} Timed;

static void open_timed(Timed *t, u32 threads) {
    memset(t, 0, sizeof *t);
    device_open_with(&t->d, kernels, (SimConfig){.threads = threads, .timing = true});
    static u32 words[WORDS];
    for (u32 i = 0; i < WORDS; i++) words[i] = i * 2654435761u;
    t->params.in = device_memory(&t->d, words, sizeof words);
    t->params.out = device_memory(&t->d, words, sizeof words);
}

typedef struct Outcome {
    Status status;
    u64 cycles, warp_insts, thread_insts;
    u32 in[2048], out[WORDS];
} Outcome;

static void run(Timed *t, const char *name, u32 ctas, bool apart, Outcome *o) {
    memset(o, 0, sizeof *o);
    SimKernel *kernel;
    SimKernelInfo info;
    assert_int_equal(sim_find_kernel(t->d.sim, t->d.module, name, &kernel), STATUS_OK);
    assert_int_equal(sim_kernel_prepare(t->d.sim, kernel, &info, &t->d.diag), STATUS_OK);
    assert_true(kernel->program->apart);
    kernel->program->apart = apart;
    SimLaunch launch = {.kernel = kernel, .grid = {ctas, 1, 1}, .block = {96, 1, 1}, .params = &t->params};
    SimLaunchResult result = {0};
    o->status = sim_launch(t->d.sim, &launch, &result, &t->d.diag);
    o->cycles = result.cycles;
    o->warp_insts = result.warp_insts;
    o->thread_insts = result.thread_insts;
    memcpy(o->in, device_view(&t->d, t->params.in, sizeof o->in), sizeof o->in);
    memcpy(o->out, device_view(&t->d, t->params.out, sizeof o->out), sizeof o->out);
    kernel->program->apart = true;
}

static void assert_same(const Outcome *a, const Outcome *b) {
    assert_int_equal(a->status, b->status);
    assert_int_equal(a->cycles, b->cycles);
    assert_int_equal(a->warp_insts, b->warp_insts);
    assert_int_equal(a->thread_insts, b->thread_insts);
    assert_memory_equal(a->in, b->in, sizeof a->in);
    assert_memory_equal(a->out, b->out, sizeof a->out);
}

// Twice in a row: the second time other allocations count as written to, and the caches are warm.
TEST(racing_blocks_find_the_same_on_any_number_of_threads) {
    static Outcome first[2], other;
    for (u32 threads = 1; threads <= 3; threads++) {
        Timed t;
        open_timed(&t, threads);
        for (u32 i = 0; i < 2; i++) {
            run(&t, "race", 150, true, threads == 1 ? &first[i] : &other);
            assert_int_equal(first[i].status, STATUS_OK);
            if (threads > 1) assert_same(&first[i], &other);
        }
        device_close(&t.d);
    }
}

TEST(executed_ahead_or_in_order_is_the_same) {
    static const struct {
        const char *kernel;
        u32 ctas;
    } cases[] = {{"own", 150}, {"race", 1}};  // alone, a block races with nobody
    static Outcome in_order, ahead;
    for (u32 i = 0; i < 2 * WL_COUNT(cases); i++) {
        Timed t;
        open_timed(&t, i % 2 + 1);
        run(&t, cases[i / 2].kernel, cases[i / 2].ctas, false, &in_order);
        device_close(&t.d);
        open_timed(&t, i % 2 + 1);
        run(&t, cases[i / 2].kernel, cases[i / 2].ctas, true, &ahead);
        assert_int_equal(ahead.status, STATUS_OK);
        assert_same(&in_order, &ahead);
        device_close(&t.d);
    }
}

TEST(a_fault_ahead_is_told_in_its_turn) {
    static Outcome o;
    char first[4096] = "", line[4096];
    for (u32 i = 0; i < 4; i++) {
        Timed t;
        open_timed(&t, i % 2 + 1);
        run(&t, "wild", 150, i < 2, &o);
        assert_int_equal(o.status, STATUS_FAULT);
        assert_int_equal(t.d.diag.entries.len, 1);
        diag_format(&t.d.diag.entries.data[0], line, sizeof line);
        assert_non_null(strstr(line, "(70,0,0)"));
        assert_non_null(strstr(line, "(9,0,0)"));
        if (i == 0) strcpy(first, line);
        assert_string_equal(line, first);
        run(&t, "own", 150, true, &o);  // the machine takes the next kernel as if nothing had been
        assert_int_equal(o.status, STATUS_OK);
        device_close(&t.d);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(racing_blocks_find_the_same_on_any_number_of_threads),
                                       cmocka_unit_test(executed_ahead_or_in_order_is_the_same),
                                       cmocka_unit_test(a_fault_ahead_is_told_in_its_turn)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
