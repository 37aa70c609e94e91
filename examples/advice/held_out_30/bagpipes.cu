// SPDX-License-Identifier: Apache-2.0
//
// Rule: tail-effect
// Change: the samples are shared out among 264 CTAs instead of 300.
// Why: two CTAs fit on each of 132 SMs, so that 36 of the 300 ran alone in a second wave.
#include "../common.h"

#ifdef AFTER
enum { CTAS = 264 };
#else
enum { CTAS = 300 };
#endif
enum { BLOCK = 1024, TABLE = 8192, PARTIALS = 30 };

struct Partial {
    unsigned step;  // of the phase for each sample; 2^32 is one turn
    float loudness;
};

// The sound of a set of bagpipes: chanter and drones as a sum of partials, with a sine table in shared memory.
__global__ void __launch_bounds__(BLOCK, 2) skirl(const float *sine, const Partial *partials, float *sound, int n) {
    __shared__ float table[TABLE];
    __shared__ Partial parts[PARTIALS];
    for (int i = threadIdx.x; i < TABLE; i += BLOCK)
        table[i] = sine[i];
    if (threadIdx.x < PARTIALS)
        parts[threadIdx.x] = partials[threadIdx.x];
    __syncthreads();
    for (int i = blockIdx.x * BLOCK + threadIdx.x; i < n; i += gridDim.x * BLOCK) {
        float sum = 0;
#pragma unroll 5
        for (int k = 0; k < PARTIALS; k++)
            sum += parts[k].loudness * table[parts[k].step * (unsigned)i >> 19];
        sound[i] = sum / (1 + fabsf(sum));
    }
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "bagpipes");
    int n = p.small ? 9000 : 7400000, ctas = p.small ? 4 : CTAS;
    std::vector<float> sine(TABLE);
    for (int i = 0; i < TABLE; i++)
        sine[i] = (float)sin(6.283185307179586 * i / TABLE);
    std::vector<Partial> partials(PARTIALS);
    for (int k = 0; k < PARTIALS; k++) {
        double hertz = (k < 16 ? 466.2 : 116.5) * (1 + k % 16);
        partials[k] = {(unsigned)(hertz / 48000 * 4294967296.0), 1.0f / (1 + k % 16)};
    }
    float *d_sine = device_copy_of(sine.data(), TABLE);
    Partial *d_partials = device_copy_of(partials.data(), PARTIALS);
    float *d_sound = device_array<float>(n);
    pair_time(&p, [&] { skirl<<<ctas, BLOCK>>>(d_sine, d_partials, d_sound, n); });
    std::vector<float> sound = host_copy_of(d_sound, n);
    for (int i = 0; i < n; i += p.small ? 7 : 777) {
        double sum = 0;
        for (const Partial &part : partials)
            sum += (double)part.loudness * sine[part.step * (unsigned)i >> 19];
        pair_near(&p, "sound", i, sum / (1 + fabs(sum)), sound[i], 1e-4);
    }
    return pair_end(&p);
}
