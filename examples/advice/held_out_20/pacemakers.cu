// SPDX-License-Identifier: Apache-2.0
//
// Rule: occupancy-up
// Change: a block gets shared memory for the strip that it has, not for the longest that the device could record.
// Why: with room for 24,576 samples only two blocks fit on an SM, and their few warps wait for each other.
#include "../common.h"

enum { LAGS = 128, FIRST_LAG = 12, BLOCK = LAGS, LONGEST = 24576 };

// The beat in the strips that pacemakers send: how alike a strip is to itself LAG samples later; one block per strip.
__global__ void beats(const float *strips, float *likeness, float *best, int length) {
    extern __shared__ float strip[];
    __shared__ float warp_best[BLOCK / 32];
    int t = threadIdx.x, lag = FIRST_LAG + t, use = length - FIRST_LAG - LAGS;
    const float *from = strips + (size_t)blockIdx.x * length;
    for (int i = t; i < length; i += BLOCK) {
        float before = i ? from[i - 1] : from[i], after = from[i + 1 < length ? i + 1 : i];
        strip[i] = after - before;  // steep parts only
    }
    __syncthreads();
    float product = 0, energy = 0, later = 0;
    for (int i = 0; i < use; i++) {
        float a = strip[i], b = strip[i + lag];
        product += a * b;
        energy += a * a;
        later += b * b;
    }
    float same = product * rsqrtf(energy * later + 1e-12f);
    likeness[(size_t)blockIdx.x * LAGS + t] = same;
    for (int gap = 16; gap; gap >>= 1)
        same = fmaxf(same, __shfl_xor_sync(~0u, same, gap));
    if (t % 32 == 0)
        warp_best[t / 32] = same;
    __syncthreads();
    if (t == 0) {
        for (int w = 1; w < BLOCK / 32; w++)
            same = fmaxf(same, warp_best[w]);
        best[blockIdx.x] = same;
    }
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "pacemakers");
    int strips = p.small ? 2 : 132 * 12, length = p.small ? 256 : 2048;
    size_t n = (size_t)strips * length;
    std::vector<float> samples = random_floats(n, -0.2f, 0.2f, 1);
    unsigned seed = 2;
    for (int s = 0; s < strips; s++) {
        int beat = 40 + lcg_next(&seed, 80);
        for (int i = 0; i < length; i++)
            samples[(size_t)s * length + i] += i % beat < 3 ? 1.0f : i % beat == 3 ? -0.4f : 0.0f;
    }
    float *d_samples = device_copy_of(samples.data(), n), *d_likeness = device_array<float>((size_t)strips * LAGS),
          *d_best = device_array<float>(strips);
#ifdef AFTER
    size_t shared = length * sizeof(float);
#else
    size_t shared = LONGEST * sizeof(float);
#endif
    CUDA_CHECK(cudaFuncSetAttribute(beats, cudaFuncAttributeMaxDynamicSharedMemorySize, (int)shared));
    pair_time(&p, [&] { beats<<<strips, BLOCK, shared>>>(d_samples, d_likeness, d_best, length); });
    std::vector<float> likeness = host_copy_of(d_likeness, (size_t)strips * LAGS), best = host_copy_of(d_best, strips);
    for (int s = 0; s < strips; s += p.small ? 1 : 37) {
        const float *from = &samples[(size_t)s * length];
        std::vector<double> strip(length);
        for (int i = 0; i < length; i++)
            strip[i] = (double)from[std::min(i + 1, length - 1)] - from[std::max(i - 1, 0)];
        double most = -2;
        for (int t = 0; t < LAGS; t++) {
            double product = 0, energy = 0, later = 0;
            for (int i = 0; i < length - FIRST_LAG - LAGS; i++) {
                double a = strip[i], b = strip[i + FIRST_LAG + t];
                product += a * b;
                energy += a * a;
                later += b * b;
            }
            double same = product / sqrt(energy * later + 1e-12);
            most = std::max(most, same);
            pair_near(&p, "likeness", (size_t)s * LAGS + t, same, likeness[(size_t)s * LAGS + t], 1e-3);
        }
        pair_near(&p, "best", s, most, best[s], 1e-3);
    }
    return pair_end(&p);
}
