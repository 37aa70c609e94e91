// SPDX-License-Identifier: Apache-2.0
//
// Rule: tail-effect
// Change: CTAs of a quarter of the size.
// Why: 300 CTAs, of which an SM holds two, are a wave of 264 and one of 36.
#include "../common.h"

#ifdef AFTER
enum { BLOCK = 256 };
#else
enum { BLOCK = 1024 };
#endif
enum { THREADS = 150 * 2048, TERMS = 200 };

// A long series of damped oscillations for each thread's angle.
__global__ void __launch_bounds__(BLOCK) mie_sum(const float *angle, const float *weight, float *out) {
    int i = blockIdx.x * BLOCK + threadIdx.x;
    float turn = angle[i], before = 1, now = turn, sum = 0;
    for (int k = 0; k < TERMS; k++) {
        float following = 2 * turn * now - before;
        sum += weight[k] * following;
        before = now;
        now = following;
    }
    out[i] = sum;
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "mie_sum");
    std::vector<float> angle = random_floats(THREADS, -1, 1, 1), weight = random_floats(TERMS, 0, 1, 2);
    float *d_angle = device_copy_of(angle.data(), THREADS), *d_weight = device_copy_of(weight.data(), TERMS),
          *d_out = device_array<float>(THREADS);
    pair_time(&p, [&] { mie_sum<<<THREADS / BLOCK, BLOCK>>>(d_angle, d_weight, d_out); });
    std::vector<float> out = host_copy_of(d_out, THREADS);
    for (int i = 0; i < THREADS; i += 1009) {
        double before = 1, now = angle[i], sum = 0;
        for (int k = 0; k < TERMS; k++) {
            double following = 2 * (double)angle[i] * now - before;
            sum += weight[k] * following;
            before = now;
            now = following;
        }
        pair_near(&p, "out", i, sum, out[i], 2e-2);
    }
    return pair_end(&p);
}
