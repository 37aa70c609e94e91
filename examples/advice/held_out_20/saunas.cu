// SPDX-License-Identifier: Apache-2.0
//
// Rule: code-reordering
// Change: stove and door of the next minute are loaded before the current minute is computed.
// Why: they are loaded where they are needed, after a store that they cannot be moved across, and each thread waits.
#include "../common.h"

enum { BLOCK = 128, SUBSTEPS = 3 };

// Air and stones of a sauna through an evening, minute by minute; one thread per sauna.
__global__ void evening(const float *stove, const float *door, const float *volumes, float *temperatures,
                        float *humidities, int n, int minutes) {
    int i = blockIdx.x * BLOCK + threadIdx.x;
    if (i >= n)
        return;
    float air = 20.0f, stones = 20.0f, vapour = 0.4f, per_volume = 1.0f / volumes[i];
#ifdef AFTER
    float next_heat = stove[i], next_open = door[i];
#endif
    for (int m = 0; m < minutes; m++) {
#ifdef AFTER
        float heat = next_heat, open = next_open;
        size_t next = (size_t)min(m + 1, minutes - 1) * n + i;
        next_heat = stove[next];
        next_open = door[next];
#else
        float heat = stove[(size_t)m * n + i], open = door[(size_t)m * n + i];
#endif
        for (int s = 0; s < SUBSTEPS; s++) {
            float kelvin = 0.01f * (stones + 273.15f);
            float radiated = 0.02f * kelvin * kelvin * kelvin * kelvin;
            float convected = 0.05f * (stones - air);
            float saturated = 0.61f * expf(17.27f * air / (air + 237.3f));
            float steam = 0.3f * heat * fmaxf(0.0f, 1.0f - vapour / (saturated + 1.0f));
            float leak = (0.02f + 0.2f * open) * per_volume;
            stones += 4.0f * heat - 0.1f * radiated - 0.3f * convected;
            air += per_volume * (convected + 0.3f * radiated) - leak * (air - 20.0f) - 0.02f * steam;
            vapour += steam * per_volume - leak * (vapour - 0.4f);
        }
        temperatures[(size_t)m * n + i] = air;
    }
    humidities[i] = vapour;
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "saunas");
    int n = p.small ? 256 : 132 * 128, minutes = p.small ? 6 : 240;
    size_t steps = (size_t)n * minutes;
    std::vector<float> stove = random_floats(steps, 0, 1, 1), door = random_floats(steps, 0, 1, 2),
                       volumes = random_floats(n, 6, 20, 3);
    float *d_stove = device_copy_of(stove.data(), steps), *d_door = device_copy_of(door.data(), steps),
          *d_volumes = device_copy_of(volumes.data(), n), *d_temperatures = device_array<float>(steps),
          *d_humidities = device_array<float>(n);
    pair_time(&p, [&] {
        evening<<<(n + BLOCK - 1) / BLOCK, BLOCK>>>(d_stove, d_door, d_volumes, d_temperatures, d_humidities, n,
                                                    minutes);
    });
    std::vector<float> temperatures = host_copy_of(d_temperatures, steps), humidities = host_copy_of(d_humidities, n);
    for (int i = 0; i < n; i += p.small ? 1 : 37) {
        double air = 20, stones = 20, vapour = 0.4, per_volume = 1.0 / volumes[i];
        for (int m = 0; m < minutes; m++) {
            size_t at = (size_t)m * n + i;
            double heat = stove[at], open = door[at];
            for (int s = 0; s < SUBSTEPS; s++) {
                double kelvin = 0.01 * (stones + 273.15), radiated = 0.02 * pow(kelvin, 4),
                       convected = 0.05 * (stones - air), saturated = 0.61 * exp(17.27 * air / (air + 237.3)),
                       steam = 0.3 * heat * std::max(0.0, 1 - vapour / (saturated + 1)),
                       leak = (0.02 + 0.2 * open) * per_volume;
                stones += 4 * heat - 0.1 * radiated - 0.3 * convected;
                air += per_volume * (convected + 0.3 * radiated) - leak * (air - 20) - 0.02 * steam;
                vapour += steam * per_volume - leak * (vapour - 0.4);
            }
            pair_near(&p, "temperature", at, air, temperatures[at], 1e-3);
        }
        pair_near(&p, "humidity", i, vapour, humidities[i], 1e-3);
    }
    return pair_end(&p);
}
