// SPDX-License-Identifier: Apache-2.0
//
// Rule: kernel-merge
// Change: one kernel combines the coils and fits the decay, instead of a kernel for each.
// Why: the combined magnitudes go to memory and back only because the fit is another kernel; they fit in registers.
#include "../common.h"

#include <cuda_fp16.h>

enum { ECHOES = 8, KNEE_COILS = 3, BLOCK = 192 };

// A multi-echo scan of the knee, images[echo][coil][voxel]; the sensitivity of a coil is the same for all voxels.
struct Scan {
    int voxels;
    float noise;         // variance of a combined image
    float time[ECHOES];  // ms
};

// The cartilage map: T2 in ms and the signal at time 0.
struct Relaxation {
    float t2, signal;
};

// Root of the sum of squares over the coils, less the noise.
template <int COILS>
static __device__ float combine_coils(const __half2 *__restrict__ images, const Scan &scan, int echo, int voxel) {
    float sum = 0;
#pragma unroll
    for (int coil = 0; coil < COILS; coil++) {
        float2 z = __half22float2(images[((size_t)echo * COILS + coil) * scan.voxels + voxel]);
        sum += z.x * z.x + z.y * z.y;
    }
    return sqrtf(fmaxf(sum - scan.noise, 1e-6f));
}

// Sums of the line fit of the logarithm over the time, weighted by the squared magnitude.
struct LineFit {
    float w, wt, wtt, wy, wty;

    __device__ void add(float time, float magnitude) {
        float weight = magnitude * magnitude, y = logf(magnitude);
        w += weight;
        wt += weight * time;
        wtt += weight * time * time;
        wy += weight * y;
        wty += weight * time * y;
    }

    __device__ Relaxation result() const {
        float slope = (w * wty - wt * wy) / (w * wtt - wt * wt), start = (wy - slope * wt) / w;
        return {slope < -1e-3f ? -1.0f / slope : 1000.0f, expf(start)};
    }
};

#ifdef AFTER

template <int COILS>
__global__ void combine_and_fit(const __half2 *__restrict__ images, Relaxation *__restrict__ out, const Scan scan) {
    int voxel = blockIdx.x * BLOCK + threadIdx.x;
    if (voxel >= scan.voxels)
        return;
    LineFit fit = {0, 0, 0, 0, 0};
#pragma unroll
    for (int echo = 0; echo < ECHOES; echo++)
        fit.add(scan.time[echo], combine_coils<COILS>(images, scan, echo, voxel));
    out[voxel] = fit.result();
}

#else

template <int COILS>
__global__ void combine(const __half2 *__restrict__ images, float *__restrict__ magnitude, const Scan scan) {
    int voxel = blockIdx.x * BLOCK + threadIdx.x, echo = blockIdx.y;
    if (voxel < scan.voxels)
        magnitude[(size_t)echo * scan.voxels + voxel] = combine_coils<COILS>(images, scan, echo, voxel);
}

__global__ void fit_decay(const float *__restrict__ magnitude, Relaxation *__restrict__ out, const Scan scan) {
    int voxel = blockIdx.x * BLOCK + threadIdx.x;
    if (voxel >= scan.voxels)
        return;
    LineFit fit = {0, 0, 0, 0, 0};
#pragma unroll
    for (int echo = 0; echo < ECHOES; echo++)
        fit.add(scan.time[echo], magnitude[(size_t)echo * scan.voxels + voxel]);
    out[voxel] = fit.result();
}

#endif

// Decaying signals of a few tissues, with a phase that differs by coil and voxel.
static std::vector<__half2> knee_images(const Scan &scan) {
    const int tissues = 32, phases = 16;
    std::vector<__half2> images((size_t)ECHOES * KNEE_COILS * scan.voxels), shade(tissues * phases);
    for (int echo = 0; echo < ECHOES; echo++)
        for (int coil = 0; coil < KNEE_COILS; coil++) {
            for (int s = 0; s < tissues * phases; s++) {
                float t2 = 18.0f + 2.0f * (s / phases), angle = 0.39f * (s % phases) + coil;
                float size = (3.0f + 0.5f * coil) * expf(-scan.time[echo] / t2) + 0.01f * ((s + echo) % 5);
                shade[s] = __floats2half2_rn(size * cosf(angle), size * sinf(angle));
            }
            __half2 *image = &images[((size_t)echo * KNEE_COILS + coil) * scan.voxels];
            for (int v = 0; v < scan.voxels; v++)
                image[v] = shade[(v / 5 % tissues) * phases + (v * 7 + v / 640) % phases];
        }
    return images;
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "knees");
    Scan scan = {p.small ? 192 * 200 - 9 : 384 * 384 * 10, 0.002f, {0}};
    for (int echo = 0; echo < ECHOES; echo++)
        scan.time[echo] = 9.0f * (echo + 1);
    std::vector<__half2> images = knee_images(scan);
    __half2 *d_images = device_copy_of(images.data(), images.size());
    Relaxation *d_out = device_array<Relaxation>(scan.voxels);
    int blocks = (scan.voxels + BLOCK - 1) / BLOCK;
#ifdef AFTER
    pair_time(&p, [&] { combine_and_fit<KNEE_COILS><<<blocks, BLOCK>>>(d_images, d_out, scan); });
#else
    float *d_magnitude = device_array<float>((size_t)ECHOES * scan.voxels);
    pair_time(&p, [&] {
        combine<KNEE_COILS><<<dim3(blocks, ECHOES), BLOCK>>>(d_images, d_magnitude, scan);
        fit_decay<<<blocks, BLOCK>>>(d_magnitude, d_out, scan);
    });
#endif
    std::vector<Relaxation> out = host_copy_of(d_out, scan.voxels);
    for (int v = 0; v < scan.voxels; v += scan.voxels / 173) {
        double w = 0, wt = 0, wtt = 0, wy = 0, wty = 0;
        for (int echo = 0; echo < ECHOES; echo++) {
            double sum = 0, t = scan.time[echo];
            for (int coil = 0; coil < KNEE_COILS; coil++) {
                float2 z = __half22float2(images[((size_t)echo * KNEE_COILS + coil) * scan.voxels + v]);
                sum += (double)z.x * z.x + (double)z.y * z.y;
            }
            double weight = std::max(sum - scan.noise, 1e-6), y = 0.5 * log(weight);
            w += weight, wt += weight * t, wtt += weight * t * t, wy += weight * y, wty += weight * t * y;
        }
        double slope = (w * wty - wt * wy) / (w * wtt - wt * wt), start = (wy - slope * wt) / w;
        pair_near(&p, "t2", v, slope < -1e-3 ? -1 / slope : 1000, out[v].t2, 1e-3);
        pair_near(&p, "signal", v, exp(start), out[v].signal, 1e-3);
    }
    return pair_end(&p);
}
