// SPDX-License-Identifier: Apache-2.0
// The kernels of timeline_test.c: together they have something to say of every metric of the timing model.
#ifndef WL_SIM_TIME_TIMELINE_KERNELS_H
#define WL_SIM_TIME_TIMELINE_KERNELS_H

// clang-format off
#define HEAD ".version 8.2\n.target sm_90a\n.address_size 64\n.const .align 4 .b8 table[16384];\n"
// Thread i of the grid: r1 = tid, r2 = i, d1 = the buffer, d2 = its word i; 2^20 words there are.
#define BEGIN(name)                                                                                               \
    ".visible .entry " name "(.param .u64 buffer, .param .u64 texture) {\n"                                       \
    ".reg .b64 %d<12>; .reg .b32 %r<24>; .reg .f32 %f<12>; .reg .f64 %e<8>; .reg .b16 %h<4>; .reg .pred %p<4>;\n" \
    "ld.param.u64 %d1, [buffer]; mov.u32 %r1, %tid.x; mov.u32 %r3, %ctaid.x; mov.u32 %r4, %ntid.x;\n"             \
    "mad.lo.u32 %r2, %r3, %r4, %r1; mul.wide.u32 %d2, %r2, 4; add.u64 %d2, %d1, %d2;\n"
#define END "ret; }\n"
#define PRODUCT "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%f1, %f2, %f3, %f4}, %d3, %d3, %p1, 1, 1, 0, 0;\n"
// Of fifty values.
#define TEN(X, t) X(t "0") X(t "1") X(t "2") X(t "3") X(t "4") X(t "5") X(t "6") X(t "7") X(t "8") X(t "9")
#define FIFTY(X) TEN(X, "1") TEN(X, "2") TEN(X, "3") TEN(X, "4") TEN(X, "5") "\n"
#define LOAD(n) "ld.global.f32 %v" n ", [%d2+" n "00]; "
#define TURN(n) "fma.rn.f32 %v" n ", %v" n ", %v" n ", %f1; "
#define SUM(n) "add.f32 %f1, %f1, %v" n "; "

static const char kernels[] =
    HEAD
    // Reads and writes more than the L2 holds.
    BEGIN("stream")
    "mov.u32 %r5, 0;\n"
    "again: ld.global.u32 %r6, [%d2]; ld.global.u32 %r7, [%d2]; add.u32 %r6, %r6, %r7; st.global.u32 [%d2], %r6;\n"
    "add.u64 %d2, %d2, 131072; add.u32 %r5, %r5, 1; setp.lt.u32 %p1, %r5, 24; @%p1 bra again;\n"
    END
    // Shared memory with conflicts, barriers, atomics, shuffles.
    BEGIN("shared")
    ".shared .align 4 .b8 tile[8192]; mov.u32 %r5, tile; shl.b32 %r6, %r1, 7; and.b32 %r6, %r6, 8064;\n"
    "add.u32 %r5, %r5, %r6; mov.u32 %r7, 0;\n"
    "again: st.shared.u32 [%r5], %r1; bar.sync 0; ld.shared.u32 %r8, [%r5]; atom.shared.add.u32 %r9, [%r5], %r8;\n"
    "shfl.sync.bfly.b32 %r10, %r8, 1, 31, -1; shfl.sync.bfly.b32 %r11, %r8, 2, 31, -1;\n"
    "shfl.sync.bfly.b32 %r12, %r8, 4, 31, -1; shfl.sync.bfly.b32 %r13, %r8, 8, 31, -1;\n"
    "shfl.sync.bfly.b32 %r14, %r8, 16, 31, -1; shfl.sync.bfly.b32 %r15, %r8, 3, 31, -1;\n"
    "add.u32 %r10, %r10, %r11; add.u32 %r10, %r10, %r12; add.u32 %r10, %r10, %r13; add.u32 %r10, %r10, %r14;\n"
    "add.u32 %r10, %r10, %r15; add.u32 %r10, %r10, %r9; add.u32 %r7, %r7, 1;\n"
    "setp.lt.u32 %p1, %r7, 8; @%p1 bra again; st.global.u32 [%d2], %r10;\n"
    END
    // The second warp comes to the second barrier late, from its loop.
    BEGIN("late")
    "mov.u32 %r5, %tid.x; mov.u32 %r6, 0; bar.sync 0; setp.lt.u32 %p1, %r5, 32; @%p1 bra there;\n"
    "again: fma.rn.f64 %e1, %e1, %e1, %e1; fma.rn.f64 %e1, %e1, %e1, %e1; add.u32 %r6, %r6, 1;\n"
    "setp.lt.u32 %p2, %r6, 200; @%p2 bra again;\n"
    "there: bar.sync 0; cvt.rn.f32.f64 %f5, %e1; mov.b32 %r9, %f5; st.global.u32 [%d2], %r9;\n"
    END
    // Every arithmetic unit; 3, 6, 9, ... lanes at work.
    BEGIN("units")
    "cvt.rn.f32.u32 %f1, %r1; cvt.f64.f32 %e1, %f1; mov.u32 %r5, 0; and.b32 %r8, %r1, 31;\n"
    "again: fma.rn.f32 %f1, %f1, %f1, %f1; fma.rn.f64 %e1, %e1, %e1, %e1; sin.approx.f32 %f2, %f1;\n"
    "fma.rn.f64 %e2, %e1, %e1, %e1; fma.rn.f64 %e3, %e1, %e2, %e1; sin.approx.f32 %f3, %f2; sin.approx.f32 %f4, %f3;\n"
    "mad.lo.u32 %r6, %r1, %r5, %r6; mul.lo.u32 %r7, %r6, %r2;\n"
    "{.reg .b32 %a; mov.b32 %a, %f1; fma.rn.f16x2 %a, %a, %a, %a; xor.b32 %r7, %r7, %a;}\n"
    "setp.lt.u32 %p1, %r8, %r5; @%p1 bra few; bra all;\n"
    "few: add.f32 %f1, %f1, %f4; cvt.rn.f32.f64 %f5, %e3; add.f32 %f1, %f1, %f5;\n"
    "all: add.u32 %r5, %r5, 3; setp.lt.u32 %p2, %r5, 40; @%p2 bra again;\n"
    "cvt.rn.f32.f64 %f5, %e1; add.f32 %f1, %f1, %f5; mov.b32 %r9, %f1; xor.b32 %r9, %r9, %r7; st.global.u32 [%d2], %r9;\n"
    END
    // Constants, local memory, atomics, fences, sleep, the clock.
    BEGIN("spaces")
    ".local .align 4 .b8 stack[512]; mov.u32 %r5, 0; mov.u64 %d4, table; mov.u64 %d5, stack;\n"
    "again: rem.u32 %r8, %r5, 24; mul.lo.u32 %r8, %r8, 640; cvt.u64.u32 %d6, %r8; add.u64 %d6, %d6, %d4;\n"
    "ld.const.u32 %r9, [%d6]; add.u32 %r9, %r9, %r5; shl.b32 %r10, %r9, 2; and.b32 %r10, %r10, 252;\n"
    "cvt.u64.u32 %d7, %r10; add.u64 %d7, %d7, %d5; st.local.u32 [%d7], %r5; st.local.u32 [%d7+64], %r5;\n"
    "ld.local.u32 %r11, [%d7]; and.b32 %r15, %r11, 4; cvt.u64.u32 %d8, %r15; add.u64 %d8, %d8, %d7;\n"
    "ld.local.u32 %r14, [%d8]; add.u32 %r11, %r11, %r14; st.local.u32 [%d7], %r11;\n"
    "atom.global.add.u32 %r12, [%d2], %r11; red.global.add.u32 [%d1], %r12; st.global.u32 [%d2], %r12;\n"
    "membar.gl; nanosleep.u32 50; mov.u32 %r13, %clock;\n"
    "add.u32 %r5, %r5, 1; setp.lt.u32 %p1, %r5, 30; @%p1 bra again;\n"
    END
    // Textures, one after the other.
    BEGIN("texture")
    "ld.param.u64 %d3, [texture]; mov.u32 %r5, 0; cvt.rn.f32.u32 %f1, %r1; cvt.rn.f32.u32 %f2, %r3;\n"
    "again: tex.2d.v4.f32.f32 {%f3, %f4, %f5, %f6}, [%d3, {%f1, %f2}];\n"
    "tex.2d.v4.f32.f32 {%f7, %f8, %f9, %f10}, [%d3, {%f2, %f1}]; add.f32 %f3, %f3, %f7;\n"
    "add.f32 %f1, %f1, 0f3F800000; add.u32 %r5, %r5, 1; setp.lt.u32 %p1, %r5, 24; @%p1 bra again;\n"
    "st.global.f32 [%d2], %f3;\n"
    END
    // Matrix products, of a warp and of a warpgroup.
    BEGIN("matrix")
    ".shared .align 1024 .b8 tile[16384]; mov.u32 %r5, tile; shr.u32 %r6, %r5, 4; cvt.u64.u32 %d3, %r6;\n"
    "add.u64 %d3, %d3, 0x0000000800080000; mov.b32 %f1, 0f3f800000; mov.b32 %f2, %f1; mov.b32 %f3, %f1;\n"
    "mov.b32 %f4, %f1; setp.eq.u32 %p1, %r1, %r1; mov.u32 %r8, 0; mov.u32 %r9, 0; mov.u32 %r10, 0;\n"
    "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%f5, %f6, %f7, %f8}, {%r8, %r8, %r9, %r9}, {%r8, %r9},\n"
    "{%f1, %f2, %f3, %f4}; fence.proxy.async; bar.sync 0;\n"
    "again: wgmma.fence.sync.aligned;\n" PRODUCT PRODUCT PRODUCT PRODUCT
    "wgmma.commit_group.sync.aligned; wgmma.wait_group.sync.aligned 0;\n"
    "add.u32 %r10, %r10, 1; setp.lt.u32 %p2, %r10, 8; @%p2 bra again; add.f32 %f1, %f1, %f5; st.global.f32 [%d2], %f1;\n"
    END
    // Integers only: 8 warps of each scheduler wait for a unit that takes an instruction every other cycle.
    BEGIN("integers")
    "mov.u32 %r5, 0; mov.u32 %r6, %r1; mov.u32 %r7, %r3; mov.u32 %r8, %r4; mov.u32 %r9, %r1;\n"
    "again: xor.b32 %r6, %r6, %r7; and.b32 %r10, %r7, %r8; shl.b32 %r11, %r8, 3; xor.b32 %r9, %r9, %r6;\n"
    "or.b32 %r7, %r10, %r11; shr.u32 %r12, %r9, 2; xor.b32 %r8, %r8, %r12; min.u32 %r6, %r6, %r12;\n"
    "add.u32 %r5, %r5, 1; setp.lt.u32 %p1, %r5, 100; @%p1 bra again;\n"
    "xor.b32 %r6, %r6, %r7; xor.b32 %r8, %r8, %r9; xor.b32 %r6, %r6, %r8; st.global.u32 [%d2], %r6;\n"
    END
    // One warp that is busy for a long time.
    BEGIN("long")
    "mov.u32 %r5, 0;\nagain: add.u32 %r5, %r5, 1; setp.lt.u32 %p1, %r5, 60000; @%p1 bra again;\n"
    "st.global.u32 [%d2], %r5;\n"
    END
    // Two loads under way at once, the second one later by what its address takes; a third one has gone ahead of them,
    // so that no translation is missing.
    BEGIN("two_loads")
    "ld.global.u32 %r5, [%d2+4096]; and.b32 %r5, %r5, 4; cvt.u64.u32 %d4, %r5; add.u64 %d4, %d4, %d2;\n"
    "ld.global.u32 %r6, [%d4]; add.u32 %r8, %r5, 3;\n"  // 11
    "mul.lo.u32 %r8, %r8, %r8; mul.lo.u32 %r8, %r8, %r8; mul.lo.u32 %r8, %r8, %r8; mul.lo.u32 %r8, %r8, %r8;\n"
    "mul.lo.u32 %r8, %r8, %r8; mul.lo.u32 %r8, %r8, %r8; mul.lo.u32 %r8, %r8, %r8; mul.lo.u32 %r8, %r8, %r8;\n"
    "mul.lo.u32 %r8, %r8, %r8; mul.lo.u32 %r8, %r8, %r8; mul.lo.u32 %r8, %r8, %r8; mul.lo.u32 %r8, %r8, %r8;\n"
    "and.b32 %r8, %r8, 4; cvt.u64.u32 %d3, %r8; add.u64 %d3, %d3, %d2;\n"
    "ld.global.u32 %r7, [%d3+1048576]; add.u32 %r9, %r6, %r7; st.global.u32 [%d2], %r9;\n"  // 28, 29
    END
    // Three loads that come one after the other, and one instruction that waits for all of them.
    BEGIN("three_loads")
    "ld.global.u32 %r5, [%d2+4096]; ld.global.u32 %r6, [%d2+1048576]; ld.global.u32 %r7, [%d2+2097152];\n"
    "mad.lo.u32 %r9, %r5, %r6, %r7; st.global.u32 [%d2], %r9;\n"  // 10
    END
    // More values than registers.
    ".visible .entry spills(.param .u64 buffer, .param .u64 texture) .maxnreg 32 {\n"
    ".reg .b64 %d<3>; .reg .b32 %r<4>; .reg .f32 %f<2>, %v<60>; .reg .pred %p<2>;\n"
    "ld.param.u64 %d1, [buffer]; mov.u32 %r1, %tid.x; mul.wide.u32 %d2, %r1, 4; add.u64 %d2, %d1, %d2;\n"
    "mov.f32 %f1, 0f00000000; mov.u32 %r3, 0;\n" FIFTY(LOAD)
    "again: " FIFTY(TURN) "add.u32 %r3, %r3, 1; setp.lt.u32 %p1, %r3, %r1; @%p1 bra again;\n" FIFTY(SUM)
    "st.global.f32 [%d2], %f1;\n"
    END;
// clang-format on

#endif
