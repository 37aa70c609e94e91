// SPDX-License-Identifier: Apache-2.0
//
// Rule: vectorised-access
// Change: a thread unpacks eight weights from one word and stores them together, instead of two from one byte.
// Why: each instruction moves one or four bytes.
#include "../common.h"

#include <cuda_fp16.h>

enum { BLOCK = 256, GROUP = 128 };

static __device__ __half2 two_weights(unsigned byte, __half2 scale) {
    return __hmul2(__floats2half2_rn((float)(byte & 15) - 8, (float)(byte >> 4 & 15) - 8), scale);
}

__global__ void dequantise4(const unsigned char *packed, const __half *scales, __half2 *out, int bytes) {
    int i = blockIdx.x * BLOCK + threadIdx.x;
#ifdef AFTER
    if (i >= bytes / 4)
        return;
    unsigned word = ((const unsigned *)packed)[i];
    __half2 scale = __half2half2(scales[i * 8 / GROUP]);
    __align__(16) __half2 w[4];
#pragma unroll
    for (int k = 0; k < 4; k++)
        w[k] = two_weights(word >> 8 * k, scale);
    ((uint4 *)out)[i] = *(const uint4 *)w;
#else
    if (i >= bytes)
        return;
    out[i] = two_weights(packed[i], __half2half2(scales[i * 2 / GROUP]));
#endif
}

// Weights of four bits, in groups of 128 with a scale each, to half precision.
int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "dequantise4");
    int bytes = p.small ? 1 << 18 : 1 << 24;
    std::vector<unsigned char> packed(bytes);
    lcg_fill(packed.data(), bytes, 1, 256);
    std::vector<float> scale = random_floats(bytes * 2 / GROUP, 0.01f, 0.1f, 2);
    std::vector<__half> scales(scale.size());
    for (size_t i = 0; i < scale.size(); i++)
        scales[i] = __float2half(scale[i]);
    unsigned char *d_packed = device_copy_of(packed.data(), bytes);
    __half *d_scales = device_copy_of(scales.data(), scales.size());
    __half2 *d_out = device_array<__half2>(bytes);
#ifdef AFTER
    int threads = bytes / 4;
#else
    int threads = bytes;
#endif
    pair_time(&p, [&] { dequantise4<<<threads / BLOCK, BLOCK>>>(d_packed, d_scales, d_out, bytes); });
    std::vector<__half2> out = host_copy_of(d_out, bytes);
    for (int i = 0; i < bytes; i += 97)
        pair_near(&p, "weight", i, ((packed[i] >> 4) - 8) * __half2float(scales[i * 2 / GROUP]), __high2float(out[i]),
                  1e-3);
    return pair_end(&p);
}
