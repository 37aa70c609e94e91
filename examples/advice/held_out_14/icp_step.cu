// SPDX-License-Identifier: Apache-2.0
//
// Rule: spills
// Change: the launch bounds ask for three resident blocks instead of eight.
// Why: eight blocks of 256 threads leave 32 registers to a thread that keeps 27 sums.
#include "../common.h"

enum { BLOCK = 256, SUMS = 27 };

#ifdef AFTER
enum { RESIDENT = 3 };
#else
enum { RESIDENT = 8 };
#endif

// A step of aligning two scans of a robot's laser: the equations for the turn and the shift that bring points onto the
// planes of their partners, 21 numbers of the matrix and 6 of the right side, added up by each thread.
__global__ void __launch_bounds__(BLOCK, RESIDENT)
    icp_step(const float4 *points, const float4 *planes, float *sums, int n) {
    int me = blockIdx.x * BLOCK + threadIdx.x, threads = gridDim.x * BLOCK;
    float sum[SUMS] = {};
    for (int i = me; i < n; i += threads) {
        float4 point = points[i], plane = planes[i];  // w: how sure it is; distance of the plane
        float row[6] = {point.y * plane.z - point.z * plane.y,
                        point.z * plane.x - point.x * plane.z,
                        point.x * plane.y - point.y * plane.x,
                        plane.x,
                        plane.y,
                        plane.z};
        float miss = plane.w - point.x * plane.x - point.y * plane.y - point.z * plane.z;
        int at = 0;
#pragma unroll
        for (int a = 0; a < 6; a++) {
            float weighted = point.w * row[a];
#pragma unroll
            for (int b = a; b < 6; b++)
                sum[at++] += weighted * row[b];
            sum[at++] += weighted * miss;
        }
    }
#pragma unroll
    for (int k = 0; k < SUMS; k++)
        sums[k * threads + me] = sum[k];
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "icp_step");
    int blocks = p.small ? 4 : 396, threads = blocks * BLOCK, n = threads * (p.small ? 6 : 32);
    std::vector<float> numbers = random_floats((size_t)n * 8, -1, 1, 1);
    const float4 *points = (const float4 *)numbers.data(), *planes = points + n;
    float4 *d_points = device_copy_of(points, n), *d_planes = device_copy_of(planes, n);
    float *d_sums = device_array<float>((size_t)threads * SUMS);
    pair_time(&p, [&] { icp_step<<<blocks, BLOCK>>>(d_points, d_planes, d_sums, n); });
    std::vector<float> sums = host_copy_of(d_sums, (size_t)threads * SUMS);
    for (int me = 0; me < threads; me += 31) {
        double sum[SUMS] = {};
        for (int i = me; i < n; i += threads) {
            double x = points[i].x, y = points[i].y, z = points[i].z;
            double u = planes[i].x, v = planes[i].y, w = planes[i].z;
            double row[7] = {y * w - z * v, z * u - x * w, x * v - y * u, u, v, w, planes[i].w - x * u - y * v - z * w};
            int at = 0;
            for (int a = 0; a < 6; a++)
                for (int b = a; b < 7; b++)
                    sum[at++] += points[i].w * row[a] * row[b];
        }
        for (int k = 0; k < SUMS; k++)
            pair_near(&p, "sum", (size_t)k * threads + me, sum[k], sums[(size_t)k * threads + me], 1e-4);
    }
    return pair_end(&p);
}
