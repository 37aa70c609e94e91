// SPDX-License-Identifier: Apache-2.0
//
// Rule: wrong-type
// Change: the constants are float instead of double.
// Why: each literal without f makes its whole expression double, with conversions to and fro in each round.
#include "../common.h"

#ifdef AFTER
#define NUMBER(x) x##f
#else
#define NUMBER(x) x
#endif

enum { BLOCK = 256, ROUNDS = 6 };

struct Rider {
    float mass, front, rolling, threshold;  // kg, m^2, 1, W
};

// How fast cyclists are on each metre of a stage, from the power they give: drag, tyres, slope and losses of the chain,
// solved for the speed by Newton's method. And what it costs them in strain.
__global__ void pace(const Rider *riders, const float *watts, const float *slopes, const float *winds, float *speeds,
                     float *strains, int metres) {
    int m = blockIdx.x * BLOCK + threadIdx.x;
    Rider rider = riders[blockIdx.y];
    size_t at = (size_t)blockIdx.y * metres + m;
    float power = watts[at], slope = slopes[m], wind = winds[m];
    float v = 8;
    for (int round = 0; round < ROUNDS; round++) {
        float air = v + wind;
        float drag = NUMBER(0.5) * NUMBER(1.225) * rider.front * air * air;
        float road = NUMBER(9.81) * rider.mass * (rider.rolling + slope);
        float missing = (drag + road) * v - NUMBER(0.976) * power;
        float rise = drag + road + NUMBER(1.225) * rider.front * air * v;
        float next = v - missing / rise;
        v = next > NUMBER(1.5) ? next : NUMBER(1.5);
    }
    float load = power / rider.threshold;
    speeds[at] = v;
    strains[at] = NUMBER(0.0278) * load * load * (NUMBER(1.0) + NUMBER(0.3) * load) / v;
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "cyclists");
    int count = p.small ? 2 : 176, metres = p.small ? BLOCK : 64 * BLOCK;
    size_t n = (size_t)count * metres;
    std::vector<float> raw = random_floats(4 * count, 0, 1, 1), watts = random_floats(n, 150, 450, 2),
                       slopes = random_floats(metres, 0, 0.06f, 3), winds = random_floats(metres, -0.8f, 3, 4);
    std::vector<Rider> riders(count);
    for (int r = 0; r < count; r++)
        riders[r] = {60 + 25 * raw[4 * r], 0.25f + 0.1f * raw[4 * r + 1], 0.003f + 0.004f * raw[4 * r + 2],
                     220 + 180 * raw[4 * r + 3]};
    Rider *d_riders = device_copy_of(riders.data(), count);
    float *d_watts = device_copy_of(watts.data(), n), *d_slopes = device_copy_of(slopes.data(), metres),
          *d_winds = device_copy_of(winds.data(), metres), *d_speeds = device_array<float>(n),
          *d_strains = device_array<float>(n);
    pair_time(&p, [&] {
        pace<<<dim3(metres / BLOCK, count), BLOCK>>>(d_riders, d_watts, d_slopes, d_winds, d_speeds, d_strains, metres);
    });
    std::vector<float> speeds = host_copy_of(d_speeds, n), strains = host_copy_of(d_strains, n);
    for (size_t i = 0; i < n; i += p.small ? 1 : 71) {
        const Rider &rider = riders[i / metres];
        double slope = slopes[i % metres], wind = winds[i % metres], v = 8;
        for (int round = 0; round < ROUNDS; round++) {
            double air = v + wind, drag = 0.5 * 1.225 * rider.front * air * air,
                   road = 9.81 * rider.mass * (rider.rolling + slope);
            v -= ((drag + road) * v - 0.976 * watts[i]) / (drag + road + 1.225 * rider.front * air * v);
            v = std::max(v, 1.5);
        }
        double load = watts[i] / rider.threshold;
        pair_near(&p, "speed", i, v, speeds[i], 1e-3);
        pair_near(&p, "strain", i, 0.0278 * load * load * (1 + 0.3 * load) / v, strains[i], 1e-3);
    }
    return pair_end(&p);
}
