// SPDX-License-Identifier: Apache-2.0
//
// Rule: tail-effect
// Change: a block mends one stretch of the record instead of four in a row.
// Why: 148 blocks of four stretches are one for each SM and sixteen more, for which all wait as long again.
#include "../common.h"

enum { BLOCK = 1024, SIDE = 16 };
#ifdef AFTER
enum { PER_BLOCK = 1 };
#else
enum { PER_BLOCK = 4 };
#endif

// Takes the crackle out of a digitised record: a sample that is far from what its neighbours let expect is moved there.
__global__ void mend(const float *groove, const float *weights, float *mended, int stretches,
                     int length) {
    extern __shared__ float tile[];  // length + 2 * SIDE
    float weight[SIDE];
#pragma unroll
    for (int k = 0; k < SIDE; k++)
        weight[k] = weights[k];
    for (int n = 0; n < PER_BLOCK; n++) {
        int stretch = blockIdx.x * PER_BLOCK + n;
        if (stretch >= stretches)
            break;
        const float *from = groove + (size_t)stretch * length;
        __syncthreads();
        for (int i = threadIdx.x; i < length + 2 * SIDE; i += BLOCK)
            tile[i] = from[i];
        __syncthreads();
        for (int i = threadIdx.x; i < length; i += BLOCK) {
            float expected = 0, rough = 0.01f;
#pragma unroll
            for (int k = 0; k < SIDE; k++) {
                float left = tile[i + SIDE - 1 - k], right = tile[i + SIDE + 1 + k];
                expected += weight[k] * (left + right);
                rough += weight[k] * fabsf(left - right);
            }
            float here = tile[i + SIDE], off = expected - here;
            float crackle = fminf(fmaxf(fabsf(off) / rough - 1, 0.0f), 1.0f);
            mended[(size_t)stretch * length + i] = here + crackle * off;
        }
    }
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "vinyl");
    int stretches = p.small ? 2 : 592, length = (p.small ? 1 : 30) * BLOCK;
    int blocks = (stretches + PER_BLOCK - 1) / PER_BLOCK;
    size_t n = (size_t)stretches * length, bytes = (length + 2 * SIDE) * sizeof(float);
    std::vector<float> groove = random_floats(n + 2 * SIDE, -1, 1, 1), weights(SIDE);
    for (int k = 0; k < SIDE; k++)
        weights[k] = 0.2f / (k + 1) * (k % 3 == 2 ? 0.5f : 1.0f);
    float *d_groove = device_copy_of(groove.data(), groove.size()), *d_weights = device_copy_of(weights.data(), SIDE),
          *d_mended = device_array<float>(n);
    CUDA_CHECK(cudaFuncSetAttribute(mend, cudaFuncAttributeMaxDynamicSharedMemorySize, (int)bytes));
    pair_time(&p, [&] { mend<<<blocks, BLOCK, bytes>>>(d_groove, d_weights, d_mended, stretches, length); });
    std::vector<float> mended = host_copy_of(d_mended, n);
    for (size_t i = 0; i < n; i += p.small ? 1 : 59) {
        double expected = 0, rough = 0.01, here = groove[i + SIDE];
        for (int k = 0; k < SIDE; k++) {
            double left = groove[i + SIDE - 1 - k], right = groove[i + SIDE + 1 + k];
            expected += weights[k] * (left + right);
            rough += weights[k] * fabs(left - right);
        }
        double crackle = std::min(std::max(fabs(expected - here) / rough - 1, 0.0), 1.0);
        pair_near(&p, "mended", i, here + crackle * (expected - here), mended[i], 1e-3);
    }
    return pair_end(&p);
}
