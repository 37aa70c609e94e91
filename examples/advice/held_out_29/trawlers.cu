// SPDX-License-Identifier: Apache-2.0
//
// Rule: kernel-merge
// Change: speed, chance of fishing and fuel are computed by one kernel instead of three.
// Why: speed and chance need not go through memory between kernels, and two launches less are waited for.
#include "../common.h"

enum { BLOCK = 256 };

__host__ __device__ inline float knots(float2 from, float2 to) {  // positions in metres, a minute apart
    float east = to.x - from.x, north = to.y - from.y;
    return sqrtf(east * east + north * north) * (1 / 30.87f);
}

__host__ __device__ inline float chance(float speed) { return 1 / (1 + expf(2.2f * fabsf(speed - 3.5f) - 3)); }

__host__ __device__ inline float litres(float speed, float fishing) {
    return (0.4f + 0.011f * speed * speed * speed) * (1 + 1.6f * fishing);
}

#ifdef AFTER
// The fuel that trawlers burn from one radioed position to the next.
__global__ void fuel_of_positions(const float2 *position, float *fuel, int n) {
    int i = blockIdx.x * BLOCK + threadIdx.x;
    if (i < n) {
        float speed = knots(position[i], position[i + 1]);
        fuel[i] = litres(speed, chance(speed));
    }
}
#else
__global__ void speeds_of_positions(const float2 *position, float *speed, int n) {
    int i = blockIdx.x * BLOCK + threadIdx.x;
    if (i < n)
        speed[i] = knots(position[i], position[i + 1]);
}

__global__ void chances_of_speeds(const float *speed, float *fishing, int n) {
    int i = blockIdx.x * BLOCK + threadIdx.x;
    if (i < n)
        fishing[i] = chance(speed[i]);
}

// The fuel that trawlers burn from one radioed position to the next.
__global__ void fuel_of_speeds(const float *speed, const float *fishing, float *fuel, int n) {
    int i = blockIdx.x * BLOCK + threadIdx.x;
    if (i < n)
        fuel[i] = litres(speed[i], fishing[i]);
}
#endif

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "trawlers");
    int n = p.small ? 9001 : 12000000, blocks = (n + BLOCK - 1) / BLOCK;
    std::vector<float> track = random_floats(2 * ((size_t)n + 1), 0, 250, 1);
    const float2 *d_position = (const float2 *)device_copy_of(track.data(), track.size());
    float *d_fuel = device_array<float>(n);
#ifdef AFTER
    pair_time(&p, [&] { fuel_of_positions<<<blocks, BLOCK>>>(d_position, d_fuel, n); });
#else
    float *d_speed = device_array<float>(n), *d_fishing = device_array<float>(n);
    pair_time(&p, [&] {
        speeds_of_positions<<<blocks, BLOCK>>>(d_position, d_speed, n);
        chances_of_speeds<<<blocks, BLOCK>>>(d_speed, d_fishing, n);
        fuel_of_speeds<<<blocks, BLOCK>>>(d_speed, d_fishing, d_fuel, n);
    });
#endif
    std::vector<float> fuel = host_copy_of(d_fuel, n);
    for (int i = 0; i < n; i += p.small ? 13 : 1009) {
        const float *at = &track[2 * (size_t)i];
        float speed = knots({at[0], at[1]}, {at[2], at[3]});
        pair_near(&p, "fuel", i, litres(speed, chance(speed)), fuel[i], 1e-4);
    }
    return pair_end(&p);
}
