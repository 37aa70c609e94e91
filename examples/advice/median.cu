// SPDX-License-Identifier: Apache-2.0
//
// Rule: register-reuse
// Also: indirect-addressing
// Change: the nine values of a 3 x 3 median are sorted by exchanges at fixed places, no longer by insertion.
// Why: insertion indexes the array by a variable, so the array lies in local memory; with constant indices it is
// registers.
#include "common.h"

enum { WINDOW = 9 };

__global__ void median(const unsigned char *in, unsigned char *out, int width, int height) {
    int x = blockIdx.x * blockDim.x + threadIdx.x + 1, y = blockIdx.y * blockDim.y + threadIdx.y + 1;
    if (x >= width - 1 || y >= height - 1)
        return;
    int v[WINDOW];
#pragma unroll
    for (int k = 0; k < WINDOW; k++)
        v[k] = in[(y + k / 3 - 1) * width + x + k % 3 - 1];
#ifdef AFTER
#pragma unroll
    for (int i = 0; i <= WINDOW / 2; i++)
#pragma unroll
        for (int j = i + 1; j < WINDOW; j++) {
            int low = min(v[i], v[j]);
            v[j] = max(v[i], v[j]);
            v[i] = low;
        }
#else
    for (int i = 1; i < WINDOW; i++) {
        int value = v[i], j = i;
        for (; j > 0 && v[j - 1] > value; j--)
            v[j] = v[j - 1];
        v[j] = value;
    }
#endif
    out[y * width + x] = (unsigned char)v[WINDOW / 2];
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "median");
    int width = p.small ? 512 : 4096, height = p.small ? 258 : 2048;
    std::vector<unsigned char> in(width * height);
    lcg_fill(in.data(), in.size(), 1, 256);
    unsigned char *d_in = device_copy_of(in.data(), in.size()), *d_out = device_array<unsigned char>(in.size());
    dim3 block(32, 8), grid((width + 31) / 32, (height + 7) / 8);
    pair_time(&p, [&] { median<<<grid, block>>>(d_in, d_out, width, height); });
    std::vector<unsigned char> out = host_copy_of(d_out, in.size());
    for (int y = 1; y < height - 1; y += 37)
        for (int x = 1; x < width - 1; x += 29) {
            unsigned char v[WINDOW];
            for (int k = 0; k < WINDOW; k++)
                v[k] = in[(y + k / 3 - 1) * width + x + k % 3 - 1];
            std::nth_element(v, v + WINDOW / 2, v + WINDOW);
            pair_near(&p, "out", y * width + x, v[WINDOW / 2], out[y * width + x], 0);
        }
    return pair_end(&p);
}
