// SPDX-License-Identifier: Apache-2.0
//
// Rule: wrong-type
// Change: the constants of the formulas are floats instead of doubles.
// Why: one double in a formula makes its exponential, logarithm and division double, though all data are floats.
#include "../common.h"

enum { BLOCK = 256 };

#ifdef AFTER
#define NUMBER(x) x##f
#else
#define NUMBER(x) x
#endif

struct Weather {
    float celsius, humidity, hectopascals;  // humidity from 0 to 1
};

struct Comfort {
    float dew_point, mixing_ratio, wet_bulb;
};

// Pressure of saturated water vapour (Magnus).
static __device__ float saturation(float celsius) {
    return NUMBER(6.112) * exp(NUMBER(17.62) * celsius / (NUMBER(243.12) + celsius));
}

// What the readings of a building's sensors say about its air.
__global__ void psychrometrics(const Weather *readings, Comfort *result, int count) {
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += gridDim.x * blockDim.x) {
        Weather w = readings[i];
        float vapour = w.humidity * saturation(w.celsius);
        float logarithm = log(vapour / NUMBER(6.112));
        float dew_point = NUMBER(243.12) * logarithm / (NUMBER(17.62) - logarithm);
        float mixing_ratio = NUMBER(621.98) * vapour / (w.hectopascals - vapour);
        float wet = w.celsius, slope = NUMBER(0.000662) * w.hectopascals;
        for (int turn = 0; turn < 4; turn++) {  // Newton's method
            float most = saturation(wet), below = NUMBER(243.12) + wet;
            float error = most - vapour - slope * (w.celsius - wet);
            wet -= error / (most * NUMBER(4283.7744) / (below * below) + slope);
        }
        result[i] = {dew_point, mixing_ratio, wet};
    }
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "humid_air");
    int count = p.small ? 8000 : 4000000;
    std::vector<float> celsius = random_floats(count, -5, 38, 1), humidity = random_floats(count, 0.1f, 1, 2),
                       pressure = random_floats(count, 950, 1050, 3);
    std::vector<Weather> readings(count);
    for (int i = 0; i < count; i++)
        readings[i] = {celsius[i], humidity[i], pressure[i]};
    Weather *d_readings = device_copy_of(readings.data(), count);
    Comfort *d_result = device_array<Comfort>(count);
    int grid = std::min((count + BLOCK - 1) / BLOCK, 132 * 32);
    pair_time(&p, [&] { psychrometrics<<<grid, BLOCK>>>(d_readings, d_result, count); });
    std::vector<Comfort> result = host_copy_of(d_result, count);
    auto saturated = [](double t) { return 6.112 * exp(17.62 * t / (243.12 + t)); };
    for (int i = 0; i < count; i += 19) {
        double t = celsius[i], vapour = humidity[i] * saturated(t), logarithm = log(vapour / 6.112), wet = t;
        for (int turn = 0; turn < 4; turn++) {
            double most = saturated(wet), slope = 0.000662 * pressure[i];
            wet -= (most - vapour - slope * (t - wet)) / (most * 17.62 * 243.12 / pow(243.12 + wet, 2) + slope);
        }
        pair_near(&p, "dew point", i, 243.12 * logarithm / (17.62 - logarithm), result[i].dew_point, 1e-4);
        pair_near(&p, "mixing ratio", i, 621.98 * vapour / (pressure[i] - vapour), result[i].mixing_ratio, 1e-4);
        pair_near(&p, "wet bulb", i, wet, result[i].wet_bulb, 1e-4);
    }
    return pair_end(&p);
}
