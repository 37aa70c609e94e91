// SPDX-License-Identifier: Apache-2.0
// Loads that hit the L1 of neighbouring words of neighbouring lanes which do not begin at a line: what stencils do.
// `l1_shifted/BYTES/SHIFT/WARPS`: cycles of the SM for a load of a warp, eight independent ones in a turn, whose
// results are used before the next. BYTES: of a lane; SHIFT: bytes behind the begin of a line. `rows/...`: eight lanes
// a row, rows 128, 384 and 1,088 bytes apart; `gap`: half of the warp at one line's begin, half at another's, SHIFT
// bytes behind it. `latency/SHIFT`: cycles of a load in a chain of one warp.
#include "l1_loads.h"

constexpr int COUNT = 8;

// `group` lanes lie behind each other, groups `apart` bytes from each other.
template <int BYTES>
__global__ void reads(const char *data, int shift, int group, int apart, i64 *cycles, unsigned *out) {
    unsigned sum = warm_up(data);
    int lane = threadIdx.x % 32;
    const char *p = data + shift + lane % group * BYTES + lane / group * apart;
    read_turns<BYTES, COUNT, 256>(p, sum, cycles, out);
}

__global__ void chain(const char *data, int shift, i64 *cycles, unsigned *out) {
    unsigned at = warm_up(data);
    i64 begin = now();
    for (int turn = 0; turn < TURNS; turn++) at = load<4>(data + at + shift + threadIdx.x * 4);
    i64 end = now();
    out[threadIdx.x] = at;
    if (threadIdx.x == 0) cycles[0] = end - begin;
}

template <int BYTES>
static void pattern(const char *name, int shift, int group, int apart, const char *data, unsigned *out) {
    char text[128];
    for (int warps : {1, 4, 8, 16, 32}) {
        snprintf(text, sizeof text, "%s/%d/%d/%d", name, BYTES, shift, warps);
        i64 *cycles = cycles_buffer();
        reads<BYTES><<<1, warps * 32>>>(data, shift, group, apart, cycles, out);
        report_reads(text, cycles, COUNT, warps);
    }
}

int main() {
    char *data, text[64];
    unsigned *out;
    CHECK(cudaMalloc(&data, 64 << 10));
    CHECK(cudaMemset(data, 0, 64 << 10));
    CHECK(cudaMalloc(&out, 4096));
    for (int shift : {0, 4, 8, 16, 28, 32, 36, 60, 64, 68, 96, 100, 124})
        pattern<4>("l1_shifted", shift, 32, 0, data, out);
    for (int shift : {0, 8, 32, 64, 72, 120}) pattern<8>("l1_shifted", shift, 32, 0, data, out);
    for (int apart : {128, 384, 1088})
        for (int shift : {0, 4, 96, 124}) {
            snprintf(text, sizeof text, "rows/%d", apart);
            pattern<4>(text, shift, 8, apart, data, out);
        }
    for (int shift : {0, 32, 64}) pattern<4>("gap", shift, 16, 256, data, out);
    for (int shift : {0, 4, 32, 64, 96, 124}) {
        i64 *cycles = cycles_buffer();
        chain<<<1, 32>>>(data, shift, cycles, out);
        snprintf(text, sizeof text, "latency/%d", shift);
        report(text, (double)cycles_read(cycles, 0) / TURNS, "cycles", "");
    }
    return 0;
}
