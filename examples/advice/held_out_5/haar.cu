// SPDX-License-Identifier: Apache-2.0
//
// Rule: shared-conflicts
// Change: a word is left free after every 32.
// Why: from level to level the words that lanes need lie twice as far apart, until all are in one bank.
#include "../common.h"

enum { LENGTH = 1024, BLOCK = LENGTH / 2, LEVELS = 9 };

#ifdef AFTER
#define PLACE(i) ((i) + (i) / 32)
#else
#define PLACE(i) (i)
#endif

// Haar wavelets of rows, in place: differences stay where they arise, means go on to the next level.
__global__ void haar(const float *in, float *out) {
    __shared__ float row[LENGTH + LENGTH / 32];
    int t = threadIdx.x;
    size_t base = (size_t)blockIdx.x * LENGTH;
    row[PLACE(t)] = in[base + t];
    row[PLACE(t + BLOCK)] = in[base + t + BLOCK];
    for (int level = 0; level < LEVELS; level++) {
        __syncthreads();
        if (t < BLOCK >> level) {
            int left = PLACE(t << (level + 1)), right = PLACE((t << (level + 1)) + (1 << level));
            float a = row[left], b = row[right];
            row[left] = 0.5f * (a + b);
            row[right] = 0.5f * (a - b);
        }
    }
    __syncthreads();
    out[base + t] = row[PLACE(t)];
    out[base + t + BLOCK] = row[PLACE(t + BLOCK)];
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "haar");
    int rows = p.small ? 300 : 1 << 15;
    std::vector<float> in = random_floats((size_t)rows * LENGTH, -1, 1, 1);
    float *d_in = device_copy_of(in.data(), in.size()), *d_out = device_array<float>(in.size());
    pair_time(&p, [&] { haar<<<rows, BLOCK>>>(d_in, d_out); });
    std::vector<float> out = host_copy_of(d_out, in.size());
    for (int r = 0; r < rows; r += 71) {
        std::vector<float> row(&in[(size_t)r * LENGTH], &in[(size_t)r * LENGTH] + LENGTH);
        for (int level = 0; level < LEVELS; level++)
            for (int i = 0; i < LENGTH; i += 2 << level) {
                float a = row[i], b = row[i + (1 << level)];
                row[i] = 0.5f * (a + b);
                row[i + (1 << level)] = 0.5f * (a - b);
            }
        for (int i = 0; i < LENGTH; i += 7)
            pair_near(&p, "out", (size_t)r * LENGTH + i, row[i], out[(size_t)r * LENGTH + i], 1e-4);
    }
    return pair_end(&p);
}
