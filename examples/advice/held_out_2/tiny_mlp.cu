// SPDX-License-Identifier: Apache-2.0
//
// Rule: memory-transactions
// Change: the network's weights are in constant memory instead of global memory.
// Why: every multiplication takes a load of one word that is the same for the whole warp.
#include "../common.h"

enum { BLOCK = 128, IN = 16, HIDDEN = 16, WEIGHTS = HIDDEN * (IN + 2) };

__constant__ float c_weights[WEIGHTS];

// A small neural network for every pixel: 16 features, 16 hidden units, one result. Before the weights: an array of
// them in global memory.
__global__ void tiny_mlp(const float *features, const float *global, float *out, int n) {
    int i = blockIdx.x * BLOCK + threadIdx.x;
#ifdef AFTER
    const float *weights = c_weights;
#else
    const float *weights = global;
#endif
    float x[IN], result = 0;
#pragma unroll
    for (int k = 0; k < IN; k++)
        x[k] = features[(size_t)k * n + i];
#pragma unroll 4
    for (int h = 0; h < HIDDEN; h++) {
        float sum = weights[h * (IN + 2) + IN];
#pragma unroll
        for (int k = 0; k < IN; k++)
            sum += weights[h * (IN + 2) + k] * x[k];
        result += weights[h * (IN + 2) + IN + 1] * fmaxf(sum, 0);
    }
    out[i] = result;
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "tiny_mlp");
    int n = p.small ? 1 << 15 : 1 << 21;
    std::vector<float> features = random_floats((size_t)n * IN, -1, 1, 1), weights = random_floats(WEIGHTS, -1, 1, 2);
    float *d_features = device_copy_of(features.data(), features.size()),
          *d_weights = device_copy_of(weights.data(), WEIGHTS), *d_out = device_array<float>(n);
    CUDA_CHECK(cudaMemcpyToSymbol(c_weights, weights.data(), sizeof c_weights));
    pair_time(&p, [&] { tiny_mlp<<<n / BLOCK, BLOCK>>>(d_features, d_weights, d_out, n); });
    std::vector<float> out = host_copy_of(d_out, n);
    for (int i = 0; i < n; i += 53) {
        double result = 0;
        for (int h = 0; h < HIDDEN; h++) {
            double sum = weights[h * (IN + 2) + IN];
            for (int k = 0; k < IN; k++)
                sum += (double)weights[h * (IN + 2) + k] * features[(size_t)k * n + i];
            result += weights[h * (IN + 2) + IN + 1] * std::max(sum, 0.0);
        }
        pair_near(&p, "out", i, result, out[i], 1e-4);
    }
    return pair_end(&p);
}
