// SPDX-License-Identifier: Apache-2.0
// How many clusters fit: the answers of cudaOccupancyMaxActiveClusters on an H200 (2026-11-21, driver 580, CUDA 13.0)
// for clusters of 1 to 16 blocks.
#include "sim/device_testing.h"

static void check(u32 threads, u32 shared, const u32 *wanted) {
    GpuModel gpu;
    Diag diag = {0};
    assert_int_equal(gpu_load("gpus", "h200", &gpu, &diag), STATUS_OK);
    SimKernelInfo info = {.registers = 16, .max_threads = 1024};
    for (u32 size = 1; size <= SIM_MAX_CLUSTER; size++)
        assert_int_equal(sim_cluster_occupancy(&gpu, &info, threads, shared, size), wanted[size - 1]);
    diag_free(&diag);
}

TEST(clusters_that_fit) {
    static const u32 one[] = {132, 66, 39, 30, 22, 17, 15, 15, 9, 7, 7, 7, 7, 7, 7, 7},
                     two[] = {264, 132, 79, 62, 47, 39, 32, 30, 23, 21, 16, 16, 14, 14, 14, 14},
                     five[] = {660, 330, 203, 154, 124, 101, 84, 77, 60, 58, 51, 44, 42, 37, 37, 35},
                     eight[] = {1056, 528, 327, 248, 193, 163, 139, 124, 102, 88, 81, 74, 67, 65, 58, 58};
    check(1024, 232448, one);
    check(32, 150000, one);
    check(1024, 0, two);
    check(32, 110000, two);
    check(256, 40000, five);
    check(256, 0, eight);
    check(32, 1024, eight);  // 32 blocks would fit without clusters
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(clusters_that_fit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
