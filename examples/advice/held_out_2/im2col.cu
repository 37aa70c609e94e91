// SPDX-License-Identifier: Apache-2.0
//
// Rule: strength-reduction
// Change: the kernel's side and the width of the output are template parameters instead of arguments.
// Why: every element divides four times by numbers that the compiler does not know.
#include "../common.h"

enum { BLOCK = 256 };

// Unfolds an image of several channels for a convolution: out[channel, ky, kx, y, x] = in[channel, y + ky, x + kx].
#ifdef AFTER
template <int side, int columns> __global__ void im2col(const float *in, float *out, int, int, int n) {
#else
template <int, int> __global__ void im2col(const float *in, float *out, int side, int columns, int n) {
#endif
    int i = blockIdx.x * BLOCK + threadIdx.x;
    if (i >= n)
        return;
    int x = i % columns, rest = i / columns;
    int y = rest % columns;
    rest /= columns;
    int kx = rest % side;
    rest /= side;
    int ky = rest % side, channel = rest / side, width = columns + side - 1;
    out[i] = in[(channel * width + y + ky) * width + x + kx];
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "im2col");
    const int side = 5, columns = 112, width = columns + side - 1;
    int channels = p.small ? 2 : 64, n = channels * side * side * columns * columns;
    std::vector<float> in = random_floats((size_t)channels * width * width, -1, 1, 1);
    float *d_in = device_copy_of(in.data(), in.size()), *d_out = device_array<float>(n);
    pair_time(&p, [&] { im2col<side, columns><<<(n + BLOCK - 1) / BLOCK, BLOCK>>>(d_in, d_out, side, columns, n); });
    std::vector<float> out = host_copy_of(d_out, n);
    for (int i = 0; i < n; i += 41) {
        int x = i % columns, y = i / columns % columns, kx = i / columns / columns % side;
        int ky = i / columns / columns / side % side, channel = i / columns / columns / side / side;
        pair_near(&p, "out", i, in[((size_t)channel * width + y + ky) * width + x + kx], out[i], 0);
    }
    return pair_end(&p);
}
