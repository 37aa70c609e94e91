// SPDX-License-Identifier: Apache-2.0
//
// Rule: wrong-type
// Change: constants have an f, so that all is computed in float.
// Why: constants without f make the compiler compute in double precision.
#include "../common.h"

enum { BLOCK = 256, DAYS = 16 };

#ifdef AFTER
#define REAL(x) x##f
#else
#define REAL(x) x
#endif

// What heating a house took in some days, from their temperatures.
__global__ void heating(const float *degrees, const float *wind, float *out, int houses) {
    int i = blockIdx.x * BLOCK + threadIdx.x;
    float sum = 0;
    for (int d = 0; d < DAYS; d++) {
        float cold = REAL(19.5) - degrees[d * houses + i];
        if (cold > 0)
            sum += REAL(0.31) * cold * (REAL(1.0) + REAL(0.045) * wind[d * houses + i]) + REAL(0.002) * cold * cold;
    }
    out[i] = sum;
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "heating");
    int houses = p.small ? 1 << 13 : 1 << 19;
    std::vector<float> degrees = random_floats((size_t)houses * DAYS, -12, 24, 1),
                       wind = random_floats((size_t)houses * DAYS, 0, 20, 2);
    float *d_degrees = device_copy_of(degrees.data(), degrees.size()),
          *d_wind = device_copy_of(wind.data(), wind.size()), *d_out = device_array<float>(houses);
    pair_time(&p, [&] { heating<<<houses / BLOCK, BLOCK>>>(d_degrees, d_wind, d_out, houses); });
    std::vector<float> out = host_copy_of(d_out, houses);
    for (int i = 0; i < houses; i += 89) {
        double sum = 0;
        for (int d = 0; d < DAYS; d++) {
            double cold = 19.5 - degrees[(size_t)d * houses + i];
            if (cold > 0)
                sum += 0.31 * cold * (1 + 0.045 * wind[(size_t)d * houses + i]) + 0.002 * cold * cold;
        }
        pair_near(&p, "heat", i, sum, out[i], 1e-4);
    }
    return pair_end(&p);
}
