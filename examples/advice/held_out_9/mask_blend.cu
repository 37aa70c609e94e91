// SPDX-License-Identifier: Apache-2.0
//
// Rule: thread-increase
// Change: blocks of 256 threads instead of 32.
// Why: an SM starts blocks one after the other, and holds 32 of them.
#include "../common.h"

#ifdef AFTER
enum { BLOCK = 256 };
#else
enum { BLOCK = 32 };
#endif

// Two pictures, one over the other as far as a mask says.
__global__ void mask_blend(const float4 *front, const float4 *back, const float *mask, float4 *out) {
    int i = blockIdx.x * BLOCK + threadIdx.x;
    float4 a = front[i], b = back[i];
    float m = mask[i], k = 1 - m;
    out[i] = make_float4(a.x * m + b.x * k, a.y * m + b.y * k, a.z * m + b.z * k, 1);
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "mask_blend");
    int n = p.small ? 1 << 14 : 1 << 21;
    std::vector<float> front = random_floats(4 * (size_t)n, 0, 1, 1), back = random_floats(4 * (size_t)n, 0, 1, 2), mask = random_floats(n, 0, 1, 3);
    float4 *d_front = device_copy_of((const float4 *)front.data(), n), *d_back = device_copy_of((const float4 *)back.data(), n);
    float *d_mask = device_copy_of(mask.data(), n);
    float4 *d_out = device_array<float4>(n);
    pair_time(&p, [&] { mask_blend<<<n / BLOCK, BLOCK>>>(d_front, d_back, d_mask, d_out); });
    std::vector<float4> out = host_copy_of(d_out, n);
    for (int i = 0; i < n; i += 1009)
        pair_near(&p, "x", i, front[4 * (size_t)i] * mask[i] + back[4 * (size_t)i] * (1 - mask[i]), out[i].x, 1e-5);
    return pair_end(&p);
}
