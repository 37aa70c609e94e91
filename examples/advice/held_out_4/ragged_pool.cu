// SPDX-License-Identifier: Apache-2.0
//
// Rule: warp-balance
// Change: a CTA's warps take its sequences in turn instead of in runs of neighbours.
// Why: the sequences of a batch are sorted by length: the last warp has the longest ones.
#include "../common.h"

enum { BLOCK = 256, WARPS = BLOCK / 32, BATCH = 64, WIDTH = 32, VOCABULARY = 1 << 15 };

// Mean of the embeddings of each sequence's tokens (embedding bag); a CTA has a batch, and its largest means in the
// end.
__global__ void ragged_pool(const float *table, const int *tokens, const int *start, float *pooled, float *largest) {
    __shared__ float means[BATCH][WIDTH];
    int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    for (int k = 0; k < BATCH / WARPS; k++) {
#ifdef AFTER
        int s = k * WARPS + warp;
#else
        int s = warp * (BATCH / WARPS) + k;
#endif
        int first = start[blockIdx.x * BATCH + s], end = start[blockIdx.x * BATCH + s + 1];
        float sum = 0;
        for (int t = first; t < end; t++)
            sum += table[tokens[t] * WIDTH + lane];
        means[s][lane] = sum / (end - first);
    }
    __syncthreads();
    float top = -1e30f;
    for (int s = warp; s < BATCH; s += WARPS) {
        pooled[(blockIdx.x * BATCH + s) * WIDTH + lane] = means[s][lane];
        top = fmaxf(top, means[s][lane]);
    }
    largest[blockIdx.x * BLOCK + threadIdx.x] = top;
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "ragged_pool");
    int batches = p.small ? 16 : 132 * 6;
    std::vector<float> table = random_floats((size_t)VOCABULARY * WIDTH, -1, 1, 1);
    std::vector<int> start(1, 0);
    for (int s = 0; s < batches * BATCH; s++)
        start.push_back(start.back() + 8 + 4 * (s % BATCH) + s / BATCH % 5);
    std::vector<int> tokens(start.back());
    lcg_fill(tokens.data(), tokens.size(), 2, VOCABULARY);
    float *d_table = device_copy_of(table.data(), table.size()),
          *d_pooled = device_array<float>((size_t)batches * BATCH * WIDTH),
          *d_largest = device_array<float>((size_t)batches * BLOCK);
    int *d_tokens = device_copy_of(tokens.data(), tokens.size()), *d_start = device_copy_of(start.data(), start.size());
    pair_time(&p, [&] { ragged_pool<<<batches, BLOCK>>>(d_table, d_tokens, d_start, d_pooled, d_largest); });
    std::vector<float> pooled = host_copy_of(d_pooled, (size_t)batches * BATCH * WIDTH);
    for (int i = 0; i < batches * BATCH * WIDTH; i += 1009) {
        int s = i / WIDTH;
        double sum = 0;
        for (int t = start[s]; t < start[s + 1]; t++)
            sum += table[(size_t)tokens[t] * WIDTH + i % WIDTH];
        pair_near(&p, "mean", i, sum / (start[s + 1] - start[s]), pooled[i], 1e-4);
    }
    return pair_end(&p);
}
