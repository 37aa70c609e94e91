// SPDX-License-Identifier: Apache-2.0
//
// Rule: register-reuse
// Also: spills
// Change: the colours are traced in groups of PASS that use the same registers one after the other, not all at once.
// Why: height, angle and index of 32 colours are 96 values, more than a thread's 64 registers, so that at every
//      surface most of them are fetched from local memory and put back; the state of eight colours fits.
#include "../common.h"

enum { BLOCK = 256, COLOURS = 32 };
#ifdef AFTER
enum { PASS = 8 };
#else
enum { PASS = COLOURS };
#endif

// 1 / wavelength^2 of the colours, in 1 / micrometre^2.
__constant__ float inverse_square[COLOURS];

struct Focus {
    float nearest, farthest, sum;
};

// Cauchy's formula for the glass behind a surface; x: curvature, y: distance to the next surface, z, w: the glass.
__host__ __device__ static inline float refraction(const float4 &surface, float inverse) {
    return surface.z + surface.w * inverse;
}

// Follows PASS paraxial rays that come in parallel to the axis at height 1.
__device__ static inline void trace(const float4 *lens, int designs, int surfaces, int first, Focus *focus) {
    float height[PASS], angle[PASS], index[PASS];
#pragma unroll
    for (int c = 0; c < PASS; c++) height[c] = 1, angle[c] = 0, index[c] = 1;
#pragma unroll 1
    for (int s = 0; s < surfaces; s++) {
        float4 surface = lens[(size_t)s * designs];
#pragma unroll
        for (int c = 0; c < PASS; c++) {
            float behind = refraction(surface, inverse_square[first + c]);
            angle[c] -= height[c] * surface.x * (behind - index[c]);
            height[c] += surface.y * __fdividef(angle[c], behind);
            index[c] = behind;
        }
    }
#pragma unroll
    for (int c = 0; c < PASS; c++) {
        float back = -__fdividef(height[c] * index[c], angle[c]);
        focus->nearest = fminf(focus->nearest, back);
        focus->farthest = fmaxf(focus->farthest, back);
        focus->sum += back;
    }
}

// The mean back focal length of a design, and how far the colours' foci lie apart.
__global__ void __launch_bounds__(BLOCK, 4)
    colour_error(const float4 *lens, float *mean, float *spread, int designs, int surfaces) {
    int d = blockIdx.x * BLOCK + threadIdx.x;
    if (d >= designs) return;
    Focus focus = {1e30f, -1e30f, 0};
#pragma unroll 1
    for (int first = 0; first < COLOURS; first += PASS) trace(lens + d, designs, surfaces, first, &focus);
    mean[d] = focus.sum / COLOURS;
    spread[d] = focus.farthest - focus.nearest;
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "achromats");
    int designs = p.small ? 2048 : 512 * 1024, surfaces = p.small ? 5 : 8;
    std::vector<float> inverse(COLOURS);
    for (int c = 0; c < COLOURS; c++) {
        float wavelength = 0.40f + 0.30f * c / (COLOURS - 1);
        inverse[c] = 1 / (wavelength * wavelength);
    }
    CUDA_CHECK(cudaMemcpyToSymbol(inverse_square, inverse.data(), COLOURS * sizeof(float)));
    // Every lens is a front surface of power, then weaker ones; in the end there is air.
    std::vector<float> bend = random_floats((size_t)designs * surfaces, -0.03f, 0.05f, 5);
    std::vector<float> glass = random_floats((size_t)designs * surfaces, 0, 1, 6);
    std::vector<float4> lens((size_t)designs * surfaces);
    for (int s = 0; s < surfaces; s++)
        for (int d = 0; d < designs; d++) {
            size_t i = (size_t)s * designs + d;
            bool air = s == surfaces - 1;
            float curvature = s == 0 ? 0.8f : 0.1f * bend[i];
            lens[i] = make_float4(curvature, air ? 0 : 0.02f + 0.05f * glass[i], air ? 1 : 1.48f + 0.2f * glass[i],
                                  air ? 0 : 0.004f + 0.009f * glass[i]);
        }
    float4 *d_lens = device_copy_of(lens.data(), lens.size());
    float *d_mean = device_array<float>(designs), *d_spread = device_array<float>(designs);
    int blocks = (designs + BLOCK - 1) / BLOCK;
    pair_time(&p, [&] { colour_error<<<blocks, BLOCK>>>(d_lens, d_mean, d_spread, designs, surfaces); });
    std::vector<float> mean = host_copy_of(d_mean, designs), spread = host_copy_of(d_spread, designs);
    for (int d = 0; d < designs; d += p.small ? 3 : 331) {
        double sum = 0, nearest = 1e30, farthest = -1e30;
        for (int c = 0; c < COLOURS; c++) {
            double height = 1, angle = 0, index = 1;
            for (int s = 0; s < surfaces; s++) {
                const float4 &surface = lens[(size_t)s * designs + d];
                double behind = surface.z + (double)surface.w * inverse[c];
                angle -= height * surface.x * (behind - index);
                height += surface.y * angle / behind;
                index = behind;
            }
            double back = -height * index / angle;
            sum += back;
            nearest = std::min(nearest, back), farthest = std::max(farthest, back);
        }
        pair_near(&p, "mean", d, sum / COLOURS, mean[d], 1e-3);
        pair_near(&p, "spread", d, farthest - nearest, spread[d], 1e-3);
    }
    return pair_end(&p);
}
