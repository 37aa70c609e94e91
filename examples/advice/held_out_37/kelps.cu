// SPDX-License-Identifier: Apache-2.0
//
// Rule: memory-transactions
// Change: the satellite's bands are kept as the 16-bit numbers that the sensor delivers, not converted to float.
// Why: the kernel is bound by reading the bands; half the bytes are half the sectors fetched from DRAM.
#include "../common.h"

// Maps kelp canopy in multispectral images (one plane a band): takes the dark offset and gain of each band off, then
// unmixes every pixel into water, kelp and glint with a least-squares matrix. The kelp fraction is lowered where the
// fit is bad and faded out where the blue band says cloud.

constexpr int BANDS = 8;
constexpr int ENDMEMBERS = 3;
constexpr int THREADS = 256;

#ifdef AFTER
typedef unsigned short Sample;
#else
typedef float Sample;
#endif

struct Calibration {
    float gain[BANDS];
    float dark[BANDS];
    float unmix[ENDMEMBERS][BANDS];    // pseudo-inverse of spectra
    float spectra[BANDS][ENDMEMBERS];  // reflectance of the pure endmembers
    float cloud;                       // reflectance of the first band from which a pixel is cloud
    float residual;                    // largest sum of squares that is trusted
};

__host__ __device__ inline float kelp_fraction(const float *reflectance, const Calibration &c) {
    float share[ENDMEMBERS];
#pragma unroll
    for (int e = 0; e < ENDMEMBERS; e++) {
        share[e] = 0.0f;
#pragma unroll
        for (int b = 0; b < BANDS; b++)
            share[e] += c.unmix[e][b] * reflectance[b];
        share[e] = fmaxf(share[e], 0.0f);
    }
    float error = 0.0f;
#pragma unroll
    for (int b = 0; b < BANDS; b++) {
        float model = 0.0f;
#pragma unroll
        for (int e = 0; e < ENDMEMBERS; e++)
            model += c.spectra[b][e] * share[e];
        error += (model - reflectance[b]) * (model - reflectance[b]);
    }
    float fraction = share[1] / (share[0] + share[1] + share[2] + 1e-3f);
    fraction -= fmaxf(error - c.residual, 0.0f);
    float cloud = fminf(fmaxf((reflectance[0] - c.cloud) * 20.0f, 0.0f), 1.0f);
    return fmaxf(fraction, 0.0f) * (1.0f - cloud);
}

__global__ void __launch_bounds__(THREADS)
map_canopy(const Sample *__restrict__ image, int pixels, Calibration c, float *__restrict__ kelp) {
    int i = blockIdx.x * THREADS + threadIdx.x;
    if (i >= pixels)
        return;
    float reflectance[BANDS];
#pragma unroll
    for (int b = 0; b < BANDS; b++)
        reflectance[b] = ((float)image[(size_t)b * pixels + i] - c.dark[b]) * c.gain[b];
    kelp[i] = kelp_fraction(reflectance, c);
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "kelps");
    const int width = p.small ? 64 : 4096, height = p.small ? 40 : 3000;
    const int pixels = width * height;

    const float pure[ENDMEMBERS][BANDS] = {{0.060f, 0.065f, 0.050f, 0.030f, 0.020f, 0.012f, 0.008f, 0.004f},
                                           {0.030f, 0.035f, 0.055f, 0.040f, 0.035f, 0.160f, 0.240f, 0.230f},
                                           {0.120f, 0.120f, 0.125f, 0.125f, 0.120f, 0.125f, 0.120f, 0.115f}};
    Calibration c = {};
    for (int b = 0; b < BANDS; b++) {
        c.gain[b] = (0.35f + 0.01f * b) / 4096.0f;
        c.dark[b] = 60.0f + 3.0f * b;
        for (int e = 0; e < ENDMEMBERS; e++)
            c.spectra[b][e] = pure[e][b];
    }
    c.cloud = 0.25f;
    c.residual = 0.02f;
    // unmix = (S^T S)^-1 S^T, by the adjugate of the 3 x 3 matrix
    double m[3][3] = {};
    for (int r = 0; r < 3; r++)
        for (int s = 0; s < 3; s++)
            for (int b = 0; b < BANDS; b++)
                m[r][s] += (double)pure[r][b] * pure[s][b];
    double inverse[3][3], det = 0;
    for (int r = 0; r < 3; r++)
        for (int s = 0; s < 3; s++) {
            int r1 = (r + 1) % 3, r2 = (r + 2) % 3, s1 = (s + 1) % 3, s2 = (s + 2) % 3;
            inverse[s][r] = m[r1][s1] * m[r2][s2] - m[r1][s2] * m[r2][s1];
            if (r == 0)
                det += m[0][s] * inverse[s][0];
        }
    for (int e = 0; e < ENDMEMBERS; e++)
        for (int b = 0; b < BANDS; b++)
            for (int s = 0; s < 3; s++)
                c.unmix[e][b] += (float)(inverse[e][s] / det * pure[s][b]);

    std::vector<Sample> image((size_t)BANDS * pixels);
    unsigned seed = 77;
    for (int i = 0; i < pixels; i++) {
        int kelp = lcg_next(&seed, 100), glint = lcg_next(&seed, 40), noise = lcg_next(&seed, 64);
        float k = kelp / 100.0f, g = glint / 100.0f;
        for (int b = 0; b < BANDS; b++) {
            float r = (1 - k) * pure[0][b] + k * pure[1][b] + g * pure[2][b];
            image[(size_t)b * pixels + i] = (Sample)(int)(r / c.gain[b] + c.dark[b] + ((noise * (b + 3)) & 63));
        }
    }
    Sample *d_image = device_copy_of(image.data(), image.size());
    float *d_kelp = device_array<float>(pixels);
    int blocks = (pixels + THREADS - 1) / THREADS;
    pair_time(&p, [&] { map_canopy<<<blocks, THREADS>>>(d_image, pixels, c, d_kelp); });

    std::vector<float> kelp = host_copy_of(d_kelp, pixels);
    for (int i = 0; i < pixels; i += p.small ? 1 : 97) {
        float reflectance[BANDS];
        for (int b = 0; b < BANDS; b++)
            reflectance[b] = ((float)image[(size_t)b * pixels + i] - c.dark[b]) * c.gain[b];
        pair_near(&p, "kelp", i, kelp_fraction(reflectance, c), kelp[i], 1e-3);
    }
    CUDA_CHECK(cudaFree(d_image));
    CUDA_CHECK(cudaFree(d_kelp));
    return pair_end(&p);
}
