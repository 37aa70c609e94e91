// SPDX-License-Identifier: Apache-2.0
//
// Rule: kernel-merge
// Change: depth, speed of sound and delay are computed by one kernel in place of three.
// Why: depth and speed need not go through memory between kernels.
#include "../common.h"

// How a section of the sea (x along the section, y downwards) delays the click of a dolphin, from what floats measure.
struct Section {
    int width, height;
    float sine2;    // squared sine of the latitude
    float spacing;  // metres per cell
};

__host__ __device__ inline float depth_of(float decibar, float sine2) {
    float gravity = 9.780318f * (1 + (5.2788e-3f + 2.36e-5f * sine2) * sine2) + 1.092e-6f * decibar;
    return (((-1.82e-15f * decibar + 2.279e-10f) * decibar - 2.2512e-5f) * decibar + 9.72659f) * decibar / gravity;
}

__host__ __device__ inline float speed_of(float t, float salinity, float depth) {
    return 1448.96f + ((2.374e-4f * t - 5.304e-2f) * t + 4.591f) * t + (1.340f - 1.025e-2f * t) * (salinity - 35) +
           (1.630e-2f + 1.675e-7f * depth) * depth - 7.139e-13f * t * depth * depth * depth;
}

// Microseconds per cell, longer where absorption of the band shifts the peak of the click.
__host__ __device__ inline float delay_of(float speed, float depth, float spacing) {
    return 1e6f * spacing / speed * (1 + 1.2e-5f * sqrtf(depth + 1));
}

#ifdef AFTER
__global__ void delays(const float *pressure, const float *celsius, const float *salinity, float *delay, Section s) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= s.width || y >= s.height)
        return;
    size_t i = (size_t)y * s.width + x;
    float depth = depth_of(pressure[i], s.sine2);
    delay[i] = delay_of(speed_of(celsius[i], salinity[i], depth), depth, s.spacing);
}
#else
__global__ void depths(const float *pressure, float *depth, Section s) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= s.width || y >= s.height)
        return;
    size_t i = (size_t)y * s.width + x;
    depth[i] = depth_of(pressure[i], s.sine2);
}

__global__ void speeds(const float *celsius, const float *salinity, const float *depth, float *speed, Section s) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= s.width || y >= s.height)
        return;
    size_t i = (size_t)y * s.width + x;
    speed[i] = speed_of(celsius[i], salinity[i], depth[i]);
}

__global__ void delays(const float *speed, const float *depth, float *delay, Section s) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= s.width || y >= s.height)
        return;
    size_t i = (size_t)y * s.width + x;
    delay[i] = delay_of(speed[i], depth[i], s.spacing);
}
#endif

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "dolphins");
    Section s = {p.small ? 190 : 3600, p.small ? 21 : 2200, 0.41f, 25};
    int cells = s.width * s.height;
    std::vector<float> pressure = random_floats(cells, 0, 4000, 1), celsius = random_floats(cells, 2, 24, 2);
    std::vector<float> salinity = random_floats(cells, 30, 38, 3);
    float *d_pressure = device_copy_of(pressure.data(), cells), *d_celsius = device_copy_of(celsius.data(), cells);
    float *d_salinity = device_copy_of(salinity.data(), cells), *d_delay = device_array<float>(cells);
    dim3 block(64, 4), grid((s.width + 63) / 64, (s.height + 3) / 4);
#ifdef AFTER
    pair_time(&p, [&] { delays<<<grid, block>>>(d_pressure, d_celsius, d_salinity, d_delay, s); });
#else
    float *d_depth = device_array<float>(cells), *d_speed = device_array<float>(cells);
    pair_time(&p, [&] {
        depths<<<grid, block>>>(d_pressure, d_depth, s);
        speeds<<<grid, block>>>(d_celsius, d_salinity, d_depth, d_speed, s);
        delays<<<grid, block>>>(d_speed, d_depth, d_delay, s);
    });
#endif
    std::vector<float> delay = host_copy_of(d_delay, cells);
    for (int i = 0; i < cells; i += p.small ? 13 : 1009) {
        float depth = depth_of(pressure[i], s.sine2);
        pair_near(&p, "delay", i, delay_of(speed_of(celsius[i], salinity[i], depth), depth, s.spacing), delay[i], 1e-5);
    }
    return pair_end(&p);
}
