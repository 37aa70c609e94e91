// SPDX-License-Identifier: Apache-2.0
//
// Rule: loop-unrolling
// Change: the loop over the yarns is unrolled eight times instead of not at all.
// Why: counting, comparing and jumping is a good part of so short a body, and each load waits for the one before.
#include "../common.h"

enum { BLOCK = 256, YARNS = 64 };

#ifdef AFTER
#define UNROLL _Pragma("unroll 8")
#else
#define UNROLL _Pragma("unroll 1")
#endif

// Chooses the yarn for each stitch of a picture: the nearest colour, though seldom used yarns have a handicap. Sums up
// how far off the colours are.
__global__ void choose(const uchar4 *picture, const float4 *yarns, unsigned char *chart, float *misfit, int stitches) {
    __shared__ float4 basket[YARNS];
    __shared__ float parts[BLOCK / 32];
    if (threadIdx.x < YARNS)
        basket[threadIdx.x] = yarns[threadIdx.x];
    __syncthreads();
    float off = 0;
    for (int i = blockIdx.x * BLOCK + threadIdx.x; i < stitches; i += gridDim.x * BLOCK) {
        uchar4 c = picture[i];
        float nearest = 1e9f;
        int chosen = 0;
        UNROLL
        for (int k = 0; k < YARNS; k++) {
            float4 yarn = basket[k];
            float r = c.x - yarn.x, g = c.y - yarn.y, b = c.z - yarn.z;
            float far = yarn.w + 2 * r * r + 4 * g * g + 3 * b * b;
            chosen = far < nearest ? k : chosen;
            nearest = fminf(nearest, far);
        }
        chart[i] = chosen;
        off += sqrtf(nearest);
    }
    for (int gap = 16; gap; gap >>= 1)
        off += __shfl_xor_sync(~0u, off, gap);
    if (threadIdx.x % 32 == 0)
        parts[threadIdx.x / 32] = off;
    __syncthreads();
    if (threadIdx.x == 0) {
        for (int w = 1; w < BLOCK / 32; w++)
            off += parts[w];
        misfit[blockIdx.x] = off;
    }
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "embroidery");
    int blocks = p.small ? 1 : 1056, n = blocks * BLOCK * (p.small ? 1 : 24);
    std::vector<uchar4> picture(n);
    unsigned seed = 1;
    for (uchar4 &c : picture) {
        c.x = (unsigned char)lcg_next(&seed, 256);
        c.y = (unsigned char)lcg_next(&seed, 256);
        c.z = (unsigned char)lcg_next(&seed, 256);
        c.w = 255;
    }
    std::vector<float> raw = random_floats(YARNS * 4, 0, 255, 2);
    uchar4 *d_picture = device_copy_of(picture.data(), n);
    float4 *d_yarns = (float4 *)device_copy_of(raw.data(), raw.size());
    unsigned char *d_chart = device_array<unsigned char>(n);
    float *d_misfit = device_array<float>(blocks);
    pair_time(&p, [&] { choose<<<blocks, BLOCK>>>(d_picture, d_yarns, d_chart, d_misfit, n); });
    std::vector<unsigned char> chart = host_copy_of(d_chart, n);
    std::vector<float> misfit = host_copy_of(d_misfit, blocks);
    for (int b = 0; b < blocks; b += p.small ? 1 : 67) {
        double off = 0;
        for (int i = b * BLOCK; i < n; i += (i + 1) % BLOCK ? 1 : (blocks - 1) * BLOCK + 1) {
            double nearest = 1e9, chosen = -1;
            for (int k = 0; k < YARNS; k++) {
                double r = picture[i].x - raw[4 * k], g = picture[i].y - raw[4 * k + 1],
                       d = picture[i].z - raw[4 * k + 2], far = raw[4 * k + 3] + 2 * r * r + 4 * g * g + 3 * d * d;
                nearest = std::min(nearest, far);
                if (k == chart[i])
                    chosen = far;
            }
            off += sqrt(nearest);
            pair_near(&p, "chosen", i, nearest, chosen, 1e-3);
        }
        pair_near(&p, "misfit", b, off, misfit[b], 1e-3);
    }
    return pair_end(&p);
}
