// SPDX-License-Identifier: Apache-2.0
// Occupancy as CUDA's runtime computes it: what cudaOccupancyMaxActiveBlocksPerMultiprocessor answered on an H200.
#include <string.h>

#include "base/testing.h"
#include "sim/sim.h"

// As in tests/tools/occupancy_record.cu.
static const u32 block_sizes[] = {1,   32,  33,  64,  96,  128, 160, 192, 224, 256, 288, 320, 352, 384, 416,
                                  448, 512, 544, 576, 640, 672, 704, 768, 800, 896, 928, 960, 992, 1024};
static const u32 dynamic_sizes[] = {0,     1,      127,    128,    129,    1000,   2048,   4096,
                                    6144,  10000,  16384,  24576,  32768,  49152,  49153,  65536,
                                    77824, 102400, 115712, 116736, 131072, 184320, 231424, 232448};

static const struct {
    u32 registers, static_bytes, max_threads;
    const char *answers;  // a character each, '0' + CTAs: block sizes outside, dynamic sizes inside
} kernels[] = {
#include "sim/occupancy_cases.inc"
};

TEST(as_on_an_h200) {
    GpuModel gpu;
    assert_int_equal(gpu_load("gpus", "h200", &gpu, NULL), STATUS_OK);
    for (u32 k = 0; k < WL_COUNT(kernels); k++) {
        SimKernelInfo info = {.registers = kernels[k].registers,
                              .static_shared_bytes = kernels[k].static_bytes,
                              .max_threads = kernels[k].max_threads};
        const char *answer = kernels[k].answers;
        assert_int_equal(strlen(answer), WL_COUNT(block_sizes) * WL_COUNT(dynamic_sizes));
        for (u32 b = 0; b < WL_COUNT(block_sizes); b++)
            for (u32 d = 0; d < WL_COUNT(dynamic_sizes); d++, answer++)
                if (sim_occupancy(&gpu, &info, block_sizes[b], dynamic_sizes[d]) != (u32)(*answer - '0'))
                    fail_msg("%u registers, %u + %u bytes, %u threads: %u CTAs, CUDA says %d", info.registers,
                             kernels[k].static_bytes, dynamic_sizes[d], block_sizes[b],
                             sim_occupancy(&gpu, &info, block_sizes[b], dynamic_sizes[d]), *answer - '0');
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(as_on_an_h200)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
