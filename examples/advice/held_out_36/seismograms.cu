// SPDX-License-Identifier: Apache-2.0
//
// Rule: occupancy-up
// Change: the receivers pass through shared memory in tiles of 512, not all at once.
// Why: 80 KiB of shared memory a CTA let only two CTAs of four warps be resident; with 8 KiB many more are, and hide
// the latency of fetching the samples.
#include "../common.h"

constexpr int THREADS = 128;
#ifdef AFTER
constexpr int TILE = 512;
#else
constexpr int TILE = 5120;
#endif

// One shot: a source on the surface, receivers (x, y, static shift in s, gain), a seismogram for each.
struct Survey {
    float source_x, source_y;
    float velocity;      // m/s
    float sample_rate;   // 1/s
    int receivers;
    int samples;
};

// The part of the image: a vertical section, depth fastest.
struct Section {
    float x0, y, z0;
    float dx, dz;
    int nx, nz;
};

__host__ __device__ inline float distance(float dx, float dy, float dz) {
    return sqrtf(dx * dx + dy * dy + dz * dz);
}

// What the seismogram of one receiver says about the point (x, y, z).
__host__ __device__ inline float contribution(const Survey &s, float4 receiver, const float *trace, float down,
                                              float x, float y, float z) {
    float up = distance(x - receiver.x, y - receiver.y, z);
    float sample = ((down + up) / s.velocity + receiver.z) * s.sample_rate;
    int k = (int)sample;
    if (k + 1 >= s.samples)
        return 0;
    float part = sample - k;
    float value = trace[k] + part * (trace[k + 1] - trace[k]);
    return value * receiver.w * z / (up * up);
}

// Kirchhoff migration: every point of the section sums all seismograms at the time of its reflection.
__global__ void migrate(Survey s, Section section, const float4 *__restrict__ receivers,
                        const float *__restrict__ traces, float *__restrict__ image) {
    extern __shared__ float4 tile[];
    int point = blockIdx.x * THREADS + threadIdx.x;
    float x = section.x0 + section.dx * (point / section.nz);
    float z = section.z0 + section.dz * (point % section.nz);
    float y = section.y;
    float down = distance(x - s.source_x, y - s.source_y, z);
    float sum = 0;
    for (int base = 0; base < s.receivers; base += TILE) {
        int count = min(TILE, s.receivers - base);
        for (int r = threadIdx.x; r < count; r += THREADS)
            tile[r] = receivers[base + r];
        __syncthreads();
        const float *trace = traces + (size_t)base * s.samples;
        for (int r = 0; r < count; r++) {
            sum += contribution(s, tile[r], trace, down, x, y, z);
            trace += s.samples;
        }
        __syncthreads();
    }
    if (point < section.nx * section.nz)
        image[point] = sum;
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "seismograms");
    Survey s = {1500, 1600, 2400, 250, p.small ? 60 : 4800, 1024};
    Section section = {500, 1580, 200, 6, 5, p.small ? 2 : 512, p.small ? 128 : 512};
    int points = section.nx * section.nz;

    std::vector<float4> receivers(s.receivers);
    unsigned seed = 5;
    for (int r = 0; r < s.receivers; r++) {
        float x = 25.0f * (r % 120) + 0.01f * lcg_next(&seed, 100);
        float y = 80.0f * (r / 120) + 0.01f * lcg_next(&seed, 100);
        receivers[r] = make_float4(x, y, 1e-5f * lcg_next(&seed, 800), 0.8f + 0.004f * lcg_next(&seed, 100));
    }
    // Smooth noise, as after a band-pass filter.
    std::vector<float> traces = random_floats((size_t)s.receivers * s.samples, -1, 1, 6);
    for (size_t k = 1; k < traces.size(); k++)
        traces[k] = 0.8f * traces[k - 1] + 0.2f * traces[k];

    float4 *d_receivers = device_copy_of(receivers.data(), receivers.size());
    float *d_traces = device_copy_of(traces.data(), traces.size());
    float *d_image = device_array<float>(points);
    size_t shared = TILE * sizeof(float4);
    CUDA_CHECK(cudaFuncSetAttribute(migrate, cudaFuncAttributeMaxDynamicSharedMemorySize, (int)shared));

    pair_time(&p, [&] {
        migrate<<<(points + THREADS - 1) / THREADS, THREADS, shared>>>(s, section, d_receivers, d_traces, d_image);
    });

    std::vector<float> image = host_copy_of(d_image, points);
    for (int point = 0; point < points; point += p.small ? 1 : 997) {
        float x = section.x0 + section.dx * (point / section.nz);
        float z = section.z0 + section.dz * (point % section.nz);
        float down = distance(x - s.source_x, section.y - s.source_y, z);
        double sum = 0;
        for (int r = 0; r < s.receivers; r++)
            sum += contribution(s, receivers[r], &traces[(size_t)r * s.samples], down, x, section.y, z);
        pair_near(&p, "image", point, sum, image[point], 1e-3);
    }
    CUDA_CHECK(cudaFree(d_receivers));
    CUDA_CHECK(cudaFree(d_traces));
    CUDA_CHECK(cudaFree(d_image));
    return pair_end(&p);
}
