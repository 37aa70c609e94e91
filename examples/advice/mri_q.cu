// SPDX-License-Identifier: Apache-2.0
//
// Rule: fast-math
// Change: sinf and cosf become __sinf and __cosf.
// Why: the exact ones reduce their argument with a slow path through local memory; phases here stay below 2^7.
#include "common.h"

enum { MOST = 512, BLOCK = 256 };

struct Sample {
    float x, y, z, magnitude;
};
__constant__ Sample c_samples[MOST];

#ifdef AFTER
#define SIN(x) __sinf(x)
#define COS(x) __cosf(x)
#else
#define SIN(x) sinf(x)
#define COS(x) cosf(x)
#endif

// Q of an MRI reconstruction (Parboil's mri-q): a Fourier sum over k-space samples for each voxel.
__global__ void mri_q(const float *x, const float *y, const float *z, float *real, float *imaginary, int n,
                      int samples) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    float px = x[i], py = y[i], pz = z[i], re = 0, im = 0;
    for (int k = 0; k < samples; k++) {
        float phase = 6.2831853f * (c_samples[k].x * px + c_samples[k].y * py + c_samples[k].z * pz);
        re += c_samples[k].magnitude * COS(phase);
        im += c_samples[k].magnitude * SIN(phase);
    }
    real[i] = re;
    imaginary[i] = im;
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "mri_q");
    int n = p.small ? 132 * 512 : 1 << 18, samples = p.small ? 32 : MOST;
    std::vector<float> x = random_floats(n, -1, 1, 1), y = random_floats(n, -1, 1, 2), z = random_floats(n, -1, 1, 3),
                       k = random_floats(4 * MOST, -4, 4, 4);
    CUDA_CHECK(cudaMemcpyToSymbol(c_samples, k.data(), sizeof c_samples));
    float *d_x = device_copy_of(x.data(), n), *d_y = device_copy_of(y.data(), n), *d_z = device_copy_of(z.data(), n),
          *d_re = device_array<float>(n), *d_im = device_array<float>(n);
    pair_time(&p, [&] { mri_q<<<(n + BLOCK - 1) / BLOCK, BLOCK>>>(d_x, d_y, d_z, d_re, d_im, n, samples); });
    std::vector<float> re = host_copy_of(d_re, n), im = host_copy_of(d_im, n);
    for (int i = 0; i < n; i += n / 61) {
        double r = 0, m = 0;
        for (int s = 0; s < samples; s++) {
            double phase =
                6.2831853 * ((double)k[4 * s] * x[i] + (double)k[4 * s + 1] * y[i] + (double)k[4 * s + 2] * z[i]);
            r += k[4 * s + 3] * cos(phase);
            m += k[4 * s + 3] * sin(phase);
        }
        pair_near(&p, "real", i, r, re[i], 2e-2);
        pair_near(&p, "imaginary", i, m, im[i], 2e-2);
    }
    return pair_end(&p);
}
