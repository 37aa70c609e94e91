// SPDX-License-Identifier: Apache-2.0
//
// Rule: fast-math
// Change: sinf and expf become __sinf and __expf.
// Why: the phase is within half a turn and 16-bit sound needs no more, so the special function unit does for both.
#include "../common.h"

enum { BLOCK = 192, PARTIALS = 20 };

struct Note {
    float hertz, damping, loudness;
};

__constant__ float strength[PARTIALS];

// Additive synthesis of notes: each partial is a sine that dies away, the higher the sooner.
__global__ void synthesise(const Note *notes, float *sound, int samples) {
    int i = blockIdx.x * BLOCK + threadIdx.x;
    if (i >= samples)
        return;
    Note note = notes[blockIdx.y];
    float t = i / 48000.0f, sum = 0;
    for (int k = 0; k < PARTIALS; k++) {
        float turns = (k + 1) * note.hertz * t;
        turns -= rintf(turns);
#ifdef AFTER
        sum += strength[k] * __expf(-note.damping * (k + 1) * t) * __sinf(6.2831853f * turns);
#else
        sum += strength[k] * expf(-note.damping * (k + 1) * t) * sinf(6.2831853f * turns);
#endif
    }
    sound[(size_t)blockIdx.y * samples + i] = note.loudness * sum;
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "bassoons");
    int count = p.small ? 6 : 700, samples = p.small ? 1000 : 9600;
    std::vector<float> hertz = random_floats(count, 58, 240, 1), damping = random_floats(count, 0.5f, 3, 2);
    std::vector<float> loudness = random_floats(count, 0.1f, 0.6f, 3);
    std::vector<Note> notes(count);
    for (int n = 0; n < count; n++)
        notes[n] = {hertz[n], damping[n], loudness[n]};
    float strengths[PARTIALS];
    for (int k = 0; k < PARTIALS; k++)
        strengths[k] = (k % 3 == 1 ? 1.2f : 0.7f) / (k + 1);
    CUDA_CHECK(cudaMemcpyToSymbol(strength, strengths, sizeof strengths));
    Note *d_notes = device_copy_of(notes.data(), count);
    float *d_sound = device_array<float>((size_t)count * samples);
    dim3 grid((samples + BLOCK - 1) / BLOCK, count);
    pair_time(&p, [&] { synthesise<<<grid, BLOCK>>>(d_notes, d_sound, samples); });
    std::vector<float> sound = host_copy_of(d_sound, (size_t)count * samples);
    for (size_t i = 0; i < sound.size(); i += 499) {
        const Note &note = notes[i / samples];
        double t = (double)(i % samples) / 48000, sum = 0;
        for (int k = 0; k < PARTIALS; k++)
            sum += strengths[k] * exp(-note.damping * (k + 1) * t) * sin(6.283185307179586 * (k + 1) * note.hertz * t);
        pair_near(&p, "sound", i, note.loudness * sum, sound[i], 2e-3);
    }
    return pair_end(&p);
}
