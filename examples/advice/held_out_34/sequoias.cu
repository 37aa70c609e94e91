// SPDX-License-Identifier: Apache-2.0
//
// Rule: wrong-type
// Change: the physiological constants are float instead of double.
// Why: all variables are float, but a double constant lifts each expression it is in, with its exp(), sqrt() and
// division, to double precision, and the result is rounded back to float.
#include "../common.h"

#ifdef AFTER
using Constant = float;
#else
using Constant = double;
#endif

enum { LAYERS = 10 };

// Farquhar's model of a leaf, rates in micromoles per square metre and second, partial pressures in pascal.
constexpr Constant LIGHT_EXTINCTION = 0.52, NITROGEN_DECLINE = 0.31;  // per unit of leaf area above
constexpr Constant QUANTUM_YIELD = 0.385, CURVATURE = 0.7;
constexpr Constant MICHAELIS_CO2 = 40.49, MICHAELIS_O2 = 27840, OXYGEN = 21000, COMPENSATION = 4.275;
constexpr Constant ENERGY_CO2 = 79430, ENERGY_O2 = 36380, ENERGY_COMPENSATION = 37830, ENERGY_RUBISCO = 65330;
constexpr Constant GAS = 8.314, KELVIN = 273.15, REFERENCE = 298.15, INTERNAL_SHARE = 0.71, RESPIRATION = 0.015;

// How much faster a process of this activation energy runs than at 25 degrees.
__device__ float arrhenius(float celsius, Constant energy) {
    return exp(energy * (celsius + KELVIN - REFERENCE) / (REFERENCE * GAS * (celsius + KELVIN)));
}

// Lesser root of curvature * r^2 - (a + b) * r + a * b = 0: a minimum of a and b with a rounded corner.
__device__ float smooth_minimum(float a, float b) {
    float sum = a + b;
    return (sum - sqrt(sum * sum - 4 * CURVATURE * a * b)) / (2 * CURVATURE);
}

// What the forest of each pixel takes up. stand: leaf area index, carboxylation at 25 degrees at the top of the
// crowns; weather: light on the crowns, air temperature.
__global__ void sequoias(const float2 *__restrict__ stand, const float2 *__restrict__ weather,
                         float *__restrict__ uptake, int pixels, float co2) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= pixels)
        return;
    const float leaf_area = stand[i].x, rubisco = stand[i].y, light = weather[i].x, celsius = weather[i].y;
    const float inside = co2 * INTERNAL_SHARE;
    const float compensation = COMPENSATION * arrhenius(celsius, ENERGY_COMPENSATION);
    const float oxygen_effect = 1 + OXYGEN / (MICHAELIS_O2 * arrhenius(celsius, ENERGY_O2));
    const float michaelis = MICHAELIS_CO2 * arrhenius(celsius, ENERGY_CO2) * oxygen_effect;
    const float top = rubisco * arrhenius(celsius, ENERGY_RUBISCO);

    const float thickness = leaf_area / LAYERS;
    float total = 0;
    for (int layer = 0; layer < LAYERS; layer++) {
        const float above = thickness * (layer + 0.5f);
        const float carboxylation = top * exp(-NITROGEN_DECLINE * above);
        const float absorbed = light * LIGHT_EXTINCTION * exp(-LIGHT_EXTINCTION * above);
        const float electrons = smooth_minimum(absorbed * QUANTUM_YIELD, 2 * carboxylation);
        const float by_rubisco = carboxylation * (inside - compensation) / (inside + michaelis);
        const float by_light = electrons * (inside - compensation) / (4 * inside + 8 * compensation);
        total += fminf(by_rubisco, by_light) - RESPIRATION * carboxylation;
    }
    uptake[i] = total * thickness;
}

static double response(double celsius, double energy) {
    return exp(energy * (celsius - 25) / (298.15 * 8.314 * (celsius + 273.15)));
}

static double root(double a, double b) { return (a + b - sqrt((a + b) * (a + b) - 4 * 0.7 * a * b)) / 1.4; }

static double expected_uptake(double area, double rubisco, double light, double celsius, double co2) {
    double ci = 0.71 * co2, g = 4.275 * response(celsius, 37830), sum = 0;
    double km = 40.49 * response(celsius, 79430) * (1 + 21000 / (27840 * response(celsius, 36380)));
    for (int layer = 0; layer < LAYERS; layer++) {
        double above = area * (layer + 0.5) / LAYERS, v = rubisco * response(celsius, 65330) * exp(-0.31 * above);
        double j = root(0.385 * 0.52 * light * exp(-0.52 * above), 2 * v);
        sum += std::min(v * (ci - g) / (ci + km), j * (ci - g) / (4 * ci + 8 * g)) - 0.015 * v;
    }
    return sum * area / LAYERS;
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "sequoias");
    const int pixels = p.small ? 900 : 2400000;
    const float co2 = 41.5f;
    std::vector<float> area = random_floats(pixels, 0.5f, 9, 1), rubisco = random_floats(pixels, 25, 75, 2),
                       light = random_floats(pixels, 20, 1900, 3), celsius = random_floats(pixels, 2, 34, 4);
    std::vector<float2> stand(pixels), weather(pixels);
    for (int i = 0; i < pixels; i++) {
        stand[i] = make_float2(area[i], rubisco[i]);
        weather[i] = make_float2(light[i], celsius[i]);
    }

    float2 *d_stand = device_copy_of(stand.data(), pixels), *d_weather = device_copy_of(weather.data(), pixels);
    float *d_uptake = device_array<float>(pixels);
    pair_time(&p, [&] { sequoias<<<(pixels + 127) / 128, 128>>>(d_stand, d_weather, d_uptake, pixels, co2); });

    std::vector<float> uptake = host_copy_of(d_uptake, pixels);
    for (int i = 0; i < pixels; i += p.small ? 7 : 1009)
        pair_near(&p, "uptake", i, expected_uptake(area[i], rubisco[i], light[i], celsius[i], co2), uptake[i], 1e-3);
    return pair_end(&p);
}
