// SPDX-License-Identifier: Apache-2.0
//
// Rule: redundant-loads
// Change: a point's noise is summed in a variable and stored once.
// Why: the sum is loaded and stored for each road, and each store may change the point's place, loaded again.
#include "../common.h"

enum { BLOCK = 256, ROADS = 192 };

// Traffic noise at points of a town: roads are segments that shine evenly, houses and air weaken them.
__global__ void noise_map(const float *x, const float *y, const float *shield, const float4 *roads, const float *powers,
                          float *noise) {
    int i = blockIdx.x * BLOCK + threadIdx.x;
#ifdef AFTER
    float sum = 0;
#else
    noise[i] = 0;
#endif
    for (int r = 0; r < ROADS; r++) {
        float4 road = roads[r];  // an end and the way to the other one
        float dx = x[i] - road.x, dy = y[i] - road.y;
        float part = __saturatef((dx * road.z + dy * road.w) * __frcp_rn(road.z * road.z + road.w * road.w));
        dx -= part * road.z;
        dy -= part * road.w;
        float square = dx * dx + dy * dy + 16.0f;
        float heard = powers[r] * __fdividef(1.0f, square) * __expf(-shield[i] * sqrtf(square));
#ifdef AFTER
        sum += heard;
    }
    noise[i] = sum;
#else
        noise[i] += heard;
    }
#endif
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "noise_map");
    int n = p.small ? 512 : 1 << 18;
    std::vector<float> x = random_floats(n, 0, 1000, 1), y = random_floats(n, 0, 1000, 2),
                       shield = random_floats(n, 0.001f, 0.01f, 3), ends = random_floats(ROADS * 4, 0, 1000, 4),
                       powers = random_floats(ROADS, 10, 100, 5);
    for (int r = 0; r < ROADS; r++)
        for (int k = 2; k < 4; k++)
            ends[4 * r + k] = 0.2f * (ends[4 * r + k] - 500.0f) + 1.0f;
    float *d_x = device_copy_of(x.data(), n), *d_y = device_copy_of(y.data(), n),
          *d_shield = device_copy_of(shield.data(), n), *d_powers = device_copy_of(powers.data(), ROADS),
          *d_noise = device_array<float>(n);
    float4 *d_roads = (float4 *)device_copy_of(ends.data(), ends.size());
    pair_time(&p, [&] { noise_map<<<n / BLOCK, BLOCK>>>(d_x, d_y, d_shield, d_roads, d_powers, d_noise); });
    std::vector<float> noise = host_copy_of(d_noise, n);
    for (int i = 0; i < n; i += 37) {
        double sum = 0;
        for (int r = 0; r < ROADS; r++) {
            const float *road = &ends[4 * r];
            double dx = x[i] - road[0], dy = y[i] - road[1], length2 = road[2] * road[2] + road[3] * road[3];
            double part = std::min(1.0, std::max(0.0, (dx * road[2] + dy * road[3]) / length2));
            double square = pow(dx - part * road[2], 2) + pow(dy - part * road[3], 2) + 16;
            sum += powers[r] / square * exp(-shield[i] * sqrt(square));
        }
        pair_near(&p, "noise", i, sum, noise[i], 1e-4);
    }
    return pair_end(&p);
}
