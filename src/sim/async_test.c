// SPDX-License-Identifier: Apache-2.0
// cp.async, mbarrier, ldmatrix and stmatrix, and the odd instructions of device_misc.c, in kernels.
#include "sim/device_testing.h"

#define ENTRY                                                                                                         \
    ".visible .entry run(.param .u64 in, .param .u64 out) {\n"                                                        \
    "  .reg .b64 %d<20>; .reg .b32 %r<30>; .reg .pred %p<9>;\n"                                                       \
    "  .shared .align 16 .b8 space[2048]; .shared .align 8 .b64 bar;\n"                                               \
    "  ld.param.u64 %d1, [in]; ld.param.u64 %d2, [out]; mov.u32 %r1, %tid.x; mov.u32 %r2, space; mov.u32 %r3, bar;\n" \
    "  mul.wide.u32 %d3, %r1, 16; add.u64 %d4, %d1, %d3; add.u64 %d5, %d2, %d3; mad.lo.u32 %r4, %r1, 16, %r2;\n"
#define END "  ret;\n}\n"

typedef struct Run {
    TestDevice d;
    u32 in[256 * 4], out[256 * 4];  // 16 bytes a thread
} Run;

static Status run_try(Run *r, const char *body, u32 threads) {
    char ptx[8192];
    for (u32 i = 0; i < WL_COUNT(r->in); i++) r->in[i] = i * 2654435761u;
    snprintf(ptx, sizeof ptx, "%s%s%s%s", PTX_HEAD, ENTRY, body, END);
    device_open(&r->d, ptx);
    struct {
        u64 in, out;
    } params = {device_memory(&r->d, r->in, sizeof r->in), device_memory(&r->d, NULL, sizeof r->out)};
    Status status = device_try(&r->d, "run", 1, threads, &params);
    memcpy(r->out, device_view(&r->d, params.out, sizeof r->out), sizeof r->out);
    if (status != STATUS_OK && status != STATUS_FAULT) device_show(&r->d);
    device_close(&r->d);
    return status;
}

static void run(Run *r, const char *body, u32 threads) { assert_int_equal(run_try(r, body, threads), STATUS_OK); }

#define COPY_BACK                                                                                       \
    "cp.async.commit_group; cp.async.wait_group 0; ld.shared.v4.u32 {%r10, %r11, %r12, %r13}, [%r4];\n" \
    "st.global.v4.u32 [%d5], {%r10, %r11, %r12, %r13};\n"

TEST(copies) {
    static Run r;
    run(&r, "cp.async.cg.shared.global [%r4], [%d4], 16;\n" COPY_BACK, 64);
    assert_memory_equal(r.out, r.in, 64 * 16);
    run(&r, "cp.async.ca.shared.global [%r4], [%d4], 8; cp.async.ca.shared.global [%r4+8], [%d4+12], 4;\n" COPY_BACK,
        64);
    for (u32 t = 0; t < 64; t++) {
        assert_memory_equal(&r.out[4 * t], &r.in[4 * t], 8);
        assert_int_equal(r.out[4 * t + 2], r.in[4 * t + 3]);
    }
}

TEST(copies_fill_with_zeros) {
    static Run r;
    run(&r, "and.b32 %r5, %r1, 15; cp.async.cg.shared.global [%r4], [%d4], 16, %r5;\n" COPY_BACK, 64);
    for (u32 t = 0; t < 64; t++) {
        u8 wanted[16] = {0};
        memcpy(wanted, &r.in[4 * t], t & 15);
        assert_memory_equal(&r.out[4 * t], wanted, 16);
    }
    run(&r, "setp.lt.u32 %p1, %r1, 5; cp.async.cg.shared.global [%r4], [%d4], 16, %p1;\n" COPY_BACK, 32);
    for (u32 t = 0; t < 32; t++)
        if (t < 5)
            assert_int_equal(r.out[4 * t] | r.out[4 * t + 3], 0);
        else
            assert_memory_equal(&r.out[4 * t], &r.in[4 * t], 16);
}

TEST(copies_fault) {
    static Run r;
    assert_int_equal(run_try(&r, "cp.async.cg.shared.global [%r4+8], [%d4], 16;\n" COPY_BACK, 32), STATUS_FAULT);
    assert_int_equal(run_try(&r, "cp.async.cg.shared.global [%r4], [%d4+4], 16;\n" COPY_BACK, 32), STATUS_FAULT);
    assert_int_equal(run_try(&r, "mov.u64 %d4, 64; cp.async.cg.shared.global [%r4], [%d4], 16;\n" COPY_BACK, 32),
                     STATUS_FAULT);
    // What is not read need not exist.
    assert_int_equal(run_try(&r, "mov.u64 %d4, 64; cp.async.cg.shared.global [%r4], [%d4], 16, 0;\n" COPY_BACK, 32),
                     STATUS_OK);
}

// --- mbarrier ------------------------------------------------------------------------------------------------------
#define INIT(count) "setp.ne.u32 %p1, %r1, 0; @!%p1 mbarrier.init.shared.b64 [%r3], " #count "; bar.sync 0;\n"
#define WAIT(label) label ": mbarrier.try_wait.shared.b64 %p2, [%r3], %d10; @!%p2 bra " label ";\n"

// Every thread writes, arrives, waits for all and reads its neighbour's value in another warp; three phases.
TEST(arrive_and_wait) {
    static Run r;
    run(&r,
        INIT(96) "mov.u32 %r20, 0; mov.u32 %r21, 0; add.u32 %r22, %r1, 33; rem.u32 %r22, %r22, 96; mad.lo.u32 %r22, "
                 "%r22, 16, %r2;\n"
                 "again: add.u32 %r23, %r1, %r20; st.shared.u32 [%r4], %r23;\n"
                 "mbarrier.arrive.shared.b64 %d10, [%r3];\n" WAIT(
                     "first") "ld.shared.u32 %r24, [%r22]; add.u32 %r21, %r21, %r24;\n"
                              "mbarrier.arrive.shared.b64 %d10, [%r3];\n" WAIT(
                                  "second") "add.u32 %r20, %r20, 1; setp.lt.u32 %p3, %r20, 3; @%p3 bra again;\n"
                                            "st.global.u32 [%d5], %r21;\n",
        96);
    for (u32 t = 0; t < 96; t++) assert_int_equal(r.out[4 * t], 3 * ((t + 33) % 96) + 3);
}

// out: pending counts of the states, then whether phases are over.
TEST(counts_and_parity) {
    static Run r;
    run(&r,
        INIT(5) "@%p1 ret;\n"
                "mbarrier.arrive.shared.b64 %d10, [%r3]; mbarrier.arrive.noComplete.shared.b64 %d11, [%r3], 2;\n"
                "mbarrier.pending_count.b64 %r10, %d10; mbarrier.pending_count.b64 %r11, %d11; st.global.v2.u32 [%d2], "
                "{%r10, %r11};\n"
                "mbarrier.test_wait.parity.shared.b64 %p2, [%r3], 0; selp.u32 %r12, 1, 0, %p2;\n"
                "mbarrier.test_wait.parity.shared.b64 %p2, [%r3], 1; selp.u32 %r13, 1, 0, %p2; st.global.v2.u32 "
                "[%d2+8], {%r12, %r13};\n"
                "mbarrier.arrive_drop.shared.b64 _, [%r3]; mbarrier.arrive.shared.b64 _, [%r3];\n"  // the phase is
                                                                                                    // over, the next
                                                                                                    // waits for 4
                "mbarrier.test_wait.shared.b64 %p2, [%r3], %d10; selp.u32 %r12, 1, 0, %p2;\n"
                "mbarrier.test_wait.parity.shared.b64 %p2, [%r3], 0; selp.u32 %r13, 1, 0, %p2; st.global.v2.u32 "
                "[%d2+16], {%r12, %r13};\n"
                "mbarrier.arrive.shared.b64 %d12, [%r3], 4; mbarrier.pending_count.b64 %r14, %d12;\n"
                "mbarrier.test_wait.parity.shared.b64 %p2, [%r3], 1; selp.u32 %r15, 1, 0, %p2; st.global.v2.u32 "
                "[%d2+24], {%r14, %r15};\n"
                "mbarrier.inval.shared.b64 [%r3];\n",
        32);
    static const u32 wanted[8] = {5, 4, 0, 1, 1, 1, 4, 1};
    assert_memory_equal(r.out, wanted, sizeof wanted);
}

TEST(transactions) {
    static Run r;
    run(&r,
        INIT(2) "@%p1 ret;\n"
                "mbarrier.arrive.expect_tx.shared.b64 %d10, [%r3], 64; mbarrier.expect_tx.relaxed.cta.shared.b64 "
                "[%r3], 16;\n"
                "mbarrier.arrive.shared.b64 _, [%r3]; mbarrier.test_wait.shared.b64 %p2, [%r3], %d10; selp.u32 %r10, "
                "1, 0, %p2;\n"
                "mbarrier.complete_tx.relaxed.cta.shared.b64 [%r3], 64; mbarrier.test_wait.shared.b64 %p2, [%r3], "
                "%d10; selp.u32 %r11, 1, 0, %p2;\n"
                "mbarrier.complete_tx.relaxed.cta.shared.b64 [%r3], 16; mbarrier.test_wait.shared.b64 %p2, [%r3], "
                "%d10; selp.u32 %r12, 1, 0, %p2;\n"
                "st.global.v2.u32 [%d2], {%r10, %r11}; st.global.u32 [%d2+8], %r12;\n",
        32);
    static const u32 wanted[3] = {0, 0, 1};
    assert_memory_equal(r.out, wanted, sizeof wanted);
}

TEST(copies_arrive) {
    static Run r;
    run(&r,
        INIT(64) "cp.async.ca.shared.global [%r4], [%d4], 16; cp.async.mbarrier.arrive.noinc.shared.b64 [%r3];\n"
                 "wait: mbarrier.try_wait.parity.shared.b64 %p2, [%r3], 0; @!%p2 bra wait;\n" COPY_BACK,
        64);
    assert_memory_equal(r.out, r.in, 64 * 16);
    run(&r,
        INIT(64) "cp.async.ca.shared.global [%r4], [%d4], 16; cp.async.mbarrier.arrive.shared.b64 [%r3]; "
                 "mbarrier.arrive.shared.b64 %d10, [%r3];\n" WAIT("wait") COPY_BACK,
        64);
    assert_memory_equal(r.out, r.in, 64 * 16);
}

TEST(misuse_faults) {
    static Run r;
    assert_int_equal(run_try(&r, "mbarrier.arrive.shared.b64 _, [%r3];\n", 1), STATUS_FAULT);  // not initialised
    assert_int_equal(run_try(&r, "mbarrier.init.shared.b64 [%r3], 0;\n", 1), STATUS_FAULT);
    assert_int_equal(run_try(&r, "mbarrier.init.shared.b64 [%r3], 2; mbarrier.arrive.shared.b64 _, [%r3], 3;\n", 1),
                     STATUS_FAULT);
    assert_int_equal(run_try(&r, "mbarrier.init.b64 [%d2], 2;\n", 1), STATUS_FAULT);  // global memory
    assert_int_equal(run_try(&r, "brkpt;\n", 1), STATUS_FAULT);
}

// --- matrices ------------------------------------------------------------------------------------------------------
#define FILL                                                                                            \
    "st.shared.v4.u32 [%r4], {%r1, %r1, %r1, %r1}; ld.global.v4.u32 {%r10, %r11, %r12, %r13}, [%d4];\n" \
    "st.shared.v4.u32 [%r4], {%r10, %r11, %r12, %r13}; bar.sync 0;\n"

// Half `c` of row `row`: thread t of the fill wrote row t.
static u16 half_at(const Run *r, u32 row, u32 c) { return (u16)(r->in[4 * row + c / 2] >> (16 * (c & 1))); }

TEST(matrices_are_loaded) {
    static Run r;
    run(&r,
        FILL "ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%r20, %r21, %r22, %r23}, [%r4]; st.global.v4.u32 [%d5], {%r20, "
             "%r21, %r22, %r23};\n",
        32);
    for (u32 t = 0; t < 32; t++)
        for (u32 k = 0; k < 4; k++)
            for (u32 part = 0; part < 2; part++)
                assert_int_equal((u16)(r.out[4 * t + k] >> (16 * part)), half_at(&r, 8 * k + t / 4, t % 4 * 2 + part));
    run(&r,
        FILL
        "ldmatrix.sync.aligned.m8n8.x2.trans.shared.b16 {%r20, %r21}, [%r4]; st.global.v2.u32 [%d5], {%r20, %r21};\n",
        32);
    for (u32 t = 0; t < 32; t++)
        for (u32 k = 0; k < 2; k++)
            for (u32 part = 0; part < 2; part++)
                assert_int_equal((u16)(r.out[4 * t + k] >> (16 * part)), half_at(&r, 8 * k + t % 4 * 2 + part, t / 4));
}

TEST(matrices_are_stored) {
    static Run r;
    run(&r,
        FILL
        "ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%r20, %r21, %r22, %r23}, [%r4];\n"
        "stmatrix.sync.aligned.m8n8.x4.trans.shared.b16 [%r4+512], {%r20, %r21, %r22, %r23}; bar.sync 0;\n"
        "ld.shared.v4.u32 {%r10, %r11, %r12, %r13}, [%r4+512]; st.global.v4.u32 [%d5], {%r10, %r11, %r12, %r13};\n",
        32);
    assert_memory_equal(r.out, r.in, 32 * 16);
}

// A matrix goes through a fragment to other memory, from rows or columns to columns or rows.
static void through_fragment(const char *shape, const char *regs, const char *type, u32 rows, u32 columns, u32 bytes,
                             bool from_columns, bool to_columns) {
    static Run r;
    char body[2048];
    u32 in_stride = (from_columns ? rows : columns) + 16 / bytes, out_stride = to_columns ? rows : columns;
    snprintf(body, sizeof body,
             "wmma.load.c.sync.aligned.%s.%s.global.%s %s, [%%d1], %u;\n"
             "wmma.store.d.sync.aligned.%s.%s.shared.%s [%%r2], %s;\n"
             "shl.b32 %%r8, %%r1, 4; mov.u32 %%r9, %u;\n"
             "copy: add.u32 %%r7, %%r2, %%r8; cvt.u64.u32 %%d8, %%r8; add.u64 %%d9, %%d2, %%d8;\n"
             "ld.shared.v4.u32 {%%r10, %%r11, %%r12, %%r13}, [%%r7]; st.global.v4.u32 [%%d9], {%%r10, %%r11, %%r12, "
             "%%r13};\n"
             "add.u32 %%r8, %%r8, 512; setp.lt.u32 %%p1, %%r8, %%r9; @%%p1 bra copy;\n",
             from_columns ? "col" : "row", shape, type, regs, in_stride, to_columns ? "col" : "row", shape, type, regs,
             rows * columns * bytes);
    run(&r, body, 32);
    for (u32 i = 0; i < rows; i++)
        for (u32 j = 0; j < columns; j++) {
            u32 from = from_columns ? j * in_stride + i : i * in_stride + j,
                to = to_columns ? j * out_stride + i : i * out_stride + j;
            assert_memory_equal((u8 *)r.out + to * bytes, (u8 *)r.in + from * bytes, bytes);
        }
}

TEST(fragments) {
    static const char *const eight = "{%r20, %r21, %r22, %r23, %r24, %r25, %r26, %r27}", *const four =
                                                                                             "{%r20, %r21, %r22, %r23}";
    static const char *const shapes[] = {"m16n16k16", "m8n32k16", "m32n8k16"};
    static const u32 rows[] = {16, 8, 32}, columns[] = {16, 32, 8};
    for (u32 i = 0; i < 12; i++) {
        through_fragment(shapes[i % 3], eight, "s32", rows[i % 3], columns[i % 3], 4, i & 1, i & 2);
        through_fragment(shapes[i % 3], four, "f16", rows[i % 3], columns[i % 3], 2, i & 1, i & 2);
    }
    through_fragment("m8n8k4", "{%d10, %d11}", "f64", 8, 8, 8, false, true);
    through_fragment("m8n8k32", "{%r20, %r21}", "s32", 8, 8, 4, true, false);
}

// --- spaces --------------------------------------------------------------------------------------------------------
TEST(address_spaces) {
    static Run r;
    run(&r,
        "cvta.shared.u64 %d10, %d1; cvt.u64.u32 %d11, %r2; cvta.shared.u64 %d11, %d11; cvta.local.u64 %d12, 0;\n"
        "isspacep.global %p1, %d1; isspacep.shared %p2, %d11; isspacep.local %p3, %d12; isspacep.global %p4, %d11;\n"
        "selp.u32 %r10, 1, 0, %p1; selp.u32 %r11, 1, 0, %p2; selp.u32 %r12, 1, 0, %p3; selp.u32 %r13, 1, 0, %p4;\n"
        "membar.gl; fence.acq_rel.gpu; nanosleep.u32 100; prefetch.global.L2 [%d1];\n"
        "st.global.v4.u32 [%d5], {%r10, %r11, %r12, %r13};\n",
        32);
    static const u32 wanted[4] = {1, 1, 1, 0};
    assert_memory_equal(r.out + 4 * 31, wanted, sizeof wanted);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(copies),
        cmocka_unit_test(copies_fill_with_zeros),
        cmocka_unit_test(copies_fault),
        cmocka_unit_test(arrive_and_wait),
        cmocka_unit_test(counts_and_parity),
        cmocka_unit_test(transactions),
        cmocka_unit_test(copies_arrive),
        cmocka_unit_test(misuse_faults),
        cmocka_unit_test(matrices_are_loaded),
        cmocka_unit_test(matrices_are_stored),
        cmocka_unit_test(fragments),
        cmocka_unit_test(address_spaces),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
