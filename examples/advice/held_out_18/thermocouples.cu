// SPDX-License-Identifier: Apache-2.0
//
// Rule: memory-transactions
// Change: the coefficients of the two polynomials are read from constant memory instead of global memory.
// Why: each thread loads all of them for each reading; the compiler can't tell that the results don't overwrite them.
#include "../common.h"

enum { BLOCK = 256, COLD = 12, HOT = 16, COEFFICIENTS = COLD + HOT };

#ifdef AFTER
__constant__ float table[COEFFICIENTS];
#endif

// Temperatures from what a logger's converter read off its thermocouples, with the cold junction compensated for: its
// temperature becomes a voltage by the first polynomial, the sum of the voltages a temperature by the other.
__global__ void convert(const short *readings, const short *junctions, const float *coefficients, float *degrees,
                        int samples) {
    const short *mine = readings + (size_t)blockIdx.y * samples, *cold = junctions + (size_t)blockIdx.y * samples;
    float *out = degrees + (size_t)blockIdx.y * samples;
#ifdef AFTER
    const float *to_volts = table, *to_degrees = table + COLD;
#else
    const float *to_volts = coefficients, *to_degrees = coefficients + COLD;
#endif
    for (int s = blockIdx.x * BLOCK + threadIdx.x; s < samples; s += gridDim.x * BLOCK) {
        float junction = cold[s] * (1.0f / 32768);
        float volts = to_volts[COLD - 1];
#pragma unroll
        for (int k = COLD - 2; k >= 0; k--)
            volts = volts * junction + to_volts[k];
        volts = 0.25f * volts + mine[s] * (0.7f / 32768);
        float hot = to_degrees[HOT - 1];
#pragma unroll
        for (int k = HOT - 2; k >= 0; k--)
            hot = hot * volts + to_degrees[k];
        out[s] = 600 * hot;
    }
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "thermocouples");
    int channels = p.small ? 2 : 264, parts = p.small ? 1 : 16, samples = parts * BLOCK * (p.small ? 4 : 32);
    size_t n = (size_t)channels * samples;
    std::vector<short> readings(n), junctions(n);
    unsigned seed = 1;
    for (size_t i = 0; i < n; i++) {
        readings[i] = (short)((int)lcg_next(&seed, 65536) - 32768);
        junctions[i] = (short)((int)lcg_next(&seed, 65536) - 32768);
    }
    std::vector<float> coefficients = random_floats(COEFFICIENTS, -0.5f, 0.5f, 2);
    short *d_readings = device_copy_of(readings.data(), n), *d_junctions = device_copy_of(junctions.data(), n);
    float *d_coefficients = device_copy_of(coefficients.data(), COEFFICIENTS), *d_degrees = device_array<float>(n);
#ifdef AFTER
    CUDA_CHECK(cudaMemcpyToSymbol(table, coefficients.data(), COEFFICIENTS * sizeof(float)));
#endif
    pair_time(&p, [&] {
        convert<<<dim3(parts, channels), BLOCK>>>(d_readings, d_junctions, d_coefficients, d_degrees, samples);
    });
    std::vector<float> degrees = host_copy_of(d_degrees, n);
    for (size_t i = 0; i < n; i += p.small ? 1 : 61) {
        double junction = junctions[i] / 32768.0, volts = 0, hot = 0;
        for (int k = COLD - 1; k >= 0; k--)
            volts = volts * junction + coefficients[k];
        volts = 0.25 * volts + readings[i] * (0.7 / 32768);
        for (int k = HOT - 1; k >= 0; k--)
            hot = hot * volts + coefficients[COLD + k];
        pair_near(&p, "degrees", i, 600 * hot, degrees[i], 2e-3);
    }
    return pair_end(&p);
}
