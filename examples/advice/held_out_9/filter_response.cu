// SPDX-License-Identifier: Apache-2.0
//
// Rule: memory-transactions
// Change: the taps, which all threads share, are read from constant memory.
// Why: each is a load of one word for a whole warp.
#include "../common.h"

enum { BLOCK = 256, TAPS = 64 };
#ifdef AFTER
__constant__ float2 c_taps[TAPS];
#endif

// The power of a filter's output at each frequency, by its taps and a rotation of each step.
__global__ void filter_response(const float2 *taps, const float2 *steps, float *out) {
    int i = blockIdx.x * BLOCK + threadIdx.x;
    float2 step = steps[i], turn = make_float2(1, 0), sum = make_float2(0, 0);
#pragma unroll 4
    for (int k = 0; k < TAPS; k++) {
#ifdef AFTER
        float2 tap = c_taps[k];
#else
        float2 tap = taps[k];
#endif
        sum.x += tap.x * turn.x - tap.y * turn.y;
        sum.y += tap.x * turn.y + tap.y * turn.x;
        turn = make_float2(turn.x * step.x - turn.y * step.y, turn.x * step.y + turn.y * step.x);
    }
    out[i] = sum.x * sum.x + sum.y * sum.y;
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "filter_response");
    int n = p.small ? 1 << 13 : 1 << 21;
    std::vector<float> taps = random_floats(2 * TAPS, -1, 1, 1);
    std::vector<float2> steps(n);
    for (int i = 0; i < n; i++)
        steps[i] = make_float2((float)cos(3.0 * i / n), (float)sin(3.0 * i / n));
    float2 *d_taps = device_copy_of((const float2 *)taps.data(), TAPS), *d_steps = device_copy_of(steps.data(), n);
#ifdef AFTER
    CUDA_CHECK(cudaMemcpyToSymbol(c_taps, taps.data(), sizeof c_taps));
#endif
    float *d_out = device_array<float>(n);
    pair_time(&p, [&] { filter_response<<<n / BLOCK, BLOCK>>>(d_taps, d_steps, d_out); });
    std::vector<float> out = host_copy_of(d_out, n);
    for (int i = 0; i < n; i += 1009) {
        double x = 0, y = 0;
        for (int k = 0; k < TAPS; k++) {
            double c = cos(3.0 * i / n * k), s = sin(3.0 * i / n * k);
            x += taps[2 * k] * c - taps[2 * k + 1] * s;
            y += taps[2 * k] * s + taps[2 * k + 1] * c;
        }
        pair_near(&p, "power", i, x * x + y * y, out[i], 5e-3);
    }
    return pair_end(&p);
}
