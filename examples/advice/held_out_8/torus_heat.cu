// SPDX-License-Identifier: Apache-2.0
//
// Rule: strength-reduction
// Change: remainders by the side, a power of two that the host knows, become masks and the division a shift.
// Why: five divisions by a number that the compiler does not know for each cell.
#include "../common.h"

enum { BLOCK = 256 };

// A step of heat flow on a square whose edges are joined.
__global__ void torus_heat(const float *in, float *out, int side, int log2_side, float rate) {
    int i = blockIdx.x * BLOCK + threadIdx.x;
#ifdef AFTER
    int mask = side - 1, x = i & mask, y = i >> log2_side;
    int left = (x + mask) & mask, right = (x + 1) & mask, up = (y + mask) & mask, down = (y + 1) & mask;
#else
    int x = i % side, y = i / side;
    int left = (x + side - 1) % side, right = (x + 1) % side, up = (y + side - 1) % side, down = (y + 1) % side;
#endif
    float v = in[i];
    out[i] = v + rate * (in[y * side + left] + in[y * side + right] + in[up * side + x] + in[down * side + x] - 4 * v);
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "torus_heat");
    int log2_side = p.small ? 7 : 12, side = 1 << log2_side, n = side * side;
    std::vector<float> in = random_floats(n, 0, 1, 1);
    float *d_in = device_copy_of(in.data(), n), *d_out = device_array<float>(n);
    pair_time(&p, [&] { torus_heat<<<n / BLOCK, BLOCK>>>(d_in, d_out, side, log2_side, 0.2f); });
    std::vector<float> out = host_copy_of(d_out, n);
    for (int i = 0; i < n; i += 1009) {
        int x = i % side, y = i / side;
        double around = (double)in[y * side + (x + side - 1) % side] + in[y * side + (x + 1) % side] +
                        in[(y + side - 1) % side * side + x] + in[(y + 1) % side * side + x];
        pair_near(&p, "out", i, in[i] + 0.2 * (around - 4.0 * in[i]), out[i], 1e-5);
    }
    return pair_end(&p);
}
