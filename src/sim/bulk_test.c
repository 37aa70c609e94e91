// SPDX-License-Identifier: Apache-2.0
// Bulk and tensor copies in kernels: what they move, how they complete, and what is refused with which explanation.
#include "sim/device_testing.h"
#include "sim/tensor_map.h"

#define HEAD ".version 9.0\n.target sm_100a\n.address_size 64\n"
#define ENTRY                                                                                                         \
    ".visible .entry run(.param .u64 in, .param .u64 out, .param .align 64 .b8 map[128]) {\n"                         \
    "  .reg .b64 %d<20>; .reg .b32 %r<30>; .reg .b16 %h<9>; .reg .pred %p<9>;\n"                                      \
    "  .shared .align 1024 .b8 space[4096]; .shared .align 128 .b8 copy[128]; .shared .align 8 .b64 bar;\n"           \
    "  ld.param.u64 %d1, [in]; ld.param.u64 %d2, [out]; mov.u32 %r1, %tid.x; mov.u32 %r2, space; mov.u32 %r3, bar;\n" \
    "  mov.b64 %d3, map; cvta.param.u64 %d3, %d3; mov.u32 %r4, copy; setp.ne.u32 %p1, %r1, 0;\n"                      \
    "  @!%p1 mbarrier.init.shared::cta.b64 [%r3], 1; fence.mbarrier_init.release.cluster; bar.sync 0;\n"              \
    "  shl.b32 %r6, %r1, 4; add.u32 %r5, %r2, %r6; cvt.u64.u32 %d6, %r6; add.u64 %d5, %d2, %d6; add.u64 %d4, %d1, "   \
    "%d6;\n"
#define WAIT "wait: mbarrier.try_wait.parity.shared::cta.b64 %p8, [%r3], 0; @!%p8 bra wait;\n"
// Thread t gives 16 bytes of shared memory out.
#define GIVE "ld.shared.v4.u32 {%r10, %r11, %r12, %r13}, [%r5]; st.global.v4.u32 [%d5], {%r10, %r11, %r12, %r13};\n"
#define TAKE                                                                                                        \
    "ld.global.v4.u32 {%r10, %r11, %r12, %r13}, [%d4]; st.shared.v4.u32 [%r5], {%r10, %r11, %r12, %r13}; bar.sync " \
    "0;\n"

typedef struct Run {
    TestDevice d;
    u32 in[1024], out[1024];  // 16 bytes a thread
    u32 cluster;              // CTAs, 0 = a launch without
    char said[1024];          // the explanation of a fault
} Run;

// The tensor of the map: 10 x 6 words in rows of 16, boxes of 8 x 4.
static Status map_make(u64 address, void *map) {
    static const u64 dims[] = {10, 6}, strides[] = {64};
    static const u32 box[] = {8, 4}, steps[] = {1, 1};
    TensorMapSpec spec = {
        .type = TENSOR_U32, .rank = 2, .address = address, .dims = dims, .strides = strides, .element_strides = steps};
    return sim_tensor_map_encode_tiled(map, &spec, box);
}

static Status run_try(Run *r, const char *body, u32 threads) {
    static char ptx[16384];
    struct {
        u64 in, out;
        u8 gap[48], map[TENSOR_MAP_BYTES];
    } params = {0};
    for (u32 i = 0; i < WL_COUNT(r->in); i++) r->in[i] = i * 2654435761u;
    snprintf(ptx, sizeof ptx, "%s%s%s\nret;\n}\n", HEAD, ENTRY, body);
    device_open(&r->d, ptx);
    params.in = device_memory(&r->d, r->in, sizeof r->in);
    params.out = device_memory(&r->d, NULL, sizeof r->out);
    assert_int_equal(map_make(params.in, params.map), STATUS_OK);
    SimKernel *k;
    SimKernelInfo info;
    assert_int_equal(sim_find_kernel(r->d.sim, r->d.module, "run", &k), STATUS_OK);
    Status status = sim_kernel_prepare(r->d.sim, k, &info, &r->d.diag);
    u32 ctas = r->cluster ? r->cluster : 1;
    SimLaunch launch = {.kernel = k, .grid = {ctas, 1, 1}, .block = {threads, 1, 1}, .params = &params};
    for (u32 i = 0; i < 3; i++) launch.cluster[i] = !r->cluster ? 0 : i ? 1 : r->cluster;
    if (status == STATUS_OK) status = sim_launch(r->d.sim, &launch, NULL, &r->d.diag);
    if (status != STATUS_OK) diag_format(&r->d.diag.entries.data[0], r->said, sizeof r->said);
    memcpy(r->out, device_view(&r->d, params.out, sizeof r->out), sizeof r->out);
    memcpy(r->in, device_view(&r->d, params.in, sizeof r->in), sizeof r->in);
    device_close(&r->d);
    return status;
}

static void run(Run *r, const char *body, u32 threads) {
    Status status = run_try(r, body, threads);
    if (status != STATUS_OK) print_message("%s\n", r->said);
    assert_int_equal(status, STATUS_OK);
}

static void refused(u32 cluster, const char *body, const char *why) {
    static Run r;
    r.cluster = cluster;
    assert_int_equal(run_try(&r, body, 32), STATUS_FAULT);
    if (!strstr(r.said, why)) print_message("said: %s\nwanted: %s\n", r.said, why);
    assert_non_null(strstr(r.said, why));
}

#define LOAD(to, from, size)                                                                                       \
    "@!%p1 cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes " to ", " from ", " size ", [%r3];\n" \
    "@!%p1 mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r3], " size ";\n"

TEST(bulk_copies) {
    static Run r;
    run(&r, LOAD("[%r2]", "[%d1+32]", "480") WAIT GIVE, 32);
    assert_memory_equal(r.out, r.in + 8, 480);
    run(&r,
        TAKE "@!%p1 cp.async.bulk.global.shared::cta.bulk_group [%d2+16], [%r2+64], 256;\n"
             "cp.async.bulk.commit_group; cp.async.bulk.wait_group 0;\n",
        32);
    assert_memory_equal(r.out + 4, r.in + 16, 256);
    run(&r,
        TAKE "mov.u16 %h1, 0xf00f;\n"
             "@!%p1 cp.async.bulk.global.shared::cta.bulk_group.cp_mask [%d2], [%r2], 32, %h1;\n",
        32);
    for (u32 i = 0; i < 8; i++) assert_int_equal(r.out[i], i % 4 == 0 || i % 4 == 3 ? r.in[i] : 0);
    run(&r, TAKE "@!%p1 st.bulk.weak.shared::cta [%r2+8], 40, 0; bar.sync 0;\n" GIVE, 32);
    for (u32 i = 0; i < 32; i++) assert_int_equal(r.out[i], i >= 2 && i < 12 ? 0 : r.in[i]);
}

TEST(bulk_copies_that_are_refused) {
    refused(0, "mov.u32 %r9, 24;\n" LOAD("[%r2]", "[%d1]", "%r9"), "not a multiple of 16 bytes");
    refused(0, LOAD("[%r2+8]", "[%d1]", "16"), "shared write of 16 bytes at address 0x8 is misaligned");
    refused(0, LOAD("[%r2]", "[%d1+8]", "16"), "is misaligned");
    refused(0, LOAD("[%r2]", "[%d1]", "8192"), "is out of bounds");
    refused(0, LOAD("[%r2+4096]", "[%d1]", "1024"), "the block has");
    refused(0, "@!%p1 mbarrier.inval.shared::cta.b64 [%r3];\n" LOAD("[%r2]", "[%d1]", "16"), "was not initialised");
    refused(0, "st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.u32 [%r2], %r1, [%r3];", "without clusters");
}

// Bytes that never come: who waits is said, in a cluster too.
TEST(waits_without_end) {
    static Run r;
    for (r.cluster = 0; r.cluster < 3; r.cluster += 2) {
        assert_int_equal(run_try(&r, "@!%p1 mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r3], 64;\n" WAIT, 64),
                         STATUS_DEADLOCK);
        assert_non_null(strstr(r.said, "block (0,0,0) warp 1 lanes 0xffffffff: repeats the same steps forever"));
    }
}

// Lanes that try an mbarrier leave their warp's other lanes the turn, on either side of the branch.
TEST(lanes_wait_for_lanes) {
    static Run r;
    static const char *const guards[] = {"@%p1", "@!%p1"};
    for (u32 i = 0; i < 2; i++) {
        char body[512];
        snprintf(body, sizeof body,
                 "setp.gt.u32 %%p1, %%r1, %u; %s bra tries; mbarrier.arrive.shared::cta.b64 _, [%%r3]; bra over;\n"
                 "tries: %s over: st.global.u32 [%%d5], %%r1;\n",
                 i ? 30u : 0u, guards[i], WAIT);
        run(&r, body, 32);
        assert_int_equal(r.out[4 * 31], 31);
    }
}

TEST(addresses_in_clusters) {
    static Run r;
    r.cluster = 3;
    run(&r,
        "mov.u32 %r20, %cluster_ctarank; mapa.shared::cluster.u32 %r21, space, 2; getctarank.shared::cluster.u32 %r22, "
        "%r21;\n"
        "getctarank.shared::cluster.u32 %r23, %r2; cvt.u64.u32 %d10, %r2; cvta.shared.u64 %d10, %d10; mapa.u64 %d11, "
        "%d10, 1;\n"
        "getctarank.u64 %r24, %d11; isspacep.shared::cta %p2, %d11; isspacep.shared::cluster %p3, %d11;\n"
        "isspacep.shared::cta %p4, %d10; isspacep.global %p5, %d11;\n"
        "selp.u32 %r25, 1, 0, %p2; selp.u32 %r26, 10, 0, %p3; selp.u32 %r27, 100, 0, %p4; selp.u32 %r28, 1000, 0, "
        "%p5;\n"
        "add.u32 %r25, %r25, %r26; add.u32 %r25, %r25, %r27; add.u32 %r25, %r25, %r28;\n"
        "mul.wide.u32 %d12, %r20, 16; add.u64 %d12, %d12, %d2;\n"
        "st.global.v4.u32 [%d12], {%r22, %r23, %r24, %r25};\n",
        1);
    for (u32 rank = 0; rank < 3; rank++) {
        const u32 wanted[4] = {2, rank, 1, 110 + (rank == 1)};
        assert_memory_equal(r.out + 4 * rank, wanted, sizeof wanted);
    }
}

#define TENSOR_LOAD_AT(coordinates)                                                                                    \
    "@!%p1 cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%r2], [%d3, " coordinates \
    "], [%r3];\n@!%p1 mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r3], 128;\n"

TEST(tensor_copies) {
    static Run r;
    run(&r, "mov.u32 %r20, 4; mov.u32 %r21, -1;\n" TENSOR_LOAD_AT("{%r20, %r21}") WAIT GIVE, 8);
    for (u32 y = 0; y < 4; y++)
        for (u32 x = 0; x < 8; x++)
            assert_int_equal(r.out[8 * y + x], y >= 1 && x < 6 ? r.in[16 * (y - 1) + 4 + x] : 0);
    // Four rows of a map whose boxes are rows.
    run(&r,
        TAKE "bar.sync 0;\n@%p1 bra over;\n"
             "ld.param.u64 %d10, [map]; st.shared.u64 [%r4], %d10;\n"  // the map, changed in shared memory
             "mov.u32 %r20, 8; copied: add.u32 %r21, %r4, %r20; cvt.u64.u32 %d11, %r20; add.u64 %d11, %d11, %d3;\n"
             "ld.u64 %d10, [%d11]; st.shared.u64 [%r21], %d10; add.u32 %r20, %r20, 8; setp.lt.u32 %p2, %r20, 128; @%p2 "
             "bra copied;\n"
             "tensormap.replace.tile.global_address.shared::cta.b1024.b64 [%r4], %d2;\n"
             "tensormap.replace.tile.box_dim.shared::cta.b1024.b32 [%r4], 1, 1;\n"
             "tensormap.replace.tile.global_dim.shared::cta.b1024.b32 [%r4], 1, 40;\n"
             "tensormap.replace.tile.global_dim.shared::cta.b1024.b32 [%r4], 0, 16;\n"
             "over: add.u64 %d12, %d1, 2048; bar.sync 0;\n"
             "tensormap.cp_fenceproxy.global.shared::cta.tensormap::generic.release.gpu.sync.aligned [%d12], [%r4], "
             "128;\n"
             "mov.u32 %r20, 8; mov.u32 %r21, 3; mov.u32 %r22, 30; mov.u32 %r23, 0; mov.u32 %r24, 50;\n"
             "@!%p1 cp.async.bulk.tensor.2d.global.shared::cta.tile::scatter4.bulk_group [%d12, {%r20, %r21, %r22, "
             "%r23, %r24}], [%r2];\n",
        32);
    static const u32 rows[4] = {3, 30, 0, 50};
    for (u32 y = 0; y < 40; y++)
        for (u32 x = 0; x < 16; x++) {
            u32 from = 4;
            for (u32 k = 0; k < 4; k++)
                if (rows[k] == y) from = k;
            assert_int_equal(r.out[16 * y + x], from < 4 && x >= 8 ? r.in[8 * from + x - 8] : 0);
        }
}

TEST(tensor_copies_that_are_refused) {
    refused(0, "mov.u32 %r20, 2; mov.u32 %r21, 0;\n" TENSOR_LOAD_AT("{%r20, %r21}"), "multiple of 16 bytes");
    refused(0, "mov.u32 %r20, 0; mov.u64 %d3, %d1;\n" TENSOR_LOAD_AT("{%r20, %r20}"), "no valid tensor map");
    refused(0, "mov.u32 %r20, 0; add.u32 %r2, %r2, 64;\n" TENSOR_LOAD_AT("{%r20, %r20}"), "is misaligned");
    refused(0,
            "mov.u32 %r20, 0;\n@!%p1 cp.async.bulk.tensor.1d.shared::cluster.global.tile.mbarrier::complete_tx::bytes "
            "[%r2], [%d3, {%r20}], [%r3];\n",
            "another number of dimensions");
    refused(0,
            "mov.u32 %r20, 0; mov.u32 %r21, -1;\n@!%p1 cp.async.bulk.tensor.2d.global.shared::cta.bulk_group [%d3, "
            "{%r20, %r21}], [%r2];\n",
            "begins at a negative coordinate");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bulk_copies),
        cmocka_unit_test(bulk_copies_that_are_refused),
        cmocka_unit_test(waits_without_end),
        cmocka_unit_test(lanes_wait_for_lanes),
        cmocka_unit_test(addresses_in_clusters),
        cmocka_unit_test(tensor_copies),
        cmocka_unit_test(tensor_copies_that_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
