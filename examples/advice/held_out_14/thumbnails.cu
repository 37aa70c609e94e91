// SPDX-License-Identifier: Apache-2.0
//
// Rule: shared-conflicts
// Change: rows of the picture are a word longer in shared memory.
// Why: each lane goes along a row of its own, and with rows of 64 words all lanes want the same bank.
#include "../common.h"

enum { SIDE = 64 };

#ifdef AFTER
enum { PITCH = SIDE + 1 };
#else
enum { PITCH = SIDE };
#endif

// A recursive filter over SIDE values that are `step` apart, there and back.
static __host__ __device__ inline void run_both_ways(float *values, int step, float keep) {
    float state = values[0];
    for (int k = 0; k < SIDE; k++) {
        state = values[k * step] + keep * (state - values[k * step]);
        values[k * step] = state;
    }
    for (int k = SIDE - 1; k >= 0; k--) {
        state = values[k * step] + keep * (state - values[k * step]);
        values[k * step] = state;
    }
}

// Blurs previews of SIDE x SIDE pixels by exponential smoothing of all rows, then of all columns.
__global__ void blur_previews(const unsigned char *in, unsigned char *out, const float *keeps) {
    __shared__ float picture[SIDE * PITCH];
    int me = threadIdx.x;
    float keep = keeps[blockIdx.x];
    size_t first = (size_t)blockIdx.x * SIDE * SIDE;
    for (int y = 0; y < SIDE; y++)
        picture[y * PITCH + me] = in[first + y * SIDE + me];
    __syncthreads();
    run_both_ways(picture + me * PITCH, 1, keep);
    __syncthreads();
    run_both_ways(picture + me, PITCH, keep);
    for (int y = 0; y < SIDE; y++)
        out[first + y * SIDE + me] = (unsigned char)(picture[y * PITCH + me] + 0.5f);
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "thumbnails");
    int pictures = p.small ? 16 : 5000;
    std::vector<unsigned char> in((size_t)pictures * SIDE * SIDE);
    lcg_fill(in.data(), in.size(), 1, 256);
    std::vector<float> keeps = random_floats(pictures, 0.3f, 0.8f, 2);
    unsigned char *d_in = device_copy_of(in.data(), in.size()), *d_out = device_array<unsigned char>(in.size());
    float *d_keeps = device_copy_of(keeps.data(), pictures);
    pair_time(&p, [&] { blur_previews<<<pictures, SIDE>>>(d_in, d_out, d_keeps); });
    std::vector<unsigned char> out = host_copy_of(d_out, in.size());
    for (int k = 0; k < pictures; k += 13) {
        size_t first = (size_t)k * SIDE * SIDE;
        std::vector<float> picture(&in[first], &in[first] + SIDE * SIDE);
        for (int y = 0; y < SIDE; y++)
            run_both_ways(&picture[y * SIDE], 1, keeps[k]);
        for (int x = 0; x < SIDE; x++)
            run_both_ways(&picture[x], SIDE, keeps[k]);
        // A value halfway between two grey levels may be rounded either way.
        for (int i = 0; i < SIDE * SIDE; i += 5)
            pair_near(&p, "rounding", first + i, 0, std::max(fabs(picture[i] - (double)out[first + i]), 0.5) - 0.5,
                      1e-3);
    }
    return pair_end(&p);
}
