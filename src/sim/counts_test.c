// SPDX-License-Identifier: Apache-2.0
// How often kernels ask for memory, as Nsight Compute counts it on an H200 (2026-11-22, driver 580, CUDA 13.0):
// where lanes that parted meet before they store, and how matrix fragments are loaded and stored.
#include "metric/metric.h"
#include "sim/device_testing.h"

typedef struct Catch {
    Sink sink;
    MetricSet launch;
} Catch;

static Status take(Sink *sink, RecordKind kind, const void *fixed, const void *tail, size_t size) {
    Catch *c = (Catch *)sink;
    (void)size;
    if (kind != RECORD_LAUNCH_COUNTS) return STATUS_OK;
    const RecordCount *rows = tail;
    for (u32 i = 0; i < ((const RecordLaunchCounts *)fixed)->count; i++)
        metric_add(&c->launch, (MetricId)rows[i].metric, rows[i].value);
    return STATUS_OK;
}

static Status no_flush(Sink *sink) {
    (void)sink;
    return STATUS_OK;
}

typedef struct Wanted {
    MetricId metric;
    f64 count;  // 0: none
} Wanted;

// One CTA; `out`: 4 KiB. `gpu`: NULL: an H200.
static void expect_counts_of(const char *gpu, const char *text, u32 threads, const Wanted *wanted, u32 count) {
    Catch c = {.sink = {.write = take, .flush = no_flush}};
    TestDevice d;
    device_open_with(&d, text, (SimConfig){.threads = 1, .sink = &c.sink});
    if (gpu) assert_int_equal(gpu_load("gpus", gpu, &d.gpu, &d.diag), STATUS_OK);
    DevicePtr out = device_memory(&d, NULL, 4096);
    device_run(&d, "k", 1, threads, &out);
    for (u32 i = 0; i < count; i++) {
        f64 counted = c.launch.value[wanted[i].metric];
        if (counted != wanted[i].count)
            fail_msg("%s: %g, an %s %g", metric_table[wanted[i].metric].name, counted, gpu ? gpu : "H200",
                     wanted[i].count);
    }
    device_close(&d);
}

static void expect_counts(const char *text, u32 threads, const Wanted *wanted, u32 count) {
    expect_counts_of(NULL, text, threads, wanted, count);
}

#define EXPECT(text, threads, ...)                                       \
    do {                                                                 \
        static const Wanted wanted[] = {__VA_ARGS__};                    \
        expect_counts(PTX_HEAD text, threads, wanted, WL_COUNT(wanted)); \
    } while (0)

#define HEAD                                                                                                        \
    ".visible .entry k(.param .u64 out) {\n.reg .b64 %rd<8>;\n.reg .b32 %r<9>, %ra<8>, %rb<8>;\n.reg .f32 %f<9>;\n" \
    ".reg .pred %p<5>;\nld.param.u64 %rd1, [out];\nmov.u32 %r1, %tid.x;\n"

// The last of the steps of bitonic-sort and bwt (HeCBench): `if (a && b || c && d) swap;`. Each warp stores each of the
// two words once, whichever condition its lanes had.
TEST(lanes_meet_before_they_store) {
    EXPECT(HEAD
           "mul.wide.u32 %rd2, %r1, 4;\nadd.s64 %rd2, %rd1, %rd2;\nand.b32 %r2, %r1, 1;\nsetp.eq.u32 %p1, %r2, 0;\n"
           "@%p1 bra SWAP;\nand.b32 %r3, %r1, 2;\nsetp.eq.u32 %p2, %r3, 0;\n@%p2 bra DONE;\n"
           "SWAP:\nst.global.u32 [%rd2], %r1;\nst.global.u32 [%rd2+2048], %r1;\nDONE:\nret;\n}\n",
           256, {METRIC_GLOBAL_ST_REQ, 16}, {METRIC_GLOBAL_ST_SECT, 64});
}

// Lanes that are through with a loop wait behind it for the others, however long these take: sphereflake's kernel (a
// public ray tracer) executed 24.1 million instructions with 4.2 lanes each on an H200 (2026-11-28, driver 580).
TEST(lanes_wait_behind_long_loops) {
    EXPECT(HEAD "mul.wide.u32 %rd2, %r1, 4;\nadd.s64 %rd2, %rd1, %rd2;\nand.b32 %r2, %r1, 1;\n"
                "mul.lo.u32 %r2, %r2, 20000;\nTURN:\nsub.u32 %r2, %r2, 1;\nsetp.gt.s32 %p1, %r2, 0;\n@%p1 bra TURN;\n"
                "st.global.u32 [%rd2], %r1;\nret;\n}\n",
           64, {METRIC_GLOBAL_ST_REQ, 2}, {METRIC_GLOBAL_ST_SECT, 8});
}

// A loop that lanes leave from behind an `if`, as those of sphereflake: who stays meets again in each turn, and stores
// together with the others. Lane l leaves in turn l / 4, when it comes to the inner test; even lanes come there in odd
// turns only.
TEST(lanes_meet_in_loops_that_others_leave) {
    EXPECT(HEAD "mul.wide.u32 %rd2, %r1, 4;\nadd.s64 %rd2, %rd1, %rd2;\nshr.u32 %r2, %r1, 2;\nmov.u32 %r3, 0;\n"
                "TURN:\nadd.u32 %r4, %r1, %r3;\nand.b32 %r4, %r4, 1;\nsetp.eq.u32 %p1, %r4, 0;\n@%p1 bra NEXT;\n"
                "setp.ge.u32 %p2, %r3, %r2;\n@%p2 bra DONE;\nst.global.u32 [%rd2+1024], %r3;\n"
                "NEXT:\nst.global.u32 [%rd2], %r3;\nadd.u32 %r3, %r3, 1;\nsetp.lt.u32 %p3, %r3, 20;\n@%p3 bra TURN;\n"
                "DONE:\nst.global.u32 [%rd2+2048], %r1;\nret;\n}\n",
           32, {METRIC_GLOBAL_ST_REQ, 7 + 8 + 1});
}

// bench/hwref/h200-yields.tsv: lane l is through after l turns, and stores; then __syncwarp(), and it stores again.
#define TURNS(load)                                                                                                  \
    HEAD "mul.wide.u32 %rd2, %r1, 4;\nadd.s64 %rd2, %rd1, %rd2;\nst.global.u32 [%rd2+1024], %r1;\nmov.u32 %r2, 0;\n" \
         "bar.warp.sync -1;\nmov.u64 %rd3, %rd1;\nTURN:\n" load " %r3, [%rd3+1024];\nadd.s64 %rd3, %rd3, 4;\n"       \
         "setp.lt.u32 %p1, %r3, %r1;\n@%p1 bra TURN;\nst.global.u32 [%rd2], %r1;\nbar.warp.sync -1;\n"               \
         "st.global.u32 [%rd2+128], %r1;\nret;\n}\n"

TEST(lanes_leave_loops_that_poll_apart) {
    EXPECT(TURNS("ld.global.u32"), 32, {METRIC_GLOBAL_ST_REQ, 1 + 1 + 1});
    EXPECT(TURNS("ld.volatile.global.u32"), 32, {METRIC_GLOBAL_ST_REQ, 1 + 32 + 1});
    EXPECT(TURNS("ld.acquire.gpu.global.u32"), 32, {METRIC_GLOBAL_ST_REQ, 1 + 32 + 1});
}

#define FRAGMENT(name) "{%" name "0,%" name "1,%" name "2,%" name "3,%" name "4,%" name "5,%" name "6,%" name "7}"
#define A FRAGMENT("ra")
#define B FRAGMENT("rb")
#define C FRAGMENT("f")

// gemm_impl0 of wmma (HeCBench): 12 loads of 96 sectors, 4 stores of 32, in SASS 8 LDG.E, 4 LDG.E.64, 4 STG.E.64.
TEST(fragments_of_floats_are_in_pairs) {
    EXPECT(HEAD "wmma.load.a.sync.aligned.row.m16n16k16.global.f16 " A ", [%rd1], 16;\n"
                "wmma.load.b.sync.aligned.col.m16n16k16.global.f16 " B ", [%rd1+512], 16;\n"
                "wmma.load.c.sync.aligned.row.m16n16k16.global.f32 " C ", [%rd1+1024], 16;\n"
                "wmma.mma.sync.aligned.row.col.m16n16k16.f32.f32 " C ", " A ", " B ", " C ";\n"
                "wmma.store.d.sync.aligned.row.m16n16k16.global.f32 [%rd1+2048], " C ", 16;\nret;\n}\n",
           32, {METRIC_GLOBAL_LD_REQ, 12}, {METRIC_GLOBAL_LD_SECT, 96}, {METRIC_GLOBAL_ST_REQ, 4},
           {METRIC_GLOBAL_ST_SECT, 32});
}

// The other way ptxas loads 16-bit elements in pairs, too (4 LDG.E and 4 MOVM), and stores floats one by one.
TEST(fragments_that_lie_the_other_way) {
    EXPECT(HEAD "wmma.load.a.sync.aligned.col.m16n16k16.global.f16 " A ", [%rd1], 16;\n"
                "wmma.load.c.sync.aligned.col.m16n16k16.global.f32 " C ", [%rd1+1024], 16;\n"
                "wmma.store.d.sync.aligned.col.m16n16k16.global.f32 [%rd1+2048], " C ", 16;\nret;\n}\n",
           32, {METRIC_GLOBAL_LD_REQ, 12}, {METRIC_GLOBAL_LD_SECT, 64}, {METRIC_GLOBAL_ST_REQ, 8},
           {METRIC_GLOBAL_ST_SECT, 32});
}

// Banks by generation: 32 lanes at a column of 32 words, neighbours, and a step of two words.
TEST(shared_memory_has_the_banks_of_the_model) {
    static const char text[] = PTX_HEAD
        ".visible .entry k(.param .u64 out) {\n.reg .b32 %r<9>;\n.shared .align 4 .b8 s[4096];\nmov.u32 %r1, %tid.x;\n"
        "mov.u32 %r2, s;\nmad.lo.u32 %r3, %r1, 128, %r2;\nst.shared.u32 [%r3], %r1;\nmad.lo.u32 %r4, %r1, 4, %r2;\n"
        "st.shared.u32 [%r4], %r1;\nmad.lo.u32 %r5, %r1, 8, %r2;\nst.shared.u32 [%r5], %r1;\nret;\n}\n";
    static const Wanted fermi[] = {{METRIC_SHARED_ST_WAVEFRONTS, 32 + 1 + 2}},
                        gt200[] = {{METRIC_SHARED_ST_WAVEFRONTS, 16 + 1 + 2}};
    expect_counts_of(NULL, text, 32, fermi, 1);
    expect_counts_of("tegra-k1", text, 32, fermi, 1);
    expect_counts_of("tesla-c1060", text, 32, gt200, 1);
    expect_counts_of("quadro-fx5800", text, 32, gt200, 1);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lanes_meet_before_they_store),
        cmocka_unit_test(lanes_wait_behind_long_loops),
        cmocka_unit_test(lanes_meet_in_loops_that_others_leave),
        cmocka_unit_test(lanes_leave_loops_that_poll_apart),
        cmocka_unit_test(fragments_of_floats_are_in_pairs),
        cmocka_unit_test(fragments_that_lie_the_other_way),
        cmocka_unit_test(shared_memory_has_the_banks_of_the_model),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
