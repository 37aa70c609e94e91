// SPDX-License-Identifier: Apache-2.0
//
// Rule: block-increase
// Change: a CTA for each set of vectors instead of one for all.
// Why: one CTA has all the work.
// Post: Analysis-Driven Optimization: Preparing for Analysis with NVIDIA Nsight Compute, Part 1
#include "../common.h"

enum { L = 512 };

// Of each of `sets` sets the mean of m vectors, times a matrix.
__global__ void average_multiply(const float *input, float *output, const float *matrix, int m, int sets) {
    __shared__ float smem[L];
    int idx = threadIdx.x;
#ifdef AFTER
    {
        int k = blockIdx.x;
#else
    for (int k = 0; k < sets; k++) {
#endif
        float v1 = 0;
        for (int i = 0; i < m; i++)
            v1 += input[((size_t)k * L + idx) * m + i];
        v1 /= m;
        for (int i = 0; i < L; i++) {
            __syncthreads();
            smem[threadIdx.x] = v1 * matrix[i * L + idx];
            for (int s = blockDim.x >> 1; s > 0; s >>= 1) {
                __syncthreads();
                if (threadIdx.x < s)
                    smem[threadIdx.x] += smem[threadIdx.x + s];
            }
            if (!threadIdx.x)
                output[k * L + i] = smem[0];
        }
    }
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "averaged_vectors");
    int m = p.small ? 16 : 512, sets = p.small ? 2 : 64;
    std::vector<float> input = random_floats((size_t)sets * L * m, -1, 1, 1), matrix = random_floats(L * L, 0, 1, 2);
    float *d_input = device_copy_of(input.data(), input.size()), *d_matrix = device_copy_of(matrix.data(), L * L),
          *d_output = device_array<float>(sets * L);
#ifdef AFTER
    int ctas = sets;
#else
    int ctas = 1;
#endif
    pair_time(&p, [&] { average_multiply<<<ctas, L>>>(d_input, d_output, d_matrix, m, sets); });
    std::vector<float> output = host_copy_of(d_output, sets * L);
    std::vector<double> mean(L);
    for (int idx = 0; idx < L; idx++)
        for (int i = 0; i < m; i++)
            mean[idx] += input[((size_t)(sets - 1) * L + idx) * m + i] / (double)m;
    for (int i = 0; i < L; i += 101) {
        double sum = 0;
        for (int idx = 0; idx < L; idx++)
            sum += mean[idx] * matrix[i * L + idx];
        pair_near(&p, "output", i, sum, output[(sets - 1) * L + i], 1e-3);
    }
    return pair_end(&p);
}
