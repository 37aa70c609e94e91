// SPDX-License-Identifier: Apache-2.0
//
// Rule: spills
// Change: the launch bounds no longer ask for eight blocks on an SM.
// Why: with eight blocks of 256 a thread gets 32 registers; the 44 sums of its normal equations do not fit, so that
// half of them are read from and written to local memory at every epoch.
#include "../common.h"

enum { BLOCK = 256, TERMS = 8, SUMS = TERMS * (TERMS + 1) / 2, MOST = 128 };

#ifdef AFTER
#define BOUNDS __launch_bounds__(BLOCK)
#else
#define BOUNDS __launch_bounds__(BLOCK, 8)
#endif

__constant__ float terms[MOST][TERMS];  // of an epoch: offset, rate, bend, the seasons, the step of an eruption

// How the flank of a volcano moves: weighted least squares of the radar phase of each pixel over all epochs.
__global__ void BOUNDS inflate(const float *phase, const float *weight, float *model, int pixels, int epochs) {
    int i = blockIdx.x * BLOCK + threadIdx.x;
    if (i >= pixels)
        return;
    float normal[SUMS], right[TERMS];
#pragma unroll
    for (int r = 0; r < TERMS; r++) {
        right[r] = 0;
#pragma unroll
        for (int c = 0; c <= r; c++)
            normal[r * (r + 1) / 2 + c] = c == r ? 0.1f : 0;
    }
    for (int e = 0; e < epochs; e++) {
        float w = weight[(size_t)e * pixels + i], y = phase[(size_t)e * pixels + i];
#pragma unroll
        for (int r = 0; r < TERMS; r++) {
            float weighted = w * terms[e][r];
            right[r] += weighted * y;
#pragma unroll
            for (int c = 0; c <= r; c++)
                normal[r * (r + 1) / 2 + c] += weighted * terms[e][c];
        }
    }
    // Cholesky; the diagonal keeps the reciprocals.
#pragma unroll
    for (int r = 0; r < TERMS; r++) {
#pragma unroll
        for (int c = 0; c <= r; c++) {
            float sum = normal[r * (r + 1) / 2 + c];
#pragma unroll
            for (int k = 0; k < c; k++)
                sum -= normal[r * (r + 1) / 2 + k] * normal[c * (c + 1) / 2 + k];
            normal[r * (r + 1) / 2 + c] = c == r ? rsqrtf(sum) : sum * normal[c * (c + 1) / 2 + c];
        }
#pragma unroll
        for (int k = 0; k < r; k++)
            right[r] -= normal[r * (r + 1) / 2 + k] * right[k];
        right[r] *= normal[r * (r + 1) / 2 + r];
    }
#pragma unroll
    for (int r = TERMS - 1; r >= 0; r--) {
#pragma unroll
        for (int k = r + 1; k < TERMS; k++)
            right[r] -= normal[k * (k + 1) / 2 + r] * right[k];
        right[r] *= normal[r * (r + 1) / 2 + r];
        model[(size_t)r * pixels + i] = right[r];
    }
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "volcanoes");
    int pixels = p.small ? 4096 : 132 * 2048, epochs = p.small ? 28 : 96;
    size_t n = (size_t)pixels * epochs;
    static float host[MOST][TERMS];
    for (int e = 0; e < epochs; e++) {
        double t = 4.0 * e / epochs - 2, turn = 6.283185307 * t;
        double row[TERMS] = {1, t / 2, t * t / 2 - 0.667, cos(turn), sin(turn), cos(2 * turn), sin(2 * turn),
                             t > 0.3 ? 1.0 : 0.0};
        for (int r = 0; r < TERMS; r++)
            host[e][r] = (float)row[r];
    }
    CUDA_CHECK(cudaMemcpyToSymbol(terms, host, sizeof host));
    std::vector<float> phase = random_floats(n, -3, 3, 1), weight = random_floats(n, 0.2f, 1, 2);
    float *d_phase = device_copy_of(phase.data(), n), *d_weight = device_copy_of(weight.data(), n),
          *d_model = device_array<float>((size_t)TERMS * pixels);
    pair_time(&p, [&] { inflate<<<pixels / BLOCK, BLOCK>>>(d_phase, d_weight, d_model, pixels, epochs); });
    std::vector<float> model = host_copy_of(d_model, (size_t)TERMS * pixels);
    // The residual of the normal equations with the model that was found.
    for (int i = 0; i < pixels; i += p.small ? 1 : 397) {
        for (int r = 0; r < TERMS; r++) {
            double wanted = 0, got = 0.1 * model[(size_t)r * pixels + i];
            for (int e = 0; e < epochs; e++) {
                double fit = 0, weighted = (double)weight[(size_t)e * pixels + i] * host[e][r];
                for (int c = 0; c < TERMS; c++)
                    fit += (double)host[e][c] * model[(size_t)c * pixels + i];
                wanted += weighted * phase[(size_t)e * pixels + i];
                got += weighted * fit;
            }
            pair_near(&p, "normal equation", (size_t)r * pixels + i, wanted, got, 1e-3);
        }
    }
    return pair_end(&p);
}
