// SPDX-License-Identifier: Apache-2.0
//
// Rule: function-inlining
// Change: the function that finds the sun is inlined.
// Why: it is a handful of multiplications, and each of the 96 calls a day moves its arguments and saves registers.
#include "../common.h"

enum { BLOCK = 256, QUARTERS = 96 };

#ifdef AFTER
#define SHORT __forceinline__
#else
#define SHORT __noinline__
#endif

struct Direction {
    float east, north, up;
};

__constant__ float2 hour_angle[QUARTERS];  // cosine and sine

// Where the sun stands; latitude and declination are given by their cosines and sines.
static __device__ SHORT Direction sun_at(float2 latitude, float2 declination, float2 hour) {
    float across = declination.x * hour.x;
    return {-declination.x * hour.y, latitude.x * declination.y - latitude.y * across,
            latitude.y * declination.y + latitude.x * across};
}

// How much sun falls on the dials of many walls in a day, and how strong it gets; a hill may hide the eastern sky.
__global__ void dials(const float2 *latitudes, const float2 *declinations, const float4 *walls, float *light,
                      float *strongest) {
    int i = blockIdx.x * BLOCK + threadIdx.x;
    float2 latitude = latitudes[i], declination = declinations[i];
    float4 wall = walls[i];  // the normal, and how high the hill is
    float sum = 0, top = 0;
    for (int q = 0; q < QUARTERS; q++) {
        Direction sun = sun_at(latitude, declination, hour_angle[q]);
        float above = sun.up - wall.w * fmaxf(sun.east, 0.0f);
        if (above <= 0.0f)
            continue;
        float facing = wall.x * sun.east + wall.y * sun.north + wall.z * sun.up;
        if (facing <= 0.0f)
            continue;
        float haze = fminf(4.0f * above, 1.0f);
        sum += haze * facing;
        top = fmaxf(top, haze * facing);
    }
    light[i] = sum;
    strongest[i] = top;
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "sundial");
    int n = p.small ? 512 : 1 << 19;
    std::vector<float> angles = random_floats(4 * (size_t)n, 0, 1, 1);
    std::vector<float2> latitudes(n), declinations(n), hours(QUARTERS);
    std::vector<float4> walls(n);
    for (int i = 0; i < n; i++) {
        const float *a = &angles[4 * (size_t)i];
        float latitude = 0.6f + 0.5f * a[0], declination = -0.409f + 0.818f * a[1], round = 6.2832f * a[2];
        latitudes[i] = {cosf(latitude), sinf(latitude)};
        declinations[i] = {cosf(declination), sinf(declination)};
        walls[i] = {0.98f * sinf(round), 0.98f * cosf(round), 0.2f, 0.3f * a[3]};
    }
    for (int q = 0; q < QUARTERS; q++) {
        float hour = ((float)q - QUARTERS / 2) * 6.2832f / QUARTERS;
        hours[q] = {cosf(hour), sinf(hour)};
    }
    CUDA_CHECK(cudaMemcpyToSymbol(hour_angle, hours.data(), sizeof hour_angle));
    float2 *d_latitudes = device_copy_of(latitudes.data(), n), *d_declinations = device_copy_of(declinations.data(), n);
    float4 *d_walls = device_copy_of(walls.data(), n);
    float *d_light = device_array<float>(n), *d_strongest = device_array<float>(n);
    pair_time(&p, [&] { dials<<<n / BLOCK, BLOCK>>>(d_latitudes, d_declinations, d_walls, d_light, d_strongest); });
    std::vector<float> light = host_copy_of(d_light, n), strongest = host_copy_of(d_strongest, n);
    for (int i = 0; i < n; i += 29) {
        double sum = 0, top = 0, la = latitudes[i].x, lb = latitudes[i].y, da = declinations[i].x,
               db = declinations[i].y;
        for (int q = 0; q < QUARTERS; q++) {
            double across = da * hours[q].x, east = -da * hours[q].y, north = la * db - lb * across,
                   up = lb * db + la * across, above = up - walls[i].w * std::max(east, 0.0);
            double facing = walls[i].x * east + walls[i].y * north + walls[i].z * up;
            double got = std::min(4 * std::max(above, 0.0), 1.0) * std::max(facing, 0.0);
            sum += got;
            top = std::max(top, got);
        }
        pair_near(&p, "light", i, sum, light[i], 1e-4);
        pair_near(&p, "strongest", i, top, strongest[i], 1e-4);
    }
    return pair_end(&p);
}
