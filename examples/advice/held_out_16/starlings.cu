// SPDX-License-Identifier: Apache-2.0
//
// Rule: branch-elimination
// Change: who is seen and who is too near become factors instead of branches; a bird's own share is taken off at the
// end. Why: among 32 birds there is nearly always one that takes a branch, so a warp saves nothing and pays for it each
// time.
#include "../common.h"

enum { BLOCK = 128 };

struct Sight {
    float view2, near2;  // squares of how far a bird sees, and of the distance that it keeps
};

// One step of some flocks: each bird turns to where its neighbours are and fly, and away from those too near.
__global__ void __launch_bounds__(BLOCK)
    turn(const float4 *places, const float4 *speeds, float4 *turned, int birds, Sight sight) {
    __shared__ float4 tile_places[BLOCK], tile_speeds[BLOCK];
    int flock_begin = blockIdx.y * birds, own = flock_begin + blockIdx.x * BLOCK + threadIdx.x;
    float4 place = places[own], speed = speeds[own];
    float3 heading = {0, 0, 0}, centre = {0, 0, 0}, away = {0, 0, 0};
    float seen = 0, per_near2 = 1.0f / sight.near2;
    for (int first = flock_begin; first < flock_begin + birds; first += BLOCK) {
        tile_places[threadIdx.x] = places[first + threadIdx.x];
        tile_speeds[threadIdx.x] = speeds[first + threadIdx.x];
        __syncthreads();
#pragma unroll 4
        for (int j = 0; j < BLOCK; j++) {
            float4 other = tile_places[j], flies = tile_speeds[j];
            float dx = other.x - place.x, dy = other.y - place.y, dz = other.z - place.z;
            float distance2 = dx * dx + dy * dy + dz * dz;
#ifdef AFTER
            float sees = distance2 < sight.view2 ? 1.0f : 0.0f;
            float push = fmaxf(0.0f, 1.0f - distance2 * per_near2);
            seen += sees;
            heading.x += sees * flies.x;
            heading.y += sees * flies.y;
            heading.z += sees * flies.z;
            centre.x += sees * dx;
            centre.y += sees * dy;
            centre.z += sees * dz;
            away.x -= push * dx;
            away.y -= push * dy;
            away.z -= push * dz;
#else
            if (first + j == own || distance2 >= sight.view2)
                continue;
            seen += 1;
            heading.x += flies.x;
            heading.y += flies.y;
            heading.z += flies.z;
            centre.x += dx;
            centre.y += dy;
            centre.z += dz;
            if (distance2 < sight.near2) {
                float push = 1.0f - distance2 * per_near2;
                away.x -= push * dx;
                away.y -= push * dy;
                away.z -= push * dz;
            }
#endif
        }
        __syncthreads();
    }
#ifdef AFTER
    seen -= 1;
    heading.x -= speed.x;
    heading.y -= speed.y;
    heading.z -= speed.z;
#endif
    float share = 1.0f / fmaxf(seen, 1.0f), rest = seen > 0 ? 0.95f : 1.0f;
    turned[own] = make_float4(rest * speed.x + share * (0.05f * heading.x + 0.01f * centre.x) + 0.02f * away.x,
                              rest * speed.y + share * (0.05f * heading.y + 0.01f * centre.y) + 0.02f * away.y,
                              rest * speed.z + share * (0.05f * heading.z + 0.01f * centre.z) + 0.02f * away.z, seen);
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "starlings");
    int flocks = p.small ? 2 : 64, birds = p.small ? 384 : 4096, all = flocks * birds;  // in a flock
    // Places are whole numbers, so that no distance is just at the limit of what a bird sees.
    std::vector<float4> places(all), speeds(all);
    unsigned seed = 1;
    for (int i = 0; i < all; i++) {
        float x = lcg_next(&seed, 500), y = lcg_next(&seed, 500), z = lcg_next(&seed, 200);
        places[i] = make_float4(x, y, z, 0);
        float u = lcg_next(&seed, 200) / 100.0f - 1, v = lcg_next(&seed, 200) / 100.0f - 1;
        speeds[i] = make_float4(9 + u, v, u * v, 0);
    }
    Sight sight = {120.5f * 120.5f, 50.5f * 50.5f};
    float4 *d_places = device_copy_of(places.data(), all), *d_speeds = device_copy_of(speeds.data(), all),
           *d_turned = device_array<float4>(all);
    pair_time(&p, [&] { turn<<<dim3(birds / BLOCK, flocks), BLOCK>>>(d_places, d_speeds, d_turned, birds, sight); });
    std::vector<float4> turned = host_copy_of(d_turned, all);
    for (int i = 0; i < all; i += 1 + all / 300) {
        double heading[3] = {}, centre[3] = {}, away[3] = {}, seen = 0;
        for (int j = i / birds * birds; j < (i / birds + 1) * birds; j++) {
            double d[3] = {places[j].x - places[i].x, places[j].y - places[i].y, places[j].z - places[i].z};
            double flies[3] = {speeds[j].x, speeds[j].y, speeds[j].z};
            double distance2 = d[0] * d[0] + d[1] * d[1] + d[2] * d[2];
            if (i == j || distance2 >= sight.view2)
                continue;
            seen++;
            for (int k = 0; k < 3; k++) {
                heading[k] += flies[k];
                centre[k] += d[k];
                away[k] -= std::max(0.0, 1 - distance2 / sight.near2) * d[k];
            }
        }
        double own[3] = {speeds[i].x, speeds[i].y, speeds[i].z};
        float got[3] = {turned[i].x, turned[i].y, turned[i].z};
        pair_near(&p, "seen", i, seen, turned[i].w, 0);
        for (int k = 0; k < 3; k++)
            pair_near(&p, "turned", 3 * i + k,
                      (seen ? 0.95 : 1) * own[k] + (0.05 * heading[k] + 0.01 * centre[k]) / std::max(seen, 1.0) +
                          0.02 * away[k],
                      got[k], 1e-3);
    }
    return pair_end(&p);
}
