// SPDX-License-Identifier: Apache-2.0
//
// Rule: thread-increase
// Change: a CTA has eight rows, one for each of its warps, instead of one row and one warp.
// Why: an SM holds 32 CTAs: with one warp each half of its places stay empty.
#include "../common.h"

enum { WIDTH = 128 };
#ifdef AFTER
enum { WARPS = 8 };
#else
enum { WARPS = 1 };
#endif

__device__ static float over_lanes(float v, bool greatest) {
    for (int d = 16; d; d /= 2) {
        float other = __shfl_xor_sync(~0u, v, d);
        v = greatest ? fmaxf(v, other) : v + other;
    }
    return v;
}

// Softmax of short rows, a warp for each.
__global__ void row_softmax(const float *in, float *out) {
    size_t row = (size_t)blockIdx.x * WARPS + threadIdx.x / 32;
    int lane = threadIdx.x % 32;
    float v[WIDTH / 32], greatest = -1e30f, sum = 0;
    for (int k = 0; k < WIDTH / 32; k++) {
        v[k] = in[row * WIDTH + 32 * k + lane];
        greatest = fmaxf(greatest, v[k]);
    }
    greatest = over_lanes(greatest, true);
    for (int k = 0; k < WIDTH / 32; k++) {
        v[k] = __expf(v[k] - greatest);
        sum += v[k];
    }
    float scale = 1 / over_lanes(sum, false);
    for (int k = 0; k < WIDTH / 32; k++)
        out[row * WIDTH + 32 * k + lane] = v[k] * scale;
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "row_softmax");
    int rows = p.small ? 1 << 12 : 1 << 18;
    std::vector<float> in = random_floats((size_t)rows * WIDTH, -4, 4, 1);
    float *d_in = device_copy_of(in.data(), in.size()), *d_out = device_array<float>(in.size());
    pair_time(&p, [&] { row_softmax<<<rows / WARPS, 32 * WARPS>>>(d_in, d_out); });
    std::vector<float> out = host_copy_of(d_out, in.size());
    for (int r = 0; r < rows; r += 101) {
        double sum = 0;
        for (int k = 0; k < WIDTH; k++)
            sum += exp(in[(size_t)r * WIDTH + k]);
        for (int k = 0; k < WIDTH; k += 5)
            pair_near(&p, "out", (size_t)r * WIDTH + k, exp(in[(size_t)r * WIDTH + k]) / sum,
                      out[(size_t)r * WIDTH + k], 1e-4);
    }
    return pair_end(&p);
}
