// SPDX-License-Identifier: Apache-2.0
//
// Rule: strength-reduction
// Change: a random number is brought into the range of the data by the upper half of a product, not by a remainder.
// Why: how many numbers there are only the host knows, so that each draw costs a division.
#include "../common.h"

enum { BLOCK = 256, DRAWS = 256 };

__host__ __device__ static unsigned next(unsigned *state) {
    unsigned x = *state;
    x ^= x << 13;
    x ^= x >> 17;
    x ^= x << 5;
    return *state = x;
}

__host__ __device__ static unsigned below(unsigned random, unsigned n) {
#ifdef AFTER
    return (unsigned)((unsigned long long)random * n >> 32);
#else
    return random % n;
#endif
}

// Means of samples that are drawn with replacement, one by each thread.
__global__ void bootstrap(const float *data, float *means, unsigned n) {
    unsigned t = blockIdx.x * BLOCK + threadIdx.x, state = t * 747796405u + 2891336453u;
    float sum = 0;
    for (int k = 0; k < DRAWS; k++)
        sum += data[below(next(&state), n)];
    means[t] = sum / DRAWS;
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "bootstrap");
    int samples = p.small ? 1 << 13 : 1 << 20;
    unsigned n = 1019;
    std::vector<float> data = random_floats(n, 0, 1, 1);
    float *d_data = device_copy_of(data.data(), n), *d_means = device_array<float>(samples);
    pair_time(&p, [&] { bootstrap<<<samples / BLOCK, BLOCK>>>(d_data, d_means, n); });
    std::vector<float> means = host_copy_of(d_means, samples);
    for (unsigned t = 0; t < (unsigned)samples; t += 1009) {
        unsigned state = t * 747796405u + 2891336453u;
        double sum = 0;
        for (int k = 0; k < DRAWS; k++)
            sum += data[below(next(&state), n)];
        pair_near(&p, "mean", t, sum / DRAWS, means[t], 1e-4);
    }
    return pair_end(&p);
}
