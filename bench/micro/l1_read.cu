// SPDX-License-Identifier: Apache-2.0
// Loads that hit the L1, `COUNT` independent ones of a warp in a turn, whose results are used before the next turn.
// `l1_read/PATTERN/BYTES/COUNT/WARPS`: cycles of the SM for a load of a warp.
// PATTERN: lanes - neighbouring words of neighbouring lanes; one - all lanes the same word; far - each lane its own
// sector, 32 bytes apart. BYTES: of a lane. All warps read the same 16 KiB, in each turn from
// 512 bytes further on, so that no load can be taken out of the loop.
#include "l1_loads.h"

template <int BYTES, int COUNT> __global__ void reads(const char *data, int lane_bytes, i64 *cycles, unsigned *out) {
    unsigned sum = warm_up(data);
    read_turns<BYTES, COUNT, 512>(data + threadIdx.x % 32 * lane_bytes, sum, cycles, out);
}

template <int BYTES, int COUNT> static void pattern(const char *name, int lane_bytes, const char *data, unsigned *out) {
    char text[128];
    for (int warps = 1; warps <= 32; warps *= 2) {
        snprintf(text, sizeof text, "l1_read/%s/%d/%d/%d", name, BYTES, COUNT, warps);
        i64 *cycles = cycles_buffer();
        reads<BYTES, COUNT><<<1, warps * 32>>>(data, lane_bytes, cycles, out);
        report_reads(text, cycles, COUNT, warps);
    }
}

template <int BYTES, int COUNT> static void patterns(const char *data, unsigned *out) {
    pattern<BYTES, COUNT>("lanes", BYTES, data, out);
    pattern<BYTES, COUNT>("one", 0, data, out);
    if (BYTES <= 8) pattern<BYTES, COUNT>("far", 32, data, out);
}

int main() {
    char *data;
    unsigned *out;
    CHECK(cudaMalloc(&data, 64 << 10));
    CHECK(cudaMemset(data, 0, 64 << 10));
    CHECK(cudaMalloc(&out, 4096));
    patterns<4, 1>(data, out);
    patterns<4, 4>(data, out);
    patterns<4, 8>(data, out);
    patterns<8, 4>(data, out);
    patterns<16, 1>(data, out);
    patterns<16, 4>(data, out);
    return 0;
}
