// SPDX-License-Identifier: Apache-2.0
//
// Rule: wrong-type
// Change: three constants are floats: 0.01f, 15.5f and 0.5f.
// Why: a constant without an f makes the arithmetic around it double, with conversions before and after.
#include "../common.h"

enum { BLOCK = 256, SLIPS = 32 };

#ifdef AFTER
#define REAL(x) x##f
#else
#define REAL(x) x
#endif

__constant__ float d_measured[SLIPS];

// How badly sets of coefficients of the "magic formula" fit the side force of a tyre that was measured on a drum.
__global__ void tyre_fit(const float4 *sets, float *misfits) {
    int i = blockIdx.x * BLOCK + threadIdx.x;
    float4 own = sets[i];  // stiffness, shape, peak, curvature
    float sum = 0;
    for (int k = 0; k < SLIPS; k++) {
        float slip = REAL(0.01) * ((float)k - REAL(15.5));
        float bent = own.x * slip;
        float angle = own.y * atanf(bent - own.w * (bent - atanf(bent)));
        float miss = own.z * sinf(angle) - d_measured[k];
        sum += REAL(0.5) * miss * miss;
    }
    misfits[i] = sum;
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "tyre_fit");
    int n = p.small ? 1 << 11 : 1 << 19;
    std::vector<float> numbers = random_floats((size_t)n * 4, 0, 1, 1);
    std::vector<float4> sets(n);
    for (int i = 0; i < n; i++) {
        const float *u = &numbers[4 * (size_t)i];
        sets[i] = make_float4(8 + 10 * u[0], 1.1f + 0.6f * u[1], 0.8f + 0.5f * u[2], 1.5f * u[3] - 1.0f);
    }
    std::vector<float> measured(SLIPS);
    for (int k = 0; k < SLIPS; k++)
        measured[k] = tanhf(0.1f * ((float)k - 15.5f));
    float4 *d_sets = device_copy_of(sets.data(), n);
    float *d_misfits = device_array<float>(n);
    CUDA_CHECK(cudaMemcpyToSymbol(d_measured, measured.data(), sizeof d_measured));
    pair_time(&p, [&] { tyre_fit<<<n / BLOCK, BLOCK>>>(d_sets, d_misfits); });
    std::vector<float> misfits = host_copy_of(d_misfits, n);
    for (int i = 0; i < n; i += 149) {
        double sum = 0;
        for (int k = 0; k < SLIPS; k++) {
            double bent = sets[i].x * 0.01 * (k - 15.5);
            double miss = sets[i].z * sin(sets[i].y * atan(bent - sets[i].w * (bent - atan(bent)))) - measured[k];
            sum += 0.5 * miss * miss;
        }
        pair_near(&p, "misfit", i, sum, misfits[i], 1e-5);
    }
    return pair_end(&p);
}
