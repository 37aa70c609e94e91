// SPDX-License-Identifier: Apache-2.0
//
// Rule: vectorised-access
// Change: each thread takes four neighbouring pixels, with one load of 8 bytes for each band.
// Why: each thread loads two numbers of 16 bits and stores one of 32.
#include "../common.h"

enum { BLOCK = 256 };

static __host__ __device__ inline float index_of(float red, float near_infrared) {
    return (near_infrared - red) / (near_infrared + red + 1.0f);
}

// How green each pixel of a satellite's picture is, from two bands.
__global__ void vegetation(const unsigned short *red, const unsigned short *nir, float *out) {
    int i = blockIdx.x * BLOCK + threadIdx.x;
#ifdef AFTER
    ushort4 r = ((const ushort4 *)red)[i], n = ((const ushort4 *)nir)[i];
    ((float4 *)out)[i] = make_float4(index_of(r.x, n.x), index_of(r.y, n.y), index_of(r.z, n.z), index_of(r.w, n.w));
#else
    out[i] = index_of(red[i], nir[i]);
#endif
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "vegetation");
    int n = p.small ? 1 << 16 : 1 << 24;
    std::vector<unsigned short> red(n), nir(n);
    unsigned seed = 1;
    for (int i = 0; i < n; i++)
        red[i] = (unsigned short)lcg_next(&seed, 4096), nir[i] = (unsigned short)lcg_next(&seed, 8192);
    unsigned short *d_red = device_copy_of(red.data(), n), *d_nir = device_copy_of(nir.data(), n);
    float *d_out = device_array<float>(n);
#ifdef AFTER
    pair_time(&p, [&] { vegetation<<<n / 4 / BLOCK, BLOCK>>>(d_red, d_nir, d_out); });
#else
    pair_time(&p, [&] { vegetation<<<n / BLOCK, BLOCK>>>(d_red, d_nir, d_out); });
#endif
    std::vector<float> out = host_copy_of(d_out, n);
    for (int i = 0; i < n; i += 97)
        pair_near(&p, "index", i, index_of(red[i], nir[i]), out[i], 1e-6);
    return pair_end(&p);
}
