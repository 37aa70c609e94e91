// SPDX-License-Identifier: Apache-2.0
//
// Rule: thread-increase
// Change: blocks of 128 threads instead of 32, and so a quarter as many blocks.
// Why: an SM holds at most 32 blocks; with one warp each that is half of the warps it could hold, too few to hide the
// latency of the loads.
#include "../common.h"

#ifdef AFTER
enum { BLOCK = 128 };
#else
enum { BLOCK = 32 };
#endif

// Rating of overhead power lines: for every span between two insulators, the heat balance of the conductor is solved
// hour by hour, and the ageing of the insulator's clamp is summed up.
struct Conductor {
    float resistance;  // ohm per metre at 20 degrees
    float per_degree;  // how it grows
    float diameter, emissivity;
    int hours;
};

struct Rating {
    float ageing, hottest;
};

struct Balance {
    float power, slope;  // watts per metre left over, and what a degree changes in it
};

static __device__ Balance balance(const Conductor &c, float heating, float cooling, float air, float temperature) {
    float resistance = c.resistance * (1 + c.per_degree * (temperature - 20));
    float radiation = 1.781e-7f * c.diameter * c.emissivity;  // pi times Stefan and Boltzmann's constant
    float kelvin = temperature + 273.15f, outside = air + 273.15f;
    float cube = kelvin * kelvin * kelvin, square = outside * outside;
    Balance b;
    b.power = heating * resistance - cooling * (temperature - air) - radiation * (cube * kelvin - square * square);
    b.slope = heating * c.resistance * c.per_degree - cooling - 4 * radiation * cube;
    return b;
}

// All arrays are [hour][span].
__global__ void rate_spans(const float *ampere, const float *celsius, const float *wind, Rating *out, Conductor c,
                           int spans) {
    int span = blockIdx.x * BLOCK + threadIdx.x;
    if (span >= spans)
        return;
    float temperature = 40;
    Rating r = {0, 0};
    for (int hour = 0; hour < c.hours; hour++) {
        size_t i = (size_t)hour * spans + span;
        float current = ampere[i], air = celsius[i];
        float cooling = 0.6f + 1.4f * sqrtf(wind[i]), heating = current * current, step = 1;
        for (int k = 0; k < 6 && fabsf(step) > 0.05f; k++) {
            Balance b = balance(c, heating, cooling, air, temperature);
            step = __fdividef(b.power, b.slope);
            temperature -= step;
        }
        r.ageing += __expf(0.07f * (temperature - 80));
        r.hottest = fmaxf(r.hottest, temperature);
    }
    out[span] = r;
}

static Rating expected_rating(const Conductor &c, const float *ampere, const float *celsius, const float *wind,
                              size_t spans) {
    double t = 40, ageing = 0, hottest = 0, radiation = 1.781e-7 * c.diameter * c.emissivity;
    for (int hour = 0; hour < c.hours; hour++) {
        size_t i = hour * spans;
        double heating = (double)ampere[i] * ampere[i], cooling = 0.6 + 1.4 * sqrt(wind[i]), air = celsius[i];
        for (int k = 0; k < 8; k++) {
            double power = heating * c.resistance * (1 + c.per_degree * (t - 20)) - cooling * (t - air) -
                           radiation * (pow(t + 273.15, 4) - pow(air + 273.15, 4));
            double slope = heating * c.resistance * c.per_degree - cooling - 4 * radiation * pow(t + 273.15, 3);
            t -= power / slope;
        }
        ageing += exp(0.07 * (t - 80));
        hottest = std::max(hottest, t);
    }
    Rating r = {(float)ageing, (float)hottest};
    return r;
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "insulators");
    int spans = 132 * 64 * 32 * (p.small ? 1 : 2) - 40;
    Conductor c = {7e-5f, 0.004f, 0.03f, 0.8f, p.small ? 4 : 36};
    size_t count = (size_t)spans * c.hours;
    std::vector<float> ampere = random_floats(count, 300, 1000, 1), celsius = random_floats(count, 5, 30, 2),
                       wind = random_floats(count, 0.3f, 6, 3);
    float *d_ampere = device_copy_of(ampere.data(), count), *d_celsius = device_copy_of(celsius.data(), count),
          *d_wind = device_copy_of(wind.data(), count);
    Rating *d_out = device_array<Rating>(spans);
    int blocks = (spans + BLOCK - 1) / BLOCK;
    pair_time(&p, [&] { rate_spans<<<blocks, BLOCK>>>(d_ampere, d_celsius, d_wind, d_out, c, spans); });

    std::vector<Rating> out = host_copy_of(d_out, spans);
    for (int s = 0; s < spans; s += spans / 127) {
        Rating r = expected_rating(c, &ampere[s], &celsius[s], &wind[s], spans);
        pair_near(&p, "ageing", s, r.ageing, out[s].ageing, 2e-3);
        pair_near(&p, "hottest", s, r.hottest, out[s].hottest, 1e-3);
    }
    for (float *array : {d_ampere, d_celsius, d_wind})
        CUDA_CHECK(cudaFree(array));
    CUDA_CHECK(cudaFree(d_out));
    return pair_end(&p);
}
