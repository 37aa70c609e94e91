// SPDX-License-Identifier: Apache-2.0
//
// Rule: kernel-merge
// Change: the readings are compensated by the kernel that needs them, not by one of their own before it.
// Why: pressure and temperature of every reading were written to global memory only to be read once right afterwards.
#include "../common.h"

enum { BLOCK = 256 };

struct Raw {
    int pressure, temperature;
};

struct Calibration {  // of one barometer
    float zero, degrees, bend, gain, gain_drift, offset, offset_drift;
};

struct Air {
    float pressure, temperature;  // Pa, degrees Celsius
};

static __host__ __device__ Air compensate(Raw raw, const Calibration &c) {
    float t = (float)raw.temperature, celsius = c.zero + t * (c.degrees + t * c.bend);
    return {raw.pressure * (c.gain + c.gain_drift * celsius) + c.offset + c.offset_drift * celsius, celsius};
}

#ifndef AFTER
__global__ void compensate_all(const Raw *raw, const Calibration *calibrations, Air *air, int readings) {
    int i = blockIdx.x * BLOCK + threadIdx.x;
    if (i < readings) {
        size_t at = (size_t)blockIdx.y * readings + i;
        air[at] = compensate(raw[at], calibrations[blockIdx.y]);
    }
}
#endif

// The highest and the mean altitude that a barometer went through; one block per barometer.
#ifdef AFTER
__global__ void altitudes(const Raw *raw, const Calibration *calibrations, float *highest, float *mean, int readings) {
    const Calibration calibration = calibrations[blockIdx.x];
#else
__global__ void altitudes(const Air *air, float *highest, float *mean, int readings) {
#endif
    __shared__ float tops[BLOCK / 32], sums[BLOCK / 32];
    float top = -1e9f, sum = 0;
    for (int i = threadIdx.x; i < readings; i += BLOCK) {
#ifdef AFTER
        Air a = compensate(raw[(size_t)blockIdx.x * readings + i], calibration);
#else
        Air a = air[(size_t)blockIdx.x * readings + i];
#endif
        float altitude = (a.temperature + 273.15f) / 0.0065f * (__powf(101325.0f / a.pressure, 0.190263f) - 1);
        top = fmaxf(top, altitude);
        sum += altitude;
    }
    for (int gap = 16; gap; gap >>= 1) {
        top = fmaxf(top, __shfl_xor_sync(~0u, top, gap));
        sum += __shfl_xor_sync(~0u, sum, gap);
    }
    if (threadIdx.x % 32 == 0) {
        tops[threadIdx.x / 32] = top;
        sums[threadIdx.x / 32] = sum;
    }
    __syncthreads();
    if (threadIdx.x == 0) {
        for (int w = 1; w < BLOCK / 32; w++) {
            top = fmaxf(top, tops[w]);
            sum += sums[w];
        }
        highest[blockIdx.x] = top;
        mean[blockIdx.x] = sum / readings;
    }
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "barometers");
    int barometers = p.small ? 4 : 4096, readings = p.small ? 1000 : 4096;
    size_t count = (size_t)barometers * readings;
    std::vector<Raw> raw(count);
    std::vector<Calibration> calibrations(barometers);
    unsigned seed = 1;
    for (Raw &r : raw) {
        r.pressure = 400000 + lcg_next(&seed, 200000);
        r.temperature = lcg_next(&seed, 4096);
    }
    for (int b = 0; b < barometers; b++)
        calibrations[b] = {-20 + 0.1f * (b % 8), 0.01f, 1e-7f * (b % 5), 0.16f, 1e-5f, 10.0f * (b % 7), 0.5f};
    Raw *d_raw = device_copy_of(raw.data(), count);
    Calibration *d_calibrations = device_copy_of(calibrations.data(), barometers);
    float *d_highest = device_array<float>(barometers), *d_mean = device_array<float>(barometers);
#ifdef AFTER
    pair_time(&p, [&] { altitudes<<<barometers, BLOCK>>>(d_raw, d_calibrations, d_highest, d_mean, readings); });
#else
    Air *d_air = device_array<Air>(count);
    pair_time(&p, [&] {
        dim3 grid((readings + BLOCK - 1) / BLOCK, barometers);
        compensate_all<<<grid, BLOCK>>>(d_raw, d_calibrations, d_air, readings);
        altitudes<<<barometers, BLOCK>>>(d_air, d_highest, d_mean, readings);
    });
#endif
    std::vector<float> highest = host_copy_of(d_highest, barometers), mean = host_copy_of(d_mean, barometers);
    for (int b = 0; b < barometers; b += p.small ? 1 : 37) {
        double top = -1e9, sum = 0;
        for (int i = 0; i < readings; i++) {
            Air a = compensate(raw[(size_t)b * readings + i], calibrations[b]);
            double altitude = (a.temperature + 273.15) / 0.0065 * (pow(101325.0 / a.pressure, 0.190263) - 1);
            top = std::max(top, altitude);
            sum += altitude;
        }
        pair_near(&p, "highest", b, top, highest[b], 2e-4);
        pair_near(&p, "mean", b, sum / readings, mean[b], 2e-4);
    }
    return pair_end(&p);
}
