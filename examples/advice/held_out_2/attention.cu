// SPDX-License-Identifier: Apache-2.0
//
// Rule: shared-conflicts
// Change: the rows of the tile of keys are 65 words long in shared memory instead of 64.
// Why: each lane has a key of its own, and with rows of 64 words all lanes need words of one bank.
#include "../common.h"

enum { DEPTH = 64, KEYS = 64, QUERIES = 4, BLOCK = KEYS * QUERIES };
#ifdef AFTER
enum { ROW = DEPTH + 1 };
#else
enum { ROW = DEPTH };
#endif

// Scores of attention: every query times every key, scaled. A block has 16 queries and 64 keys.
__global__ void __launch_bounds__(BLOCK) attention(const float *queries, const float *keys, float *scores, int n) {
    __shared__ float key[KEYS * ROW], query[16 * DEPTH];
    int first_key = blockIdx.x * KEYS, first_query = blockIdx.y * 16;
    for (int i = threadIdx.x; i < KEYS * DEPTH; i += BLOCK)
        key[i / DEPTH * ROW + i % DEPTH] = keys[(size_t)first_key * DEPTH + i];
    for (int i = threadIdx.x; i < 16 * DEPTH; i += BLOCK)
        query[i] = queries[(size_t)first_query * DEPTH + i];
    __syncthreads();
    int k = threadIdx.x % KEYS, q = threadIdx.x / KEYS;
    float sum[4] = {};
#pragma unroll 8
    for (int d = 0; d < DEPTH; d++) {
        float value = key[k * ROW + d];
#pragma unroll
        for (int j = 0; j < 4; j++)
            sum[j] += value * query[(q * 4 + j) * DEPTH + d];
    }
#pragma unroll
    for (int j = 0; j < 4; j++)
        scores[(size_t)(first_query + q * 4 + j) * n + first_key + k] = sum[j] * 0.125f;
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "attention");
    int n = p.small ? 1024 : 4096;
    std::vector<float> queries = random_floats((size_t)n * DEPTH, -1, 1, 1),
                       keys = random_floats((size_t)n * DEPTH, -1, 1, 2);
    float *d_queries = device_copy_of(queries.data(), queries.size()),
          *d_keys = device_copy_of(keys.data(), keys.size()), *d_scores = device_array<float>((size_t)n * n);
    pair_time(&p, [&] { attention<<<dim3(n / KEYS, n / 16), BLOCK>>>(d_queries, d_keys, d_scores, n); });
    std::vector<float> scores = host_copy_of(d_scores, (size_t)n * n);
    for (int q = 0; q < n; q += 61)
        for (int k = 0; k < n; k += 59) {
            double sum = 0;
            for (int d = 0; d < DEPTH; d++)
                sum += (double)queries[(size_t)q * DEPTH + d] * keys[(size_t)k * DEPTH + d];
            pair_near(&p, "score", (size_t)q * n + k, sum / 8, scores[(size_t)q * n + k], 1e-4);
        }
    return pair_end(&p);
}
