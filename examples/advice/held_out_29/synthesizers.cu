// SPDX-License-Identifier: Apache-2.0
//
// Rule: code-reordering
// Change: the next sample is loaded into a register before the present one is filtered.
// Why: there are few warps, and the load of a sample would otherwise wait for the filter and the store of the last one.
#include "../common.h"

enum { BLOCK = 128 };

struct Ladder {
    float stage[4];
};

// One sample through four saturating low-pass stages with feedback.
__host__ __device__ inline float ladder_step(Ladder *l, float sample, float cutoff, float resonance) {
    float in = tanhf(sample - resonance * l->stage[3]);
    for (int s = 0; s < 4; s++) {
        l->stage[s] += cutoff * (in - tanhf(l->stage[s]));
        in = tanhf(l->stage[s]);
    }
    return l->stage[3];
}

// One thread is one voice; the samples of all voices at one time are neighbours.
__global__ void ladder(const float *in, const float *cutoff, float *out, int voices, int samples, float resonance) {
    int v = blockIdx.x * BLOCK + threadIdx.x;
    if (v >= voices)
        return;
    float g = cutoff[v];
    Ladder state = {{0, 0, 0, 0}};
#ifdef AFTER
    float next = in[v];
    for (int t = 0; t < samples; t++) {
        float sample = next;
        if (t + 1 < samples)
            next = in[(t + 1) * voices + v];
        out[t * voices + v] = ladder_step(&state, sample, g, resonance);
    }
#else
    for (int t = 0; t < samples; t++) {
        float sample = in[t * voices + v];
        out[t * voices + v] = ladder_step(&state, sample, g, resonance);
    }
#endif
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "synthesizers");
    int voices = p.small ? 1000 : 33000, samples = p.small ? 16 : 400;
    float resonance = 1.8f;
    size_t size = (size_t)voices * samples;
    std::vector<float> in = random_floats(size, -1.5f, 1.5f, 1), cutoff = random_floats(voices, 0.05f, 0.5f, 2);
    float *d_in = device_copy_of(in.data(), size), *d_cutoff = device_copy_of(cutoff.data(), voices);
    float *d_out = device_array<float>(size);
    int blocks = (voices + BLOCK - 1) / BLOCK;
    pair_time(&p, [&] { ladder<<<blocks, BLOCK>>>(d_in, d_cutoff, d_out, voices, samples, resonance); });
    std::vector<float> out = host_copy_of(d_out, size);
    for (int v = 0; v < voices; v += 331) {
        Ladder state = {{0, 0, 0, 0}};
        for (int t = 0; t < samples; t++) {
            size_t at = (size_t)t * voices + v;
            pair_near(&p, "out", at, ladder_step(&state, in[at], cutoff[v], resonance), out[at], 1e-3);
        }
    }
    return pair_end(&p);
}
