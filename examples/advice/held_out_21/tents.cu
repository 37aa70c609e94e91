// SPDX-License-Identifier: Apache-2.0
//
// Rule: tail-effect
// Change: a block takes an eighth of the ropes, and there are eight times as many blocks.
// Why: the blocks are a little more than fit on the GPU at once; the few of the second wave take as long as the first.
#include "../common.h"

enum { BLOCK = 256 };

#ifdef AFTER
enum { ROUNDS = 2 };
#else
enum { ROUNDS = 16 };
#endif

// How far ropes of tents sag, from their length and the distance of their ends: Newton steps for the catenary
// (sinh(x) / x = length / distance), then the sag and the pull at the peg.
__global__ void __launch_bounds__(BLOCK, 8) sags(const float *lengths, const float *distances, const float *weights,
                                                 float *sag, float *pull, int n, int steps) {
    int first = blockIdx.x * BLOCK * ROUNDS + threadIdx.x;
#pragma unroll 1
    for (int r = 0; r < ROUNDS; r++) {
        int i = first + r * BLOCK;
        if (i >= n)
            return;
        float length = lengths[i], distance = distances[i];
        float ratio = __fdividef(length, distance), x = sqrtf(6.0f * (ratio - 1.0f));
        for (int s = 0; s < steps; s++) {
            float e = __expf(x), inverse = __fdividef(1.0f, e);
            float sinus = 0.5f * (e - inverse), cosine = 0.5f * (e + inverse);
            x -= __fdividef(sinus - ratio * x, cosine - ratio);
        }
        float a = __fdividef(distance, 2.0f * x), cosine = 0.5f * (__expf(x) + __expf(-x));
        sag[i] = a * (cosine - 1.0f);
        pull[i] = weights[i] * a * cosine;
    }
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "tents");
    int n = BLOCK * 16 * (p.small ? 1 : 1100), steps = p.small ? 8 : 24;
    std::vector<float> distances = random_floats(n, 2, 5, 1), slack = random_floats(n, 1.1f, 1.6f, 2),
                       weights = random_floats(n, 0.05f, 0.2f, 3), lengths(n);
    for (int i = 0; i < n; i++)
        lengths[i] = distances[i] * slack[i];
    float *d_lengths = device_copy_of(lengths.data(), n), *d_distances = device_copy_of(distances.data(), n),
          *d_weights = device_copy_of(weights.data(), n), *d_sag = device_array<float>(n),
          *d_pull = device_array<float>(n);
    int blocks = (n + BLOCK * ROUNDS - 1) / (BLOCK * ROUNDS);
    pair_time(&p, [&] { sags<<<blocks, BLOCK>>>(d_lengths, d_distances, d_weights, d_sag, d_pull, n, steps); });
    std::vector<float> sag = host_copy_of(d_sag, n), pull = host_copy_of(d_pull, n);
    for (int i = 0; i < n; i += p.small ? 1 : 211) {
        double ratio = (double)lengths[i] / distances[i], x = sqrt(6 * (ratio - 1));
        for (int s = 0; s < 12; s++)
            x -= (sinh(x) - ratio * x) / (cosh(x) - ratio);
        double a = distances[i] / (2 * x);
        pair_near(&p, "sag", i, a * (cosh(x) - 1), sag[i], 2e-3);
        pair_near(&p, "pull", i, weights[i] * a * cosh(x), pull[i], 2e-3);
    }
    return pair_end(&p);
}
