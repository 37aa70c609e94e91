// SPDX-License-Identifier: Apache-2.0
//
// Rule: global-coalescing
// Change: the scan is stored image by image, not voxel by voxel.
// Why: a thread follows one voxel through all images; with the curve of a voxel in one piece, the lanes of a warp are
// 96 bytes apart in each load.
#include "../common.h"

#include <cuda_fp16.h>

enum { BLOCK = 128, REST = 8, KINDS = 1021 };

__host__ __device__ inline size_t at(int voxel, int image, int voxels, int images) {
#ifdef AFTER
    return (size_t)image * voxels + voxel;
#else
    return (size_t)voxel * images + image;
#endif
}

// How much contrast agent each voxel of the kidneys takes up, when on average, and at which image it has most of it.
__global__ void perfuse(const __half *scan, float *uptake, float *transit, unsigned char *peak, int voxels,
                        int images) {
    int voxel = blockIdx.x * BLOCK + threadIdx.x;
    if (voxel >= voxels)
        return;
    float rest = 0;
    for (int t = 0; t < REST; t++)
        rest += __half2float(scan[at(voxel, t, voxels, images)]);
    rest /= REST;
    float area = 0, moment = 0, most = 0;
    int when = 0;
    for (int t = REST; t < images; t++) {
        float agent = fmaxf(__half2float(scan[at(voxel, t, voxels, images)]) - rest, 0);
        area += agent;
        moment += agent * t;
        if (agent > most) {
            most = agent;
            when = t;
        }
    }
    uptake[voxel] = area;
    transit[voxel] = area > 0 ? moment / area : 0;
    peak[voxel] = (unsigned char)when;
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "kidneys");
    int voxels = p.small ? 30 * 25 * 6 : 360 * 300 * 20, images = p.small ? 16 : 48;
    size_t n = (size_t)voxels * images;
    // Every voxel has one of KINDS curves: noise, and from some image on a bolus that comes and goes.
    std::vector<float> noise = random_floats((size_t)KINDS * images, 0, 0.25f, 1),
                       bolus = random_floats(KINDS, 0, 1, 2);
    std::vector<__half> curves((size_t)KINDS * images), scan(n);
    for (int k = 0; k < KINDS; k++) {
        for (int t = 0; t < images; t++) {
            float late = t - REST - bolus[k] * 6, flow = late > 0 ? 8 * bolus[k] * late * expf(-0.3f * late) : 0;
            curves[(size_t)k * images + t] = __float2half(1 + noise[(size_t)k * images + t] + flow);
        }
    }
    for (int v = 0; v < voxels; v++) {
        const __half *curve = &curves[(size_t)(v % KINDS) * 37 % KINDS * images];
        for (int t = 0; t < images; t++)
            scan[at(v, t, voxels, images)] = curve[t];
    }
    __half *d_scan = device_copy_of(scan.data(), n);
    float *d_uptake = device_array<float>(voxels), *d_transit = device_array<float>(voxels);
    unsigned char *d_peak = device_array<unsigned char>(voxels);
    int grid = (voxels + BLOCK - 1) / BLOCK;
    pair_time(&p, [&] { perfuse<<<grid, BLOCK>>>(d_scan, d_uptake, d_transit, d_peak, voxels, images); });
    std::vector<float> uptake = host_copy_of(d_uptake, voxels), transit = host_copy_of(d_transit, voxels);
    std::vector<unsigned char> peak = host_copy_of(d_peak, voxels);
    for (int v = 0; v < voxels; v += p.small ? 1 : 41) {
        float rest = 0, most = 0;
        for (int t = 0; t < REST; t++)
            rest += __half2float(scan[at(v, t, voxels, images)]);
        rest /= REST;
        double area = 0, moment = 0;
        int when = 0;
        for (int t = REST; t < images; t++) {
            float agent = std::max(__half2float(scan[at(v, t, voxels, images)]) - rest, 0.0f);
            area += agent;
            moment += (double)agent * t;
            when = agent > most ? t : when;
            most = std::max(most, agent);
        }
        pair_near(&p, "uptake", v, area, uptake[v], 1e-4);
        pair_near(&p, "transit", v, area > 0 ? moment / area : 0, transit[v], 1e-4);
        pair_near(&p, "peak", v, when, peak[v], 0);
    }
    return pair_end(&p);
}
