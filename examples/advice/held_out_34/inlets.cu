// SPDX-License-Identifier: Apache-2.0
//
// Rule: spills
// Change: the launch bounds no longer ask for eight CTAs on an SM.
// Why: eight CTAs leave 32 registers to a thread, and the temperatures and factors of 24 layers need twice as many.
#include "../common.h"

enum { BLOCK = 256, LAYERS = 24 };

struct Weather {
    float heat;  // net flux into the surface, kelvin metres per hour
    float wind;  // mixing at the surface, square metres per hour
};

__constant__ float decay[LAYERS + 1];  // what is left of the wind's mixing at the top of each layer

#ifdef AFTER
#define BOUNDS __launch_bounds__(BLOCK)
#else
#define BOUNDS __launch_bounds__(BLOCK, 8)
#endif

// Water temperatures of sea inlets, one column of water to a thread: hour by hour the wind mixes heat downwards, which
// is solved implicitly (Thomas algorithm) since the layers are thin. temperature[layer * columns + column].
__global__ void BOUNDS inlets(const float *__restrict__ start, const float *__restrict__ thickness,
                              const float *__restrict__ exposure, const Weather *__restrict__ weather, int hours,
                              float *__restrict__ temperature, int columns) {
    const int column = blockIdx.x * BLOCK + threadIdx.x;
    if (column >= columns)
        return;
    float t[LAYERS], factor[LAYERS];
#pragma unroll
    for (int k = 0; k < LAYERS; k++)
        t[k] = start[(size_t)k * columns + column];
    const float dz = thickness[column], open = exposure[column];
    const float still = 0.02f / (dz * dz);

    for (int hour = 0; hour < hours; hour++) {
        const Weather now = weather[hour];
        const float stirred = open * now.wind / (dz * dz);
        // Downwards: each layer expressed by the one below it.
        float above = 0;
        t[0] += open * now.heat / dz;
#pragma unroll
        for (int k = 0; k < LAYERS; k++) {
            const float below = k + 1 < LAYERS ? still + stirred * decay[k + 1] : 0.0f;
            float diagonal = 1 + above + below, right = t[k];
            if (k > 0) {
                diagonal -= above * factor[k - 1];
                right += above * t[k - 1];
            }
            const float pivot = __fdividef(1.0f, diagonal);
            factor[k] = below * pivot;
            t[k] = right * pivot;
            above = below;
        }
        // Upwards again.
#pragma unroll
        for (int k = LAYERS - 2; k >= 0; k--)
            t[k] += factor[k] * t[k + 1];
    }
#pragma unroll
    for (int k = 0; k < LAYERS; k++)
        temperature[(size_t)k * columns + column] = t[k];
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "inlets");
    const int columns = p.small ? 900 : 500000, hours = p.small ? 3 : 72;
    const size_t n = (size_t)LAYERS * columns;

    std::vector<float> thickness = random_floats(columns, 0.3f, 1.2f, 5), exposure = random_floats(columns, 0.2f, 1, 6);
    std::vector<float> start = random_floats(n, -0.2f, 0.2f, 7), left(LAYERS + 1);
    for (size_t i = 0; i < n; i++)
        start[i] += 15 - 8 * (float)(i / columns) / LAYERS;
    for (int k = 0; k <= LAYERS; k++)
        left[k] = expf(-k / 6.0f);
    std::vector<Weather> weather(hours);
    unsigned seed = 8;
    for (int h = 0; h < hours; h++) {
        weather[h].heat = 0.3f * sinf(h * 6.2831853f / 24) + 0.05f;
        weather[h].wind = 0.1f + 0.01f * lcg_next(&seed, 200);
    }

    CUDA_CHECK(cudaMemcpyToSymbol(decay, left.data(), (LAYERS + 1) * sizeof(float)));
    float *d_start = device_copy_of(start.data(), n), *d_temperature = device_array<float>(n);
    float *d_thickness = device_copy_of(thickness.data(), columns);
    float *d_exposure = device_copy_of(exposure.data(), columns);
    Weather *d_weather = device_copy_of(weather.data(), hours);
    pair_time(&p, [&] {
        inlets<<<(columns + BLOCK - 1) / BLOCK, BLOCK>>>(d_start, d_thickness, d_exposure, d_weather, hours,
                                                         d_temperature, columns);
    });

    std::vector<float> temperature = host_copy_of(d_temperature, n);
    for (int c = 0; c < columns; c += p.small ? 11 : 1999) {
        double t[LAYERS], diagonal[LAYERS], mix[LAYERS + 1];
        for (int k = 0; k < LAYERS; k++)
            t[k] = start[(size_t)k * columns + c];
        const double dz = thickness[c];
        for (const Weather &w : weather) {
            t[0] += exposure[c] * w.heat / dz;
            mix[0] = mix[LAYERS] = 0;
            for (int k = 1; k < LAYERS; k++)
                mix[k] = (0.02 + exposure[c] * w.wind * left[k]) / (dz * dz);
            // Gaussian elimination of the tridiagonal system, without normalising its rows.
            for (int k = 0; k < LAYERS; k++) {
                diagonal[k] = 1 + mix[k] + mix[k + 1];
                if (k > 0) {
                    diagonal[k] -= mix[k] * mix[k] / diagonal[k - 1];
                    t[k] += mix[k] / diagonal[k - 1] * t[k - 1];
                }
            }
            for (int k = LAYERS - 1; k >= 0; k--)
                t[k] = (t[k] + (k + 1 < LAYERS ? mix[k + 1] * t[k + 1] : 0)) / diagonal[k];
        }
        for (int k = 0; k < LAYERS; k++)
            pair_near(&p, "temperature", (size_t)k * columns + c, t[k], temperature[(size_t)k * columns + c], 1e-4);
    }
    return pair_end(&p);
}
