// SPDX-License-Identifier: Apache-2.0
#include "sim/time/l1_size.h"

#include <stdio.h>

#include "base/diag.h"
#include "base/testing.h"

static GpuModel model(const char *id) {
    GpuModel gpu;
    Diag diag = {0};
    assert_int_equal(gpu_load("gpus", id, &gpu, &diag), STATUS_OK);
    return gpu;
}

static u64 least(u64 a, u64 b) { return a < b ? a : b; }

// Every launch of bench/hwref/h200-carve-outs.tsv; three of 128 threads with 64 bytes have 32 KiB there, 64 here.
TEST(a_launch_leaves_the_l1_what_it_leaves_in_an_h200) {
    GpuModel gpu = model("h200");
    FILE *file = fopen("bench/hwref/h200-carve-outs.tsv", "r");
    assert_non_null(file);
    char line[512];
    u32 rows = 0, same = 0;
    while (fgets(line, sizeof line, file)) {
        u32 threads, registers, dynamic, by_registers, by_shared, shared, config;
        if (sscanf(line, "%u %u %u %u %u %u %u", &threads, &registers, &dynamic, &by_registers, &by_shared, &shared,
                   &config) != 7)
            continue;
        u64 ctas = least(least(by_registers, gpu.shared_per_sm / shared),
                         least(gpu.max_threads_per_sm / threads, gpu.max_ctas_per_sm));
        rows++;
        same += l1_size(&gpu, (L1Shape){dynamic, threads, (u32)ctas, 0}) == gpu.l1_size - config;
    }
    fclose(file);
    assert_int_equal(rows, 520);
    assert_int_equal(same, 517);
}

// bench/hwref/h200-l1-carved.tsv
TEST(a_carve_out_takes_no_less_than_it_says) {
    GpuModel gpu = model("h200");
    assert_int_equal(l1_size(&gpu, (L1Shape){0, 1024, 2, 0}), 240 << 10);
    assert_int_equal(l1_size(&gpu, (L1Shape){0, 1024, 2, 50}), 116 << 10);
    assert_int_equal(l1_size(&gpu, (L1Shape){100 << 10, 256, 2, 0}), 20 << 10);
    assert_int_equal(l1_size(&gpu, (L1Shape){8 << 10, 256, 8, 0}), 116 << 10);
    gpu.l1_unified = 0;
    assert_int_equal(l1_size(&gpu, (L1Shape){8 << 10, 256, 8, 50}), gpu.l1_size);
}

// Twice what is needed only as far as half of the array, which is smaller on other GPUs.
TEST(half_of_the_array_is_half_of_the_gpus_own) {
    GpuModel gpu = model("v100");
    assert_int_equal(l1_size(&gpu, (L1Shape){8 << 10, 256, 6, 0}), gpu.l1_size - (64 << 10));
    assert_int_equal(l1_size(&gpu, (L1Shape){0, 256, 8, 0}), gpu.l1_size);
}

int main(void) {
    static const struct CMUnitTest tests[] = {cmocka_unit_test(a_launch_leaves_the_l1_what_it_leaves_in_an_h200),
                                              cmocka_unit_test(a_carve_out_takes_no_less_than_it_says),
                                              cmocka_unit_test(half_of_the_array_is_half_of_the_gpus_own)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
