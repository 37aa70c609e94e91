// SPDX-License-Identifier: Apache-2.0
//
// Rule: shared-conflicts
// Change: one unused word follows every eight words of the frame in shared memory.
// Why: a thread takes eight neighbours in the first pass and eight that are eight apart in the second, so that lanes
// meet on the same banks.
#include "../common.h"

enum { CHIPS = 512, RADIX = 8, BLOCK = CHIPS / RADIX };

#ifdef AFTER
static __device__ int at(unsigned chip) { return chip + chip / 8; }
enum { WORDS = CHIPS + CHIPS / 8 };
#else
static __device__ int at(unsigned chip) { return chip; }
enum { WORDS = CHIPS };
#endif

// Eight chips, `stride` apart, become their sums and differences.
static __device__ void butterfly(int *v) {
#pragma unroll
    for (int step = 1; step < RADIX; step *= 2)
#pragma unroll
        for (int i = 0; i < RADIX; i++)
            if (!(i & step)) {
                int a = v[i], b = v[i + step];
                v[i] = a + b;
                v[i + step] = a - b;
            }
}

// A base station looks which of 512 Walsh codes a phone sent: the strongest line of the frame's Hadamard transform.
__global__ void __launch_bounds__(BLOCK) despread(const short *frames, const unsigned *scrambling, int2 *strongest) {
    __shared__ int chips[WORDS];
    __shared__ int2 candidates[BLOCK / 32];
    const short *frame = frames + (size_t)blockIdx.x * CHIPS;
    for (int i = threadIdx.x; i < CHIPS; i += BLOCK) {
        int chip = frame[i];
        chips[at(i)] = scrambling[i / 32] >> i % 32 & 1 ? -chip : chip;
    }
    int v[RADIX], best = -1, code = 0;
#pragma unroll
    for (int stride = 1; stride < CHIPS; stride *= RADIX) {
        __syncthreads();
        unsigned first = threadIdx.x / stride * stride * RADIX + threadIdx.x % stride;
#pragma unroll
        for (int k = 0; k < RADIX; k++)
            v[k] = chips[at(first) + at(k * stride)];
        butterfly(v);
        if (stride < BLOCK) {
#pragma unroll
            for (int k = 0; k < RADIX; k++)
                chips[at(first) + at(k * stride)] = v[k];
        }
    }
#pragma unroll
    for (int k = 0; k < RADIX; k++)
        if (abs(v[k]) > best) {
            best = abs(v[k]);
            code = threadIdx.x + k * BLOCK;
        }
    for (int step = 16; step; step /= 2) {
        int other = __shfl_down_sync(~0u, best, step), other_code = __shfl_down_sync(~0u, code, step);
        if (other > best || (other == best && other_code < code)) {
            best = other;
            code = other_code;
        }
    }
    if (threadIdx.x % 32 == 0)
        candidates[threadIdx.x / 32] = make_int2(best, code);
    __syncthreads();
    if (threadIdx.x == 0) {
        int2 a = candidates[0], b = candidates[1];
        strongest[blockIdx.x] = b.x > a.x || (b.x == a.x && b.y < a.y) ? b : a;
    }
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "walsh_codes");
    int frames = p.small ? 60 : 120000;
    std::vector<short> chips((size_t)frames * CHIPS);
    unsigned scrambling[CHIPS / 32], seed = 1;
    for (unsigned &word : scrambling)
        word = lcg_next(&seed, 1 << 16) << 16 | lcg_next(&seed, 1 << 16);
    for (int f = 0; f < frames; f++) {
        unsigned sent = lcg_next(&seed, CHIPS);
        for (int i = 0; i < CHIPS; i++) {
            int sign = (__builtin_popcount(sent & i) + (scrambling[i / 32] >> i % 32)) & 1 ? -1 : 1;
            chips[(size_t)f * CHIPS + i] = 100 * sign + (int)lcg_next(&seed, 2000) - 1000;
        }
    }
    short *d_frames = device_copy_of(chips.data(), chips.size());
    unsigned *d_scrambling = device_copy_of(scrambling, CHIPS / 32);
    int2 *d_strongest = device_array<int2>(frames);
    pair_time(&p, [&] { despread<<<frames, BLOCK>>>(d_frames, d_scrambling, d_strongest); });
    std::vector<int2> strongest = host_copy_of(d_strongest, frames);
    for (int f = 0; f < frames; f += 1 + frames / 1500) {
        std::vector<int> line(CHIPS);
        for (int i = 0; i < CHIPS; i++)
            line[i] = scrambling[i / 32] >> i % 32 & 1 ? -chips[(size_t)f * CHIPS + i] : chips[(size_t)f * CHIPS + i];
        for (int step = 1; step < CHIPS; step *= 2)
            for (int i = 0; i < CHIPS; i++)
                if (!(i & step)) {
                    int a = line[i], b = line[i + step];
                    line[i] = a + b;
                    line[i + step] = a - b;
                }
        int code = 0;
        for (int i = 1; i < CHIPS; i++)
            if (abs(line[i]) > abs(line[code]))
                code = i;
        pair_near(&p, "strength", f, abs(line[code]), strongest[f].x, 0);
        pair_near(&p, "code", f, code, strongest[f].y, 0);
    }
    return pair_end(&p);
}
