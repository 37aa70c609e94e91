// SPDX-License-Identifier: Apache-2.0
//
// Rule: spills
// Change: the kernel's launch bounds ask for four blocks an SM instead of eight.
// Why: for eight blocks a thread gets 32 registers, but it has 35 sums to keep; they go to local memory and back for
// every sample.
#include "../common.h"

enum { BLOCK = 256, TERMS = 7, SUMS = TERMS * (TERMS + 1) / 2 + TERMS };

#ifdef AFTER
#define BOUNDS __launch_bounds__(BLOCK, 4)
#else
#define BOUNDS __launch_bounds__(BLOCK, 8)
#endif

template <typename T> __host__ __device__ inline void terms_of(T v, T h, T *term) {
    term[0] = 1;
    term[1] = v;
    term[2] = v * v;
    term[3] = h;
    term[4] = v * h;
    term[5] = h * h;
    term[6] = v * v * h;
}

// The normal equations of the drag of each parachute as a polynomial of its speed and height, from a recorded drop.
__global__ void BOUNDS equations(const float2 *flight, const float *drag, float *sums, int count, int samples) {
    int i = blockIdx.x * BLOCK + threadIdx.x;
    if (i >= count)
        return;
    float sum[SUMS];
    for (int s = 0; s < SUMS; s++)
        sum[s] = 0;
    for (int k = 0; k < samples; k++) {
        float2 state = flight[(size_t)k * count + i];
        float measured = drag[(size_t)k * count + i], term[TERMS];
        terms_of(state.x, state.y, term);
        int s = 0;
#pragma unroll
        for (int a = 0; a < TERMS; a++) {
#pragma unroll
            for (int b = 0; b <= a; b++)
                sum[s++] += term[a] * term[b];
            sum[s++] += term[a] * measured;
        }
    }
    for (int s = 0; s < SUMS; s++)
        sums[(size_t)s * count + i] = sum[s];
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "parachutes");
    int n = p.small ? 2048 : 132 * 1024, samples = p.small ? 10 : 60;
    std::vector<float> flight = random_floats((size_t)n * samples * 2, -1, 1, 1),
                       drag = random_floats((size_t)n * samples, 0, 1, 2);
    float2 *d_flight = device_copy_of((const float2 *)flight.data(), (size_t)n * samples);
    float *d_drag = device_copy_of(drag.data(), drag.size()), *d_sums = device_array<float>((size_t)n * SUMS);
    pair_time(&p, [&] { equations<<<(n + BLOCK - 1) / BLOCK, BLOCK>>>(d_flight, d_drag, d_sums, n, samples); });
    std::vector<float> sums = host_copy_of(d_sums, (size_t)n * SUMS);
    for (int i = 0; i < n; i += p.small ? 1 : 97) {
        double sum[SUMS] = {0}, term[TERMS];
        for (int k = 0; k < samples; k++) {
            size_t at = (size_t)k * n + i;
            terms_of<double>(flight[2 * at], flight[2 * at + 1], term);
            for (int a = 0, s = 0; a < TERMS; a++) {
                for (int b = 0; b <= a; b++)
                    sum[s++] += term[a] * term[b];
                sum[s++] += term[a] * drag[at];
            }
        }
        for (int s = 0; s < SUMS; s++)
            pair_near(&p, "sums", (size_t)s * n + i, sum[s], sums[(size_t)s * n + i], 1e-4);
    }
    return pair_end(&p);
}
