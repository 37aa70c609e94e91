// SPDX-License-Identifier: Apache-2.0
// Kernels on the timed machine: its clock, its accounts, what must not change results or cycles, and that nothing
// hangs.
#include "sim/device_testing.h"
#include "sim/machine.h"
#include "sim/time/memsys.h"
#include "sim/time/time.h"

#define TWO_LOADS                                                                                               \
    ".reg .b64 %rd<3>;\n.reg .b32 %r<6>;\n.reg .pred %p<2>;\nld.param.u64 %rd1, [out];\nmov.u32 %r1, %tid.x;\n" \
    "mov.u32 %r3, 7;\nld.global.u32 %r2, [%rd1];\nmul.lo.u32 %r2, %r2, %r2;\n"
#define TWO_LOADED "add.u32 %r4, %r2, %r3;\nst.global.u32 [%rd1+4], %r4;\nret;\n}\n"

static const char kernels[] = PTX_HEAD
    ".visible .entry ticks(.param .u64 out) {\n.reg .b64 %rd<5>;\n.reg .b32 %r<3>;\n.reg .f32 %f<3>;\n"
    "ld.param.u64 %rd1, [out];\ncvta.to.global.u64 %rd2, %rd1;\nmov.f32 %f1, 0f3F800000;\n"
    "mov.u64 %rd3, %clock64;\n"
    "fma.rn.f32 %f1, %f1, %f1, %f1;\nfma.rn.f32 %f1, %f1, %f1, %f1;\nfma.rn.f32 %f1, %f1, %f1, %f1;\n"
    "fma.rn.f32 %f1, %f1, %f1, %f1;\nfma.rn.f32 %f1, %f1, %f1, %f1;\nfma.rn.f32 %f1, %f1, %f1, %f1;\n"
    "fma.rn.f32 %f1, %f1, %f1, %f1;\nfma.rn.f32 %f1, %f1, %f1, %f1;\nfma.rn.f32 %f1, %f1, %f1, %f1;\n"
    "fma.rn.f32 %f1, %f1, %f1, %f1;\n"
    "mov.u64 %rd4, %clock64;\nsub.s64 %rd4, %rd4, %rd3;\nst.global.u64 [%rd2], %rd4;\nst.global.f32 [%rd2+8], "
    "%f1;\nret;\n}\n"
    // Threads of a block meet twice, some of them are over before, lanes of one warp among them.
    ".visible .entry meet(.param .u64 out) {\n.reg .b64 %rd<4>;\n.reg .b32 %r<6>;\n.reg .pred %p<2>;\n"
    ".shared .align 4 .b32 words[128];\n"
    "ld.param.u64 %rd1, [out];\ncvta.to.global.u64 %rd2, %rd1;\nmov.u32 %r1, %tid.x;\n"
    "shl.b32 %r2, %r1, 2;\nmov.u32 %r3, words;\nadd.u32 %r3, %r3, %r2;\nst.shared.u32 [%r3], %r1;\n"
    "setp.ge.u32 %p1, %r1, 40;\n@%p1 bra OVER;\nbar.sync 0;\nld.shared.u32 %r4, [%r3+160];\nbar.sync 0;\n"
    "mul.wide.u32 %rd3, %r1, 4;\nadd.s64 %rd3, %rd2, %rd3;\nst.global.u32 [%rd3], %r4;\nOVER:\nret;\n}\n"
    ".visible .entry stuck(.param .u64 out) {\n.reg .b32 %r<2>;\n.reg .pred %p<2>;\n"
    "mov.u32 %r1, %tid.x;\nsetp.lt.u32 %p1, %r1, 32;\n@%p1 bra ONE;\nbar.sync 1, 64;\nret;\nONE:\nbar.sync 2, "
    "64;\nret;\n}\n"
    // Warps behind the first leave at once; half of a whole warp goes the longer way.
    ".visible .entry leave(.param .u64 out) {\n.reg .b64 %rd<3>;\n.reg .b32 %r<6>;\n.reg .pred %p<3>;\n"
    "mov.u32 %r1, %tid.x;\nsetp.ge.u32 %p1, %r1, 32;\n@%p1 bra OVER;\nsetp.eq.u32 %p2, %r1, 99;\n"
    "@%p2 bra OVER;\nld.param.u64 %rd1, [out];\ncvta.to.global.u64 %rd2, %rd1;\n"
    "st.global.u32 [%rd2], %r1;\nOVER:\nret;\n}\n"
    ".visible .entry part(.param .u64 out) {\n.reg .b64 %rd<3>;\n.reg .b32 %r<6>;\n.reg .pred %p<2>;\n"
    "ld.param.u64 %rd1, [out];\ncvta.to.global.u64 %rd2, %rd1;\nmov.u32 %r1, %tid.x;\nmov.u32 %r2, 7;\n"
    "setp.ge.u32 %p1, %r1, 16;\n@%p1 bra JOIN;\n"
    "mul.lo.u32 %r2, %r1, %r1;\nmul.lo.u32 %r2, %r2, %r1;\nmul.lo.u32 %r2, %r2, %r2;\n"
    "xor.b32 %r2, %r2, %r1;\nmul.lo.u32 %r2, %r2, %r1;\nxor.b32 %r2, %r2, 9;\nmul.lo.u32 %r2, %r2, %r1;\n"
    "xor.b32 %r2, %r2, %r1;\nmul.lo.u32 %r2, %r2, %r2;\nmul.lo.u32 %r2, %r2, %r1;\n"
    "JOIN:\nst.global.u32 [%rd2], %r2;\nret;\n}\n"
    ".visible .entry wild(.param .u64 out) {\n.reg .b64 %rd<3>;\n"
    "ld.param.u64 %rd1, [out];\nst.global.u64 [%rd1+1048576], %rd1;\nret;\n}\n"
    // The first block waits for the second, which takes 5,000 cycles.
    ".visible .entry await(.param .u64 out) {\n.reg .b64 %rd<5>;\n.reg .b32 %r<3>;\n.reg .pred %p<2>;\n"
    "ld.param.u64 %rd1, [out];\ncvta.to.global.u64 %rd2, %rd1;\nmov.u32 %r1, %ctaid.x;\n"
    "setp.ne.u32 %p1, %r1, 0;\n@%p1 bra TELL;\nmov.u64 %rd3, %clock64;\nAGAIN:\nld.acquire.gpu.global.u32 "
    "%r2, [%rd2];\nsetp.eq.u32 %p1, %r2, 0;\n@%p1 bra AGAIN;\nmov.u64 %rd4, %clock64;\nsub.s64 %rd4, %rd4, "
    "%rd3;\nst.global.u64 [%rd2+8], %rd4;\nret;\nTELL:\nmov.u64 %rd3, %clock64;\nLATER:\nmov.u64 %rd4, %clock64;\n"
    "sub.s64 %rd4, %rd4, %rd3;\nsetp.lt.s64 %p1, %rd4, 5000;\n@%p1 bra LATER;\n"
    "st.release.gpu.global.u32 [%rd2], 1;\nret;\n}\n"
    // Each lane copies 16 bytes; the mbarrier of the first half of the warp is another than that of the second.
    ".visible .entry copies(.param .u64 out) {\n.reg .b64 %rd<4>;\n.reg .b32 %r<8>;\n.reg .pred %p<4>;\n"
    ".shared .align 16 .b8 box[512];\n.shared .align 8 .b64 bars[2];\n"
    "ld.param.u64 %rd1, [out];\ncvta.to.global.u64 %rd1, %rd1;\nmov.u32 %r1, %tid.x;\nmov.u32 %r2, bars;\n"
    "setp.ne.u32 %p1, %r1, 0;\n@%p1 bra READY;\nmbarrier.init.shared.b64 [%r2], 1;\nmbarrier.init.shared.b64 [%r2+8], "
    "1;\n"
    "mbarrier.arrive.expect_tx.shared.b64 _, [%r2], 256;\nmbarrier.arrive.expect_tx.shared.b64 _, [%r2+8], 256;\n"
    "READY:\nbar.sync 0;\nshl.b32 %r3, %r1, 4;\nmov.u32 %r4, box;\nadd.u32 %r4, %r4, %r3;\ncvt.u64.u32 %rd2, %r3;\n"
    "add.u64 %rd2, %rd1, %rd2;\nshr.u32 %r5, %r1, 4;\nshl.b32 %r5, %r5, 3;\nadd.u32 %r5, %r2, %r5;\n"
    "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r4], [%rd2], 16, [%r5];\n"
    "FIRST:\nmbarrier.try_wait.parity.shared.b64 %p2, [%r2], 0;\n@!%p2 bra FIRST;\n"
    "SECOND:\nmbarrier.try_wait.parity.shared.b64 %p3, [%r2+8], 0;\n@!%p3 bra SECOND;\n"
    "ld.shared.u32 %r6, [%r4];\nst.global.u32 [%rd2+4], %r6;\nret;\n}\n"
    // The first warp asks for what the second one waits for, and is over.
    ".visible .entry delegates(.param .u64 out) {\n.reg .b64 %rd<3>;\n.reg .b32 %r<6>;\n.reg .pred %p<4>;\n"
    ".shared .align 16 .b8 given[256];\n.shared .align 8 .b64 bar;\n"
    "ld.param.u64 %rd1, [out];\nmov.u32 %r1, %tid.x;\nmov.u32 %r2, bar;\nmov.u32 %r3, given;\n"
    "setp.ne.u32 %p1, %r1, 0;\n@!%p1 mbarrier.init.shared.b64 [%r2], 1;\nbar.sync 0;\n"
    "setp.gt.u32 %p2, %r1, 31;\n@%p2 bra WAIT;\n@%p1 bra OVER;\n"
    "mbarrier.arrive.expect_tx.shared.b64 _, [%r2], 256;\n"
    "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r3], [%rd1], 256, [%r2];\n"
    "OVER:\nret;\n"
    "WAIT:\nmbarrier.try_wait.parity.shared.b64 %p3, [%r2], 0;\n@!%p3 bra WAIT;\n"
    "shl.b32 %r4, %r1, 2;\nadd.u32 %r3, %r3, %r4;\nld.shared.u32 %r5, [%r3];\n"
    "cvt.u64.u32 %rd2, %r4;\nadd.u64 %rd2, %rd1, %rd2;\nst.global.u32 [%rd2+256], %r5;\nret;\n}\n"
    // Constants: each lane its own, and all the same one, behind one that brings the line.
    ".const .align 4 .f32 table[64];\n"
    ".visible .entry spread(.param .u64 out) {\n.reg .b64 %rd<7>;\n.reg .b32 %r<5>;\n.reg .f32 %f<4>;\n"
    "ld.param.u64 %rd1, [out];\nld.global.u32 %r2, [%rd1];\nmov.u32 %r1, %tid.x;\nand.b32 %r1, %r1, %r2;\n"
    "mov.u64 %rd2, table;\nshr.u32 %r3, %r2, 30;\nmul.wide.u32 %rd5, %r3, 4;\nadd.s64 %rd6, %rd2, %rd5;\n"
    "ld.const.u32 %r4, [%rd6];\nadd.u32 %r1, %r1, %r4;\nmul.wide.u32 %rd3, %r1, 4;\nadd.s64 %rd4, %rd2, "
    "%rd3;\nld.const.f32 %f1, [%rd4];\n"
    "ld.const.f32 %f2, [%rd4+4];\nadd.f32 %f1, %f1, %f2;\nst.global.f32 [%rd1+16], %f1;\nret;\n}\n"
    // ... and four that depend on each other, between two clocks, behind one that brings the line.
    ".visible .entry chained(.param .u64 out) {\n.reg .b64 %rd<20>;\n.reg .b32 %r<9>;\n"
    "ld.param.u64 %rd1, [out];\nld.global.u32 %r2, [%rd1];\nmov.u32 %r1, %tid.x;\nand.b32 %r1, %r1, %r2;\n"
    "mov.u64 %rd2, table;\nmul.wide.u32 %rd3, %r1, 4;\nadd.s64 %rd4, %rd2, %rd3;\n"
    "ld.const.u32 %r3, [%rd4];\ncvt.u64.u32 %rd5, %r3;\nadd.s64 %rd6, %rd4, %rd5;\nmov.u64 %rd15, %clock64;\n"
    "ld.const.u32 %r4, [%rd6];\ncvt.u64.u32 %rd7, %r4;\nadd.s64 %rd8, %rd6, %rd7;\n"
    "ld.const.u32 %r5, [%rd8];\ncvt.u64.u32 %rd9, %r5;\nadd.s64 %rd10, %rd8, %rd9;\n"
    "ld.const.u32 %r6, [%rd10];\ncvt.u64.u32 %rd11, %r6;\nadd.s64 %rd12, %rd10, %rd11;\n"
    "ld.const.u32 %r7, [%rd12];\ncvt.u64.u32 %rd13, %r7;\nadd.s64 %rd14, %rd12, %rd13;\n"
    "st.global.u64 [%rd1+16], %rd14;\nmov.u64 %rd16, %clock64;\nsub.s64 %rd16, %rd16, %rd15;\n"
    "st.global.u64 [%rd1+8], %rd16;\nret;\n}\n"
    // By one lane of 32 only.
    ".visible .entry div32(.param .u64 out) {\n.reg .b64 %rd<3>;\n.reg .b32 %r<2>;\n.reg .f32 %f<4>;\n.reg .pred "
    "%p<2>;\n"
    "ld.param.u64 %rd1, [out];\nmov.u32 %r1, %tid.x;\nsetp.eq.u32 %p1, %r1, 3;\nmov.f32 %f1, 0f40000000;\n"
    "mov.f32 %f2, %f1;\n@%p1 ld.global.f32 %f1, [%rd1];\n@%p1 ld.global.f32 %f2, [%rd1+8];\n"
    "div.rn.f32 %f3, %f1, %f2;\nst.global.f32 [%rd1+16], %f3;\nret;\n}\n"
    ".visible .entry rcp32(.param .u64 out) {\n.reg .b64 %rd<3>;\n.reg .f32 %f<4>;\n"
    "ld.param.u64 %rd1, [out];\nld.global.f32 %f1, [%rd1];\nrcp.rn.f32 %f3, %f1;\nst.global.f32 [%rd1+16], "
    "%f3;\nret;\n}\n"
    ".visible .entry sqrt32(.param .u64 out) {\n.reg .b64 %rd<3>;\n.reg .f32 %f<4>;\n"
    "ld.param.u64 %rd1, [out];\nld.global.f32 %f1, [%rd1];\nsqrt.rn.f32 %f3, %f1;\nst.global.f32 [%rd1+16], "
    "%f3;\nret;\n}\n"
    ".visible .entry div64(.param .u64 out) {\n.reg .b64 %rd<3>;\n.reg .f64 %fd<4>;\n"
    "ld.param.u64 %rd1, [out];\nld.global.f64 %fd1, [%rd1];\nld.global.f64 %fd2, [%rd1+8];\n"
    "div.rn.f64 %fd3, %fd1, %fd2;\nst.global.f64 [%rd1+16], %fd3;\nret;\n}\n"
    ".visible .entry rcp64(.param .u64 out) {\n.reg .b64 %rd<3>;\n.reg .f64 %fd<4>;\n"
    "ld.param.u64 %rd1, [out];\nld.global.f64 %fd1, [%rd1];\nrcp.rn.f64 %fd3, %fd1;\nst.global.f64 [%rd1+16], "
    "%fd3;\nret;\n}\n"
    ".visible .entry sqrt64(.param .u64 out) {\n.reg .b64 %rd<3>;\n.reg .f64 %fd<4>;\n"
    "ld.param.u64 %rd1, [out];\nld.global.f64 %fd1, [%rd1];\nsqrt.rn.f64 %fd3, %fd1;\nst.global.f64 [%rd1+16], "
    "%fd3;\nret;\n}\n"
    // Eleven packed products, each of the one before: ten links between the clocks.
    ".visible .entry halves(.param .u64 out) {\n.reg .b64 %rd<5>;\n.reg .b32 %r<3>;\n"
    "ld.param.u64 %rd1, [out];\nmov.u32 %r1, %tid.x;\nst.global.u32 [%rd1+8], %r1;\nmov.u64 %rd3, %clock64;\n"
    "fma.rn.f16x2 %r1, %r1, %r1, %r1;\nfma.rn.f16x2 %r1, %r1, %r1, %r1;\nfma.rn.f16x2 %r1, %r1, %r1, %r1;\n"
    "fma.rn.f16x2 %r1, %r1, %r1, %r1;\nfma.rn.f16x2 %r1, %r1, %r1, %r1;\nfma.rn.f16x2 %r1, %r1, %r1, %r1;\n"
    "fma.rn.f16x2 %r1, %r1, %r1, %r1;\nfma.rn.f16x2 %r1, %r1, %r1, %r1;\nfma.rn.f16x2 %r1, %r1, %r1, %r1;\n"
    "fma.rn.f16x2 %r1, %r1, %r1, %r1;\nfma.rn.f16x2 %r1, %r1, %r1, %r1;\n"
    "mov.u64 %rd4, %clock64;\nsub.s64 %rd4, %rd4, %rd3;\nst.global.u64 [%rd1], %rd4;\nst.global.u32 [%rd1+8], "
    "%r1;\nret;\n}\n"
    // Three words of 12 bytes, lane after lane, one right after the other; and with time between them.
    ".visible .entry triples(.param .u64 out) {\n.reg .b64 %rd<3>;\n.reg .b32 %r<3>;\n"
    "ld.param.u64 %rd1, [out];\nmov.u32 %r1, %tid.x;\nmul.wide.u32 %rd2, %r1, 12;\nadd.s64 %rd1, %rd1, %rd2;\n"
    "st.global.u32 [%rd1], %r1;\nst.global.u32 [%rd1+4], %r1;\nst.global.u32 [%rd1+8], %r1;\nret;\n}\n"
    // Two loads: the second one alone, in a side that half of the lanes take, behind a shuffle, behind the first one.
    ".visible .entry beside(.param .u64 out) {\n" TWO_LOADS "ld.global.u32 %r3, [%rd1+2048];\n" TWO_LOADED
    ".visible .entry guarded(.param .u64 out) {\n" TWO_LOADS
    "setp.ge.u32 %p1, %r1, 16;\n@%p1 bra JOIN;\nld.global.u32 %r3, [%rd1+2048];\nJOIN:\n" TWO_LOADED
    ".visible .entry shuffled(.param .u64 out) {\n" TWO_LOADS
    "shfl.sync.bfly.b32 %r2, %r2, 1, 31, -1;\nld.global.u32 %r3, [%rd1+2048];\n" TWO_LOADED
    ".visible .entry behind(.param .u64 out) {\n" TWO_LOADS
    "mul.wide.u32 %rd2, %r2, 4;\nadd.s64 %rd2, %rd1, %rd2;\nld.global.u32 %r3, [%rd2+2048];\n" TWO_LOADED
    // Nobody takes the side, and what stands behind it is not executed before its time.
    ".visible .entry passed(.param .u64 out) {\n" TWO_LOADS
    "setp.lt.u32 %p1, %r1, 64;\n@%p1 bra JOIN;\nld.global.u32 %r3, [%rd1+2048];\nJOIN:\n"
    "atom.global.add.u32 %r3, [%rd1+8], 1;\n" TWO_LOADED ".visible .entry without(.param .u64 out) {\n" TWO_LOADS
    "atom.global.add.u32 %r3, [%rd1+8], 1;\n" TWO_LOADED
    ".visible .entry apart(.param .u64 out) {\n.reg .b64 %rd<5>;\n.reg .b32 %r<3>;\n.reg .pred %p<2>;\n"
    "ld.param.u64 %rd1, [out];\nmov.u32 %r1, %tid.x;\nmul.wide.u32 %rd2, %r1, 12;\nadd.s64 %rd1, %rd1, %rd2;\n"
    "mov.u32 %r2, 0;\nAGAIN:\nst.global.u32 [%rd1], %r1;\nmov.u64 %rd3, %clock64;\nLATER:\n"
    "mov.u64 %rd4, %clock64;\nsub.s64 %rd4, %rd4, %rd3;\nsetp.lt.s64 %p1, %rd4, 200;\n@%p1 bra LATER;\n"
    "add.s64 %rd1, %rd1, 4;\nadd.u32 %r2, %r2, 1;\nsetp.lt.u32 %p1, %r2, 3;\n@%p1 bra AGAIN;\nret;\n}\n";

typedef struct Timed {
    TestDevice d;
    DevicePtr out;
} Timed;

static void open_timed(Timed *t, u32 threads) {
    memset(t, 0, sizeof *t);
    device_open_with(&t->d, kernels, (SimConfig){.threads = threads, .timing = true});
    t->out = device_memory(&t->d, NULL, 4096);
}

static Status run(Timed *t, const char *name, u32 ctas, u32 threads, u64 *cycles) {
    SimKernel *kernel;
    assert_int_equal(sim_find_kernel(t->d.sim, t->d.module, name, &kernel), STATUS_OK);
    SimLaunch launch = {
        .kernel = kernel, .grid = {ctas, 1, 1}, .block = {threads, 1, 1}, .params = &t->out, .record = false};
    SimLaunchResult result = {0};
    Status status = sim_launch(t->d.sim, &launch, &result, &t->d.diag);
    *cycles = result.cycles;
    return status;
}

// Ten dependent multiplications of four cycles each lie between the two clocks.
TEST(clocks_tell_simulated_cycles) {
    Timed t;
    u64 cycles;
    open_timed(&t, 1);
    assert_int_equal(run(&t, "ticks", 1, 32, &cycles), STATUS_OK);
    u64 between = *(u64 *)device_view(&t.d, t.out, 8);
    assert_in_range(between, 9 * t.d.gpu.alu_latency, 12 * t.d.gpu.alu_latency);
    assert_true(cycles > between + t.d.gpu.launch_overhead);
    device_close(&t.d);
}

// The two units of packed numbers take turns in a chain: 8.06 cycles each (h200-micro.tsv, latency/fma_f16x2).
TEST(packed_products_of_a_chain_take_eight_cycles) {
    Timed t;
    u64 cycles;
    open_timed(&t, 1);
    assert_int_equal(run(&t, "halves", 1, 32, &cycles), STATUS_OK);
    assert_in_range(*(u64 *)device_view(&t.d, t.out, 8), 78, 95);
    device_close(&t.d);
}

// What the kernel leaves in out[1], and how long it takes, when lanes ask for `addresses` different constants.
static u64 ask_for(const char *kernel, u32 addresses, u64 *cycles) {
    Timed t;
    u32 mask = addresses - 1;
    open_timed(&t, 1);
    memcpy(device_view(&t.d, t.out, 4), &mask, 4);
    assert_int_equal(run(&t, kernel, 1, 32, cycles), STATUS_OK);
    u64 told = *(u64 *)device_view(&t.d, t.out + 8, 8);
    device_close(&t.d);
    return told;
}

// Two loads of constants by 32 lanes: the data come 11 cycles later for each address, and each takes two of the SM.
TEST(constants_come_address_after_address) {
    u64 one, all;
    ask_for("spread", 1, &one);
    ask_for("spread", 32, &all);
    assert_in_range(all - one, 11 * 31, 11 * 31 + 2 * 2 * 31);
}

// An H200 takes 39.3 cycles for a load of a chain when all lanes ask for one address, 72.3 for 4, 380.3 for 32, address
// arithmetic included (bench/hwref/h200-constants.tsv).
TEST(chains_of_constants_wait_for_every_address) {
    static const struct {
        u32 addresses;
        f64 later;
    } cases[] = {{4, 72.3 - 39.3}, {8, 116.3 - 39.3}, {32, 380.3 - 39.3}};
    u64 cycles, one = ask_for("chained", 1, &cycles);
    for (u32 i = 0; i < WL_COUNT(cases); i++) {
        f64 later = (f64)(ask_for("chained", cases[i].addresses, &cycles) - one) / 4;
        assert_true(later > 0.95 * cases[i].later && later < 1.05 * cases[i].later);
    }
}

static u64 issued(const Timed *t) {
    u64 sum = 0;
    for (u32 sm = 0; sm < time_sms(t->d.sim->machines[0]); sm++)
        sum += time_sm_counters(t->d.sim->machines[0], sm)[SMC_ISSUED];
    return sum;
}

// Of ordinary values a division takes the same time whatever they are; of others as long as an H200 does, which issues
// so many instructions more.
TEST(divisions_and_roots_take_their_subroutines) {
    static const struct {
        const char *kernel;
        f64 a, b;
        u32 more;
    } cases[] = {{"div32", 1, 3, 0},           {"div32", 0, 3, 31},         {"div32", 1, 0, 31},
                 {"div32", 1e-40, 3, 65},      {"div32", 1e30, 1e-30, 44},  {"div32", -7e9, 5e-9, 0},
                 {"rcp32", 3, 0, 0},           {"rcp32", 0, 0, 11},         {"rcp32", 3e38, 0, 29},
                 {"sqrt32", 2, 0, 0},          {"sqrt32", 0, 0, 6},         {"sqrt32", -1, 0, 6},
                 {"div64", 1, 3, 0},           {"div64", 0, 3, 65},         {"div64", 1e-300, 3, 65},
                 {"div64", 1e-200, 1e200, 65}, {"div64", 1e200, -1e-80, 0}, {"rcp64", 3, 0, 0},
                 {"rcp64", 0, 0, 14},          {"sqrt64", 2, 0, 0},         {"sqrt64", 0, 0, 16}};
    u64 plain = 0, plain_issued = 0;  // the first of each kernel
    for (u32 i = 0; i < WL_COUNT(cases); i++) {
        Timed t;
        u64 cycles;
        open_timed(&t, 1);
        u8 *view = device_view(&t.d, t.out, 16);
        bool wide = strstr(cases[i].kernel, "64");
        for (u32 k = 0; k < 2; k++) {
            f64 value = k ? cases[i].b : cases[i].a;
            f32 narrow = (f32)value;
            memcpy(view + 8 * k, wide ? (void *)&value : (void *)&narrow, wide ? 8 : 4);
        }
        assert_int_equal(run(&t, cases[i].kernel, 1, 32, &cycles), STATUS_OK);
        if (i == 0 || strcmp(cases[i].kernel, cases[i - 1].kernel) != 0) plain = cycles, plain_issued = issued(&t);
        assert_int_equal(issued(&t), plain_issued + cases[i].more);
        if (cases[i].more)
            assert_true(cycles > plain + 2 * cases[i].more);
        else
            assert_int_equal(cycles, plain);
        device_close(&t.d);
    }
}

TEST(threads_that_are_over_need_not_come_to_a_barrier) {
    Timed t;
    u64 cycles;
    open_timed(&t, 1);
    assert_int_equal(run(&t, "meet", 3, 96, &cycles), STATUS_OK);
    const u32 *out = device_view(&t.d, t.out, 160);
    for (u32 i = 0; i < 40; i++) assert_int_equal(out[i], i + 40);
    device_close(&t.d);
}

static void assert_slots_add_up(const TimeMachine *machine, u32 sm) {
    const u64 *c = time_sm_counters(machine, sm);
    assert_int_equal(c[SMC_SLOTS_ISSUED] + c[SMC_SLOTS_STALLED] + c[SMC_SLOTS_EMPTY],
                     time_schedulers(machine) * time_now(machine));
}

// Every cycle of every scheduler issued, stalled or had no warp.
TEST(scheduler_cycles_add_up) {
    Timed t;
    u64 cycles;
    open_timed(&t, 1);
    for (u32 i = 0; i < 3; i++) assert_int_equal(run(&t, i == 1 ? "ticks" : "meet", 200 + i, 96, &cycles), STATUS_OK);
    const TimeMachine *machine = t.d.sim->machines[0];
    for (u32 sm = 0; sm < time_sms(machine); sm++) {
        assert_slots_add_up(machine, sm);
        const u64 *c = time_sm_counters(machine, sm);
        const u64 *stalls = time_sm_stalls(machine, sm);
        u64 warp_cycles = 0;
        for (u32 r = 0; r < STALL_COUNT; r++) warp_cycles += stalls[r];
        assert_in_range(warp_cycles, c[SMC_WARP_CYCLES] * 9 / 10, c[SMC_WARP_CYCLES] * 11 / 10 + 1);
    }
    device_close(&t.d);
}

// An SM that gets its first CTA in the third launch finds what the earlier launches fetched ahead, and its cycles until
// then were empty.
TEST(sms_that_come_late_are_as_the_others) {
    static const char *const names[] = {"ticks", "meet", "ticks"};
    Timed t;
    u64 cycles, between[3] = {0};
    open_timed(&t, 1);
    t.d.gpu.gpcs_18 = t.d.gpu.gpcs_16 = t.d.gpu.gpcs_8 = 0;  // each launch goes to the next SM
    for (u32 i = 0; i < 3; i++) {
        assert_int_equal(run(&t, names[i], 1, 32, &cycles), STATUS_OK);
        between[i] = *(u64 *)device_view(&t.d, t.out, 8);
    }
    const TimeMachine *machine = t.d.sim->machines[0];
    const u64 *first = time_sm_counters(machine, 0), *third = time_sm_counters(machine, 2);
    assert_int_equal(between[2], between[0]);
    assert_int_not_equal(first[SMC_FETCHES], 0);
    assert_int_equal(first[SMC_FETCH_HITS], first[SMC_FETCHES]);
    assert_int_equal(third[SMC_FETCHES], first[SMC_FETCHES]);
    assert_int_equal(third[SMC_FETCH_HITS], first[SMC_FETCHES]);
    for (u32 sm = 0; sm < time_sms(machine); sm++) assert_slots_add_up(machine, sm);
    device_close(&t.d);
}

static u64 slots_issued(const Timed *t) {
    const TimeMachine *machine = t->d.sim->machines[0];
    u64 issued = 0;
    for (u32 sm = 0; sm < time_sms(machine); sm++) issued += time_sm_counters(machine, sm)[SMC_SLOTS_ISSUED];
    return issued;
}

static u64 issued_by(Timed *t, const char *name, u32 threads) {
    u64 cycles;
    assert_int_equal(run(t, "ticks", 1, 32, &cycles), STATUS_OK);  // there is a machine then
    u64 before = slots_issued(t);
    assert_int_equal(run(t, name, 1, threads, &cycles), STATUS_OK);
    return slots_issued(t) - before;
}

// A warp that leaves at once issues the stack pointer, its thread, the first condition and its exit; not a branch and
// an exit, and not the second condition, which has an exit of its own.
TEST(a_branch_to_the_end_is_an_exit) {
    Timed t;
    open_timed(&t, 1);
    assert_int_equal(issued_by(&t, "leave", 64) - issued_by(&t, "leave", 32), 4);
    device_close(&t.d);
}

// Lanes that go another way meet the others at a BSYNC, which both execute.
// What the machine has as one block is under way together, whatever branches and shuffles the PTX has in it.
TEST(loads_of_a_region_are_under_way_together) {
    static const char *const names[] = {"beside", "guarded", "shuffled", "behind"};
    u64 cycles[4];
    for (u32 i = 0; i < 4; i++) {
        Timed t;
        open_timed(&t, 1);
        memset(device_view(&t.d, t.out, 4096), 0, 4096);
        assert_int_equal(run(&t, names[i], 1, 32, &cycles[i]), STATUS_OK);
        device_close(&t.d);
    }
    assert_in_range(cycles[1], cycles[0] - 100, cycles[0] + 100);
    assert_in_range(cycles[2], cycles[0] - 100, cycles[0] + 100);
    assert_in_range(cycles[3], cycles[0] + 200, cycles[0] + 2000);
}

// A warp whose trace ends where a region may go on does not wait for others: here there are none.
TEST(a_region_that_stays_open_holds_nobody_up) {
    u64 cycles[2];
    for (u32 i = 0; i < 2; i++) {
        Timed t;
        open_timed(&t, 1);
        memset(device_view(&t.d, t.out, 4096), 0, 4096);
        assert_int_equal(run(&t, i ? "passed" : "without", 1, 32, &cycles[i]), STATUS_OK);
        device_close(&t.d);
    }
    assert_in_range(cycles[1], cycles[0] - 40, cycles[0] + 40);
}

TEST(each_group_of_lanes_comes_to_the_join) {
    Timed t;
    open_timed(&t, 1);
    assert_int_equal(issued_by(&t, "part", 32) - issued_by(&t, "part", 16), 1);
    device_close(&t.d);
}

TEST(cycles_do_not_depend_on_threads) {
    u64 cycles[3][2];
    for (u32 k = 0; k < 3; k++) {
        Timed t;
        open_timed(&t, k + 1);
        assert_int_equal(run(&t, "meet", 500, 96, &cycles[k][0]), STATUS_OK);
        assert_int_equal(run(&t, "ticks", 300, 64, &cycles[k][1]), STATUS_OK);
        device_close(&t.d);
    }
    assert_memory_equal(cycles[0], cycles[1], sizeof cycles[0]);
    assert_memory_equal(cycles[0], cycles[2], sizeof cycles[0]);
}

// After a failure the machine takes the next kernel as if nothing had been.
TEST(faults_and_deadlocks_end) {
    Timed t;
    u64 cycles;
    open_timed(&t, 1);
    assert_int_equal(run(&t, "wild", 40, 64, &cycles), STATUS_FAULT);
    assert_int_equal(run(&t, "stuck", 2, 64, &cycles), STATUS_DEADLOCK);
    assert_int_equal(run(&t, "meet", 3, 96, &cycles), STATUS_OK);
    device_close(&t.d);
}

// `kernel`, of one block, copies words of the first 512 bytes of `out`, which are numbered; returns the words then.
static const u32 *copy_words(Timed *t, const char *kernel, u32 threads) {
    u64 cycles;
    open_timed(t, 1);
    u32 *words = device_view(&t->d, t->out, 512);
    for (u32 i = 0; i < 128; i++) words[i] = i;
    assert_int_equal(run(t, kernel, 1, threads, &cycles), STATUS_OK);
    return device_view(&t->d, t->out, 512);
}

// An mbarrier hears of the copy of every lane, whichever other mbarriers the instruction has.
TEST(waiting_for_copies_of_many_lanes_ends) {
    Timed t;
    const u32 *words = copy_words(&t, "copies", 32);
    for (u32 i = 0; i < 32; i++) assert_int_equal(words[4 * i + 1], 4 * i);
    device_close(&t.d);
}

// ... also when the warp that asked for it is over.
TEST(a_warp_may_end_before_its_copies) {
    Timed t;
    const u32 *words = copy_words(&t, "delegates", 64);
    for (u32 i = 32; i < 64; i++) assert_int_equal(words[64 + i], i);
    device_close(&t.d);
}

// What is told to another block is known there when it has been told, however far ahead of time the waiting is
// executed.
TEST(waiting_for_another_block_ends_in_time) {
    Timed t;
    u64 cycles, zero[2] = {0, 0};
    open_timed(&t, 1);
    memcpy(device_view(&t.d, t.out, sizeof zero), zero, sizeof zero);
    assert_int_equal(run(&t, "await", 2, 32, &cycles), STATUS_OK);
    u64 waited = *(u64 *)device_view(&t.d, t.out + 8, 8);
    assert_in_range(waited, 5000, 5000 + 6 * t.d.gpu.l2_latency);
    device_close(&t.d);
}

static u64 written_sectors(const Timed *t) {
    const MemSys *memory = time_memsys(t->d.sim->machines[0]);
    const u64 *values = memsys_counter(memory, MEMC_L2_WRITE_SECTORS);
    u64 sum = 0;
    for (u32 i = 0; i < memsys_units(memory, MEM_SCOPE_SLICE); i++) sum += values[i];
    return sum;
}

// The L2 of an H200 is asked for 12 sectors by three stores to the same 12, and for 36 when they are apart
// (bench/hwref/h200-joins.tsv, words_by_12).
TEST(stores_to_the_same_sectors_leave_together) {
    Timed t;
    u64 cycles;
    open_timed(&t, 1);
    assert_int_equal(run(&t, "triples", 1, 32, &cycles), STATUS_OK);
    assert_int_equal(written_sectors(&t), 12);
    assert_int_equal(run(&t, "apart", 1, 32, &cycles), STATUS_OK);
    assert_int_equal(written_sectors(&t), 12 + 36);
    device_close(&t.d);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(clocks_tell_simulated_cycles),
                                       cmocka_unit_test(constants_come_address_after_address),
                                       cmocka_unit_test(chains_of_constants_wait_for_every_address),
                                       cmocka_unit_test(packed_products_of_a_chain_take_eight_cycles),
                                       cmocka_unit_test(divisions_and_roots_take_their_subroutines),
                                       cmocka_unit_test(threads_that_are_over_need_not_come_to_a_barrier),
                                       cmocka_unit_test(scheduler_cycles_add_up),
                                       cmocka_unit_test(sms_that_come_late_are_as_the_others),
                                       cmocka_unit_test(a_branch_to_the_end_is_an_exit),
                                       cmocka_unit_test(each_group_of_lanes_comes_to_the_join),
                                       cmocka_unit_test(loads_of_a_region_are_under_way_together),
                                       cmocka_unit_test(a_region_that_stays_open_holds_nobody_up),
                                       cmocka_unit_test(cycles_do_not_depend_on_threads),
                                       cmocka_unit_test(faults_and_deadlocks_end),
                                       cmocka_unit_test(waiting_for_copies_of_many_lanes_ends),
                                       cmocka_unit_test(a_warp_may_end_before_its_copies),
                                       cmocka_unit_test(waiting_for_another_block_ends_in_time),
                                       cmocka_unit_test(stores_to_the_same_sectors_leave_together)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
