// SPDX-License-Identifier: Apache-2.0
// What it costs when lanes part. A turn of a loop has branches around sides of 16 dependent multiply-adds, which ptxas
// does not predicate; the lanes' words say who takes which. `diverge/SIDES/LANES/WARPS`: cycles of a turn.
// SIDES: `one` (if), `two` (if, else), `nested` (if, in it an if, an else), `chain` (if, else if, else if, else).
// LANES: `all` take the first way, `none` (the last), `half` part, `mixed` by random words.
#include "micro.h"

enum { TURNS = 512, STEPS = 16 };

__device__ static inline float side(float x, float a, float b) {
#pragma unroll
    for (int i = 0; i < STEPS; i++) x = fmaf(x, a, b);
    return x;
}

template <int SIDES> __global__ void turns(const unsigned *words, float a, float b, i64 *cycles, float *out) {
    unsigned word = words[threadIdx.x % 32];
    float x = threadIdx.x;
    __syncthreads();
    i64 begin = now();
#pragma unroll 1
    for (int i = 0; i < TURNS; i++) {
        unsigned bits = word >> i % 16;
        if (SIDES == 1) {
            if (bits & 1) x = side(x, a, b);
        } else if (SIDES == 2) {
            if (bits & 1)
                x = side(x, a, b);
            else
                x = side(x, b, a);
        } else if (SIDES == 3) {
            if (bits & 1) {
                x = side(x, a, b);
                if (bits & 2)
                    x = side(x, b, b);
                else
                    x = side(x, a, a);
            }
        } else {
            if (bits & 1)
                x = side(x, a, b);
            else if (bits & 2)
                x = side(x, b, a);
            else if (bits & 4)
                x = side(x, a, a);
            else
                x = side(x, b, b);
        }
        x += 1;
    }
    __syncthreads();
    i64 end = now();
    if (threadIdx.x == 0) *cycles = end - begin;
    out[threadIdx.x] = x;
}

template <int SIDES> static void measure(const char *sides, unsigned *words, i64 *cycles, float *out) {
    const char *const names[] = {"all", "none", "half", "mixed"};
    unsigned state = 1;
    for (int lanes = 0; lanes < 4; lanes++)
        for (int warps : {1, 4, 16}) {
            unsigned host[32];
            i64 taken;
            char text[64];
            for (int lane = 0; lane < 32; lane++) {
                state = state * 1664525 + 1013904223;
                host[lane] = lanes == 0   ? ~0u
                             : lanes == 1 ? 0
                             : lanes == 2 ? (lane < 16 ? ~0u : 0)
                                          : state >> 8 | state << 24;
            }
            CHECK(cudaMemcpy(words, host, sizeof host, cudaMemcpyHostToDevice));
            for (int k = 0; k < 2; k++) turns<SIDES><<<1, warps * 32>>>(words, 0.5f, 0.25f, cycles, out);
            CHECK(cudaMemcpy(&taken, cycles, sizeof taken, cudaMemcpyDeviceToHost));
            snprintf(text, sizeof text, "diverge/%s/%s/%d", sides, names[lanes], warps);
            report(text, (double)taken / TURNS, "cycles", "");
        }
}

int main() {
    unsigned *words;
    i64 *cycles;
    float *out;
    CHECK(cudaMalloc(&words, 128));
    CHECK(cudaMalloc(&cycles, sizeof *cycles));
    CHECK(cudaMalloc(&out, 4096));
    measure<1>("one", words, cycles, out);
    measure<2>("two", words, cycles, out);
    measure<3>("nested", words, cycles, out);
    measure<4>("chain", words, cycles, out);
    return 0;
}
