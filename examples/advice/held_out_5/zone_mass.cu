// SPDX-License-Identifier: Apache-2.0
//
// Rule: atomic-contention
// Change: each CTA adds up in an array of its own in shared memory first.
// Why: all threads of the GPU add to the same 48 words.
#include "../common.h"

enum { BLOCK = 256, ZONES = 48, PER_THREAD = 8 };

// Mass of the particles of each zone.
__global__ void zone_mass(const unsigned char *zone, const float *mass, float *total, int n) {
#ifdef AFTER
    __shared__ float own[ZONES];
    if (threadIdx.x < ZONES)
        own[threadIdx.x] = 0;
    __syncthreads();
#endif
    for (int k = 0; k < PER_THREAD; k++) {
        int i = (blockIdx.x * PER_THREAD + k) * BLOCK + threadIdx.x;
#ifdef AFTER
        atomicAdd(&own[zone[i]], mass[i]);
#else
        atomicAdd(&total[zone[i]], mass[i]);
#endif
    }
#ifdef AFTER
    __syncthreads();
    if (threadIdx.x < ZONES)
        atomicAdd(&total[threadIdx.x], own[threadIdx.x]);
#endif
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "zone_mass");
    int n = p.small ? 1 << 15 : 1 << 22;
    std::vector<float> mass = random_floats(n, 0, 1, 1);
    std::vector<unsigned char> zone(n);
    unsigned seed = 2;
    for (unsigned char &z : zone)
        z = (unsigned char)std::min(lcg_next(&seed, ZONES), lcg_next(&seed, ZONES));
    unsigned char *d_zone = device_copy_of(zone.data(), n);
    float *d_mass = device_copy_of(mass.data(), n), *d_total = device_array<float>(ZONES);
    CUDA_CHECK(cudaMemset(d_total, 0, ZONES * sizeof(float)));
    pair_time(&p, [&] { zone_mass<<<n / (BLOCK * PER_THREAD), BLOCK>>>(d_zone, d_mass, d_total, n); });
    CUDA_CHECK(cudaMemset(d_total, 0, ZONES * sizeof(float)));
    zone_mass<<<n / (BLOCK * PER_THREAD), BLOCK>>>(d_zone, d_mass, d_total, n);
    std::vector<float> total = host_copy_of(d_total, ZONES);
    std::vector<double> wanted(ZONES);
    for (int i = 0; i < n; i++)
        wanted[zone[i]] += mass[i];
    for (int z = 0; z < ZONES; z++)
        pair_near(&p, "total", z, wanted[z], total[z], 1e-3);
    return pair_end(&p);
}
