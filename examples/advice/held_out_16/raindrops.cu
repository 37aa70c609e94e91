// SPDX-License-Identifier: Apache-2.0
//
// Rule: kernel-merge
// Change: the five steps of a drop are one kernel instead of five.
// Why: each kernel takes longer to start than to work, and four of them load again what the one before stored.
#include "../common.h"

enum { BLOCK = 256 };

struct Air {
    float dryness, cloud_base, cloud_water, wind, shear, seconds;
};

static __host__ __device__ float fall_speed(float mm) { return 9.65f - 10.3f * expf(-0.6f * mm); }

static __host__ __device__ float after_evaporation(float mm, float z, const Air &air) {
    float lost = z < air.cloud_base ? air.dryness * (1 + 0.3f * sqrtf(mm)) / mm : 0;
    return fmaxf(0.1f, mm - lost * air.seconds);
}

static __host__ __device__ float after_collection(float mm, float speed, float z, const Air &air) {
    float water = z < air.cloud_base ? 0 : air.cloud_water * expf(-0.001f * (z - air.cloud_base));
    return mm + 0.0005f * water * speed * air.seconds;
}

static __host__ __device__ float after_wind(float x, float z, const Air &air) {
    return x + air.seconds * (air.wind + air.shear * logf(1 + fmaxf(z, 0)));
}

static __host__ __device__ float on_the_ground(float mm, float z) { return z > 0 ? 0 : 0.5236f * mm * mm * mm; }

#ifdef AFTER
__global__ void rain_step(const float *mm, const float *x, const float *z, float *speeds, float *new_mm, float *new_x,
                          float *new_z, float *rain, Air air, int drops) {
    int i = blockIdx.x * BLOCK + threadIdx.x;
    if (i >= drops)
        return;
    float speed = fall_speed(mm[i]), size = after_evaporation(mm[i], z[i], air);
    size = after_collection(size, speed, z[i], air);
    float down = z[i] - speed * air.seconds;
    speeds[i] = speed;
    new_mm[i] = size;
    new_x[i] = after_wind(x[i], z[i], air);
    new_z[i] = down;
    rain[i] = on_the_ground(size, down);
}
#else
__global__ void speed_step(const float *mm, float *speeds, int drops) {
    int i = blockIdx.x * BLOCK + threadIdx.x;
    if (i < drops)
        speeds[i] = fall_speed(mm[i]);
}

__global__ void evaporation_step(const float *mm, const float *z, float *new_mm, Air air, int drops) {
    int i = blockIdx.x * BLOCK + threadIdx.x;
    if (i < drops)
        new_mm[i] = after_evaporation(mm[i], z[i], air);
}

__global__ void collection_step(const float *z, const float *speeds, float *new_mm, Air air, int drops) {
    int i = blockIdx.x * BLOCK + threadIdx.x;
    if (i < drops)
        new_mm[i] = after_collection(new_mm[i], speeds[i], z[i], air);
}

__global__ void wind_step(const float *x, const float *z, float *new_x, Air air, int drops) {
    int i = blockIdx.x * BLOCK + threadIdx.x;
    if (i < drops)
        new_x[i] = after_wind(x[i], z[i], air);
}

__global__ void fall_step(const float *z, const float *speeds, const float *new_mm, float *new_z, float *rain, Air air,
                          int drops) {
    int i = blockIdx.x * BLOCK + threadIdx.x;
    if (i >= drops)
        return;
    float down = z[i] - speeds[i] * air.seconds;
    new_z[i] = down;
    rain[i] = on_the_ground(new_mm[i], down);
}
#endif

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "raindrops");
    int drops = p.small ? 20000 : 150000, grid = (drops + BLOCK - 1) / BLOCK;
    Air air = {0.0004f, 1200, 1.5f, 4, 0.7f, 0.5f};
    std::vector<float> mm = random_floats(drops, 0.2f, 4, 1), x = random_floats(drops, 0, 5000, 2),
                       z = random_floats(drops, 0, 3000, 3);
    for (int i = 0; i < drops; i += 5)
        z[i] *= 0.001f;  // some are about to land
    float *d_mm = device_copy_of(mm.data(), drops), *d_x = device_copy_of(x.data(), drops),
          *d_z = device_copy_of(z.data(), drops), *d_speeds = device_array<float>(drops),
          *d_new_mm = device_array<float>(drops), *d_new_x = device_array<float>(drops),
          *d_new_z = device_array<float>(drops), *d_rain = device_array<float>(drops);
    pair_time(&p, [&] {
#ifdef AFTER
        rain_step<<<grid, BLOCK>>>(d_mm, d_x, d_z, d_speeds, d_new_mm, d_new_x, d_new_z, d_rain, air, drops);
#else
        speed_step<<<grid, BLOCK>>>(d_mm, d_speeds, drops);
        evaporation_step<<<grid, BLOCK>>>(d_mm, d_z, d_new_mm, air, drops);
        collection_step<<<grid, BLOCK>>>(d_z, d_speeds, d_new_mm, air, drops);
        wind_step<<<grid, BLOCK>>>(d_x, d_z, d_new_x, air, drops);
        fall_step<<<grid, BLOCK>>>(d_z, d_speeds, d_new_mm, d_new_z, d_rain, air, drops);
#endif
    });
    std::vector<float> new_mm = host_copy_of(d_new_mm, drops), new_x = host_copy_of(d_new_x, drops),
                       new_z = host_copy_of(d_new_z, drops), rain = host_copy_of(d_rain, drops);
    for (int i = 0; i < drops; i++) {
        float speed = fall_speed(mm[i]);
        float size = after_collection(after_evaporation(mm[i], z[i], air), speed, z[i], air);
        float down = z[i] - speed * air.seconds;
        pair_near(&p, "mm", i, size, new_mm[i], 1e-4);
        pair_near(&p, "x", i, after_wind(x[i], z[i], air), new_x[i], 1e-4);
        pair_near(&p, "z", i, down, new_z[i], 1e-4);
        if (fabsf(down) > 1e-3f)
            pair_near(&p, "rain", i, on_the_ground(size, down), rain[i], 1e-3);
    }
    return pair_end(&p);
}
