// SPDX-License-Identifier: Apache-2.0
//
// Rule: strength-reduction
// Change: the place in a loop is found with a mask, not with the remainder of a division.
// Why: all loops are powers of two long, which the compiler cannot know; a division by a length that it does not know
// is some twenty instructions with conversions and a reciprocal, for one multiplication and addition of sound.
#include "../common.h"

#ifdef AFTER
#define AROUND(at, length) ((at) & ((length) - 1))
#else
#define AROUND(at, length) ((at) % (length))
#endif

enum { BLOCK = 256, MOST = 64 };

struct Note {
    unsigned start, length;  // of its loop in the store of waves; the length is a power of two
    unsigned phase, step;
    float left, right;
};

__constant__ Note notes[MOST];

// The sound of a section of violins that hold their notes: each note goes round in its own loop.
__global__ void hold(const float *waves, float2 *sound, unsigned samples, int count) {
    unsigned t = blockIdx.x * BLOCK + threadIdx.x;
    if (t >= samples)
        return;
    float left = 0, right = 0;
    for (int k = 0; k < count; k++) {
        const Note &note = notes[k];
        unsigned at = AROUND(note.phase + t * note.step, note.length);
        float wave = waves[note.start + at];
        left += note.left * wave;
        right += note.right * wave;
    }
    sound[t] = make_float2(left, right);
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "violins");
    unsigned samples = p.small ? 8192 : 132 * 2048 * 16, stored = 0, seed = 7;
    int count = p.small ? 7 : 48;
    std::vector<float> gain = random_floats(2 * MOST, 0, 1, 1);
    Note host[MOST];
    for (int k = 0; k < MOST; k++) {
        host[k] = {stored, 64u << k % 5, lcg_next(&seed, 64), 1u + k % 3, gain[2 * k], gain[2 * k + 1]};
        stored += host[k].length;
    }
    CUDA_CHECK(cudaMemcpyToSymbol(notes, host, sizeof host));
    std::vector<float> waves = random_floats(stored, -1, 1, 2);
    float *d_waves = device_copy_of(waves.data(), stored);
    float2 *d_sound = device_array<float2>(samples);
    pair_time(&p, [&] { hold<<<(samples + BLOCK - 1) / BLOCK, BLOCK>>>(d_waves, d_sound, samples, count); });
    std::vector<float2> sound = host_copy_of(d_sound, samples);
    for (unsigned t = 0; t < samples; t += p.small ? 1 : 61) {
        double left = 0, right = 0;
        for (int k = 0; k < count; k++) {
            double wave = waves[host[k].start + (host[k].phase + t * host[k].step) % host[k].length];
            left += host[k].left * wave;
            right += host[k].right * wave;
        }
        pair_near(&p, "left", t, left, sound[t].x, 1e-4);
        pair_near(&p, "right", t, right, sound[t].y, 1e-4);
    }
    return pair_end(&p);
}
