// SPDX-License-Identifier: Apache-2.0
//
// Rule: occupancy-up
// Change: the patch is kept as bytes in shared memory, as it comes, instead of as floats.
// Why: a block needs so much shared memory that few of them fit an SM.
#include "../common.h"

enum { BLOCK = 128, SIDE = 96 };

#ifdef AFTER
typedef unsigned char Kept;
#else
typedef float Kept;
#endif

// Contrast and smoothness of patches of woven fabric, from four neighbours of each point.
__global__ void fabric_patches(const unsigned char *pictures, float *out) {
    __shared__ Kept patch[SIDE * SIDE];
    const unsigned char *in = pictures + (size_t)blockIdx.x * SIDE * SIDE;
    for (int i = threadIdx.x; i < SIDE * SIDE; i += BLOCK)
        patch[i] = (Kept)in[i];
    __syncthreads();
    float contrast = 0, smooth = 0;
    for (int i = threadIdx.x; i < (SIDE - 1) * SIDE - 1; i += BLOCK) {
        float own = (float)patch[i], right = own - (float)patch[i + 1], below = own - (float)patch[i + SIDE];
        contrast += right * right + below * below;
        smooth += 1.0f / (1.0f + fabsf(right));
    }
    for (int lane = 16; lane; lane /= 2) {
        contrast += __shfl_xor_sync(~0u, contrast, lane);
        smooth += __shfl_xor_sync(~0u, smooth, lane);
    }
    if (threadIdx.x % 32 == 0)
        out[blockIdx.x * (BLOCK / 32) + threadIdx.x / 32] = contrast / (smooth + 1.0f);
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "fabric_patches");
    int patches = p.small ? 264 : 1 << 13;
    std::vector<unsigned char> pictures((size_t)patches * SIDE * SIDE);
    unsigned seed = 1;
    for (unsigned char &c : pictures)
        c = (unsigned char)lcg_next(&seed, 64);
    unsigned char *d_pictures = device_copy_of(pictures.data(), pictures.size());
    float *d_out = device_array<float>((size_t)patches * (BLOCK / 32));
    pair_time(&p, [&] { fabric_patches<<<patches, BLOCK>>>(d_pictures, d_out); });
    std::vector<float> out = host_copy_of(d_out, (size_t)patches * (BLOCK / 32));
    for (int patch = 0; patch < patches; patch += 211)
        for (int warp = 0; warp < BLOCK / 32; warp++) {
            const unsigned char *in = &pictures[(size_t)patch * SIDE * SIDE];
            double contrast = 0, smooth = 0;
            for (int i = 0; i < (SIDE - 1) * SIDE - 1; i++)
                if (i % BLOCK / 32 == warp) {
                    double right = (double)in[i] - in[i + 1], below = (double)in[i] - in[i + SIDE];
                    contrast += right * right + below * below;
                    smooth += 1 / (1 + fabs(right));
                }
            pair_near(&p, "fabric", patch, contrast / (smooth + 1), out[patch * (BLOCK / 32) + warp], 1e-4);
        }
    return pair_end(&p);
}
