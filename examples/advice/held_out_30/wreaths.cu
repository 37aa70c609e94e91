// SPDX-License-Identifier: Apache-2.0
//
// Rule: strength-reduction
// Change: going round the wreath is a comparison and a subtraction in place of a modulo.
// Why: a modulo by a number that the compiler does not know is some twenty instructions, in every step of the loop.
#include "../common.h"

enum { BLOCK = 128, TRAIL = 60 };

__constant__ float fading[TRAIL];

// Christmas wreaths of lamps, a row of blocks each: the light of a lamp with the trails of the lamps ahead of it.
__global__ void glow(const float *lit, float *light, unsigned lamps) {
    unsigned i = blockIdx.x * BLOCK + threadIdx.x;
    if (i >= lamps)
        return;
    const float *wreath = lit + (size_t)blockIdx.y * lamps;
    float sum = 0;
    for (unsigned k = 0; k < TRAIL; k++) {
#ifdef AFTER
        unsigned at = i + k;
        if (at >= lamps)
            at -= lamps;
#else
        unsigned at = (i + k) % lamps;
#endif
        sum += fading[k] * wreath[at];
    }
    light[(size_t)blockIdx.y * lamps + i] = fminf(sum, 1.0f);
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "wreaths");
    int wreaths = p.small ? 4 : 1300;
    unsigned lamps = p.small ? 333 : 2750;
    std::vector<float> lit = random_floats((size_t)wreaths * lamps, 0, 0.3f, 21);
    float fade[TRAIL];
    for (int k = 0; k < TRAIL; k++)
        fade[k] = expf(-0.12f * k);
    CUDA_CHECK(cudaMemcpyToSymbol(fading, fade, sizeof fade));
    float *d_lit = device_copy_of(lit.data(), lit.size()), *d_light = device_array<float>(lit.size());
    dim3 grid((lamps + BLOCK - 1) / BLOCK, wreaths);
    pair_time(&p, [&] { glow<<<grid, BLOCK>>>(d_lit, d_light, lamps); });
    std::vector<float> light = host_copy_of(d_light, lit.size());
    for (size_t i = 0; i<lit.size(); i += i % lamps> lamps - 70 ? 1 : 61) {
        double sum = 0;
        for (unsigned k = 0; k < TRAIL; k++)
            sum += fade[k] * lit[i / lamps * lamps + (i % lamps + k) % lamps];
        pair_near(&p, "light", i, std::min(sum, 1.0), light[i], 1e-4);
    }
    return pair_end(&p);
}
