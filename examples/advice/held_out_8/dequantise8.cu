// SPDX-License-Identifier: Apache-2.0
//
// Rule: vectorised-access
// Change: a thread takes four neighbouring bytes with one access, and stores four floats with one.
// Why: a byte is loaded by an instruction of its own, and a warp's load moves 32 bytes.
#include "../common.h"

enum { BLOCK = 256, GROUP = 128 };

// Bytes to floats; each group of a row has a scale of its own.
__global__ void dequantise8(const signed char *in, const float *scales, float *out, int zero) {
    int i = blockIdx.x * BLOCK + threadIdx.x;
#ifdef AFTER
    char4 x = ((const char4 *)in)[i];
    float scale = scales[i / (GROUP / 4)];
    ((float4 *)out)[i] = make_float4((x.x - zero) * scale, (x.y - zero) * scale, (x.z - zero) * scale, (x.w - zero) * scale);
#else
    out[i] = (in[i] - zero) * scales[i / GROUP];
#endif
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "dequantise8");
    int n = p.small ? 1 << 17 : 1 << 26;
    std::vector<signed char> in(n);
    lcg_fill((unsigned char *)in.data(), n, 1, 256);
    std::vector<float> scales = random_floats(n / GROUP, 0.01f, 0.02f, 2);
    signed char *d_in = device_copy_of(in.data(), n);
    float *d_scales = device_copy_of(scales.data(), scales.size()), *d_out = device_array<float>(n);
#ifdef AFTER
    int threads = n / 4;
#else
    int threads = n;
#endif
    pair_time(&p, [&] { dequantise8<<<threads / BLOCK, BLOCK>>>(d_in, d_scales, d_out, 3); });
    std::vector<float> out = host_copy_of(d_out, n);
    for (int i = 0; i < n; i += 1009)
        pair_near(&p, "out", i, (in[i] - 3) * scales[i / GROUP], out[i], 1e-6);
    return pair_end(&p);
}
