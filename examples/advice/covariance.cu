// SPDX-License-Identifier: Apache-2.0
//
// Rule: redundant-loads
// Change: the sum is kept in a register and stored once, instead of being added to in global memory.
// Why: the arrays could overlap as far as the compiler knows, so it loads and stores the element in every turn.
#include "common.h"

enum { BLOCK_X = 32, BLOCK_Y = 8 };

// Covariance matrix of `variables` centred columns with `rows` observations each (PolyBench).
__global__ void covariance(float *data, float *result, int variables, int rows) {
    int j = blockIdx.x * BLOCK_X + threadIdx.x, i = blockIdx.y * BLOCK_Y + threadIdx.y;
#ifdef AFTER
    float sum = 0;
    for (int k = 0; k < rows; k++)
        sum += data[(size_t)k * variables + i] * data[(size_t)k * variables + j];
    result[(size_t)i * variables + j] = sum;
#else
    result[(size_t)i * variables + j] = 0;
    for (int k = 0; k < rows; k++)
        result[(size_t)i * variables + j] += data[(size_t)k * variables + i] * data[(size_t)k * variables + j];
#endif
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "covariance");
    int variables = p.small ? 384 : 1536, rows = p.small ? 32 : 512;
    std::vector<float> data = random_floats((size_t)variables * rows, -1, 1, 1);
    float *d_data = device_copy_of(data.data(), data.size()),
          *d_result = device_array<float>((size_t)variables * variables);
    dim3 grid(variables / BLOCK_X, variables / BLOCK_Y);
    pair_time(&p, [&] { covariance<<<grid, dim3(BLOCK_X, BLOCK_Y)>>>(d_data, d_result, variables, rows); });
    std::vector<float> result = host_copy_of(d_result, (size_t)variables * variables);
    for (int i = 0; i < variables; i += 17)
        for (int j = 0; j < variables; j += 13) {
            double sum = 0;
            for (int k = 0; k < rows; k++)
                sum += (double)data[(size_t)k * variables + i] * data[(size_t)k * variables + j];
            pair_near(&p, "result", (size_t)i * variables + j, sum, result[(size_t)i * variables + j], 1e-3);
        }
    return pair_end(&p);
}
