// SPDX-License-Identifier: Apache-2.0
//
// Rule: strength-reduction
// Change: the interleaver's next position comes from the one before by two additions, each with at most one
// subtraction of the block's length, not from the quadratic formula modulo the length.
// Why: the formula needs 64 bits, and a 64-bit remainder by a number that is only known at run time is dozens of
// instructions in a row for every bit; the recurrence is six cheap ones.
#include "../common.h"

// Mobile-phone receiver: forward pass of the second constituent decoder of a turbo code. The code block is cut into
// windows of 32 bits, each of which one thread walks through the trellis of eight states with max-log metrics; bits
// come in the order of the quadratic permutation interleaver. One CTA a code block.
constexpr int WINDOW = 32;
constexpr int LONGEST = 6144;
constexpr int THREADS = LONGEST / WINDOW;
constexpr int STATES = 8;
constexpr int NEVER = -(1 << 20);

struct Code {  // position of bit i: (f1 i + f2 i^2) mod length
    unsigned length, f1, f2;
};

struct Walk {
    unsigned bits;  // decisions, the window's first bit lowest
    int margin;     // between the best and the worst state at the end
};

__host__ __device__ inline unsigned position(const Code &code, unsigned i) {
    unsigned long long n = i;
    return (unsigned)((code.f1 * n + code.f2 * n * n) % code.length);
}

__host__ __device__ constexpr int state_after(int state, int bit) {  // feedback 1 + D^2 + D^3
    return (state << 1 & 6) | (bit ^ (state >> 1 & 1) ^ (state >> 2));
}

__host__ __device__ constexpr int parity_of(int state, int bit) {  // forward 1 + D + D^3
    return (state_after(state, bit) & 1) ^ (state & 1) ^ (state >> 2);
}

// One bit further: new metrics of all states, and whether the best path of all took a one.
__host__ __device__ inline unsigned trellis_step(int (&metric)[STATES], int systematic, int parity) {
    int next[STATES], best[2] = {NEVER, NEVER};
#ifdef __CUDA_ARCH__
#pragma unroll
#endif
    for (int s = 0; s < STATES; s++)
        next[s] = NEVER;
#ifdef __CUDA_ARCH__
#pragma unroll
#endif
    for (int edge = 0; edge < 2 * STATES; edge++) {
        int state = edge / 2, bit = edge % 2, to = state_after(state, bit);
        int reached = metric[state] + (bit ? systematic : -systematic) + (parity_of(state, bit) ? parity : -parity);
        next[to] = reached > next[to] ? reached : next[to];
        best[bit] = reached > best[bit] ? reached : best[bit];
    }
#ifdef __CUDA_ARCH__
#pragma unroll
#endif
    for (int s = 0; s < STATES; s++)
        metric[s] = next[s];
    return best[1] > best[0];
}

__host__ __device__ inline int margin_of(const int (&metric)[STATES]) {
    int low = metric[0], high = metric[0];
#ifdef __CUDA_ARCH__
#pragma unroll
#endif
    for (int s = 1; s < STATES; s++) {
        low = metric[s] < low ? metric[s] : low;
        high = metric[s] > high ? metric[s] : high;
    }
    return high - low;
}

__host__ __device__ inline int start_metric(unsigned window, int state) {
    return window == 0 && state != 0 ? NEVER / 2 : 0;
}

// Blocks lie LONGEST apart; parity: [block][bit of the window][window].
__global__ void __launch_bounds__(THREADS)
    walk_forward(Walk *__restrict__ walks, const char4 *__restrict__ systematic, const char4 *__restrict__ extrinsic,
                 const signed char *__restrict__ parity, const Code *__restrict__ codes) {
    __shared__ int soft[LONGEST + LONGEST / 32];  // a word is left out after 32, against bank conflicts
    const Code code = codes[blockIdx.x];
    size_t base = (size_t)blockIdx.x * LONGEST;
    for (int i = threadIdx.x; i < (int)code.length / 4; i += THREADS) {
        char4 a = systematic[base / 4 + i], b = extrinsic[base / 4 + i];
        int *to = soft + 4 * i + i / 8;
        to[0] = a.x + b.x;
        to[1] = a.y + b.y;
        to[2] = a.z + b.z;
        to[3] = a.w + b.w;
    }
    __syncthreads();

    unsigned window = threadIdx.x, windows = code.length / WINDOW;
    if (window >= windows)
        return;
    int metric[STATES];
#pragma unroll
    for (int s = 0; s < STATES; s++)
        metric[s] = start_metric(window, s);
    unsigned bits = 0;
#ifdef AFTER
    unsigned at = position(code, window * WINDOW);
    unsigned gap = (position(code, window * WINDOW + 1) + code.length - at) % code.length;
    unsigned widening = 2 * code.f2 % code.length;
#endif
    for (unsigned i = 0; i < WINDOW; i++) {
#ifndef AFTER
        unsigned at = position(code, window * WINDOW + i);
#endif
        bits |= trellis_step(metric, soft[at + at / 32], parity[base + i * windows + window]) << i;
#ifdef AFTER
        at += gap;
        at -= at >= code.length ? code.length : 0;
        gap += widening;
        gap -= gap >= code.length ? code.length : 0;
#endif
    }
    walks[blockIdx.x * THREADS + window] = {bits, margin_of(metric)};
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "interleavers");
    const int blocks = p.small ? 3 : 3168;
    const Code known[] = {{6144, 263, 480}, {6144, 263, 480}, {5120, 39, 80}, {4096, 31, 64}};

    unsigned seed = 387;
    std::vector<Code> codes(blocks);
    for (Code &code : codes)
        code = known[lcg_next(&seed, 4)];
    std::vector<signed char> systematic((size_t)blocks * LONGEST), extrinsic(systematic.size());
    std::vector<signed char> parity(systematic.size());
    for (size_t i = 0; i < systematic.size(); i++) {
        unsigned r = lcg_next(&seed, 1 << 24);
        systematic[i] = (signed char)((int)(r & 127) - 64);
        extrinsic[i] = (signed char)((int)(r >> 7 & 63) - 32);
        parity[i] = (signed char)((int)(r >> 13 & 127) - 64);
    }

    signed char *d_systematic = device_copy_of(systematic.data(), systematic.size());
    signed char *d_extrinsic = device_copy_of(extrinsic.data(), extrinsic.size());
    signed char *d_parity = device_copy_of(parity.data(), parity.size());
    Code *d_codes = device_copy_of(codes.data(), codes.size());
    Walk *d_walks = device_array<Walk>((size_t)blocks * THREADS);
    pair_time(&p, [&] {
        walk_forward<<<blocks, THREADS>>>(d_walks, (const char4 *)d_systematic, (const char4 *)d_extrinsic, d_parity,
                                          d_codes);
    });

    std::vector<Walk> walks = host_copy_of(d_walks, (size_t)blocks * THREADS);
    for (int b = 0; b < blocks; b += p.small ? 1 : 29) {
        unsigned windows = codes[b].length / WINDOW;
        for (unsigned w = 0; w < windows; w++) {
            int metric[STATES];
            for (int s = 0; s < STATES; s++)
                metric[s] = start_metric(w, s);
            unsigned bits = 0;
            for (unsigned i = 0; i < WINDOW; i++) {
                size_t from = (size_t)b * LONGEST + position(codes[b], w * WINDOW + i);
                bits |= trellis_step(metric, systematic[from] + extrinsic[from],
                                     parity[(size_t)b * LONGEST + i * windows + w])
                        << i;
            }
            pair_near(&p, "bits", b * THREADS + w, bits, walks[b * THREADS + w].bits, 0);
            pair_near(&p, "margin", b * THREADS + w, margin_of(metric), walks[b * THREADS + w].margin, 0);
        }
    }
    CUDA_CHECK(cudaFree(d_systematic));
    CUDA_CHECK(cudaFree(d_extrinsic));
    CUDA_CHECK(cudaFree(d_parity));
    CUDA_CHECK(cudaFree(d_codes));
    CUDA_CHECK(cudaFree(d_walks));
    return pair_end(&p);
}
