// SPDX-License-Identifier: Apache-2.0
//
// Rule: register-reuse
// Also: indirect-addressing
// Change: a new score goes through the list of the best eight by exchanges at fixed places, no longer by insertion.
// Why: the list is indexed by a variable, so that it lies in local memory.
#include "../common.h"

enum { BLOCK = 128, K = 8 };

// The eight best of the scores of each row; a row is a column of memory.
__global__ void beam_top_k(const float *scores, float *top, int rows, int choices) {
    int row = blockIdx.x * BLOCK + threadIdx.x;
    float best[K];
    for (int k = 0; k < K; k++)
        best[k] = -1e30f;
    for (int c = 0; c < choices; c++) {
        float x = scores[c * rows + row];
#ifdef AFTER
#pragma unroll
        for (int k = 0; k < K; k++) {
            float high = fmaxf(best[k], x);
            x = fminf(best[k], x);
            best[k] = high;
        }
#else
        if (x <= best[K - 1])
            continue;
        int k = K - 1;
        for (; k > 0 && best[k - 1] < x; k--)
            best[k] = best[k - 1];
        best[k] = x;
#endif
    }
    for (int k = 0; k < K; k++)
        top[k * rows + row] = best[k];
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "beam_top_k");
    int rows = p.small ? 1 << 12 : 1 << 17, choices = p.small ? 64 : 256;
    std::vector<float> scores = random_floats((size_t)rows * choices, -8, 8, 1);
    float *d_scores = device_copy_of(scores.data(), scores.size()), *d_top = device_array<float>((size_t)rows * K);
    pair_time(&p, [&] { beam_top_k<<<rows / BLOCK, BLOCK>>>(d_scores, d_top, rows, choices); });
    std::vector<float> top = host_copy_of(d_top, (size_t)rows * K), column(choices);
    for (int row = 0; row < rows; row += 997) {
        for (int c = 0; c < choices; c++)
            column[c] = scores[(size_t)c * rows + row];
        std::sort(column.begin(), column.end(), std::greater<float>());
        for (int k = 0; k < K; k++)
            pair_near(&p, "top", (size_t)k * rows + row, column[k], top[(size_t)k * rows + row], 0);
    }
    return pair_end(&p);
}
