// SPDX-License-Identifier: Apache-2.0
//
// Rule: strength-reduction
// Change: the two places in the ring buffer are counters that return to 0, not remainders of the step.
// Why: the remainder by a length that is different in each thread takes about twenty instructions, twice in each step.
#include "../common.h"

enum { BLOCK = 128, LONGEST = 64 };

struct Note {
    float loudness, last;
};

// Plays many trumpets, one in each thread: a wave runs around in a tube of `lengths[i]` samples.
__global__ void __launch_bounds__(BLOCK)
    blow(const unsigned char *__restrict__ lengths, const float2 *__restrict__ players, Note *__restrict__ notes,
         unsigned steps) {
    __shared__ float tube[LONGEST][BLOCK];
    unsigned i = blockIdx.x * BLOCK + threadIdx.x, length = lengths[i];
    float breath = players[i].x, lips = players[i].y, bell = 0, loudness = 0;
    for (unsigned k = 0; k < length; k++)
        tube[k][threadIdx.x] = 0.01f * k;
#ifdef AFTER
    unsigned mouth = 0, valve = length / 2;
#endif
    for (unsigned step = 0; step < steps; step++) {
#ifndef AFTER
        unsigned mouth = step % length, valve = (step + length / 2) % length;
#endif
        float back = tube[mouth][threadIdx.x], middle = tube[valve][threadIdx.x];
        bell = 0.6f * bell + 0.4f * back;
        tube[mouth][threadIdx.x] = 0.6f * bell + breath * fmaxf(0.0f, 1 - lips * back);
        loudness += middle * middle;
#ifdef AFTER
        if (++mouth == length)
            mouth = 0;
        if (++valve == length)
            valve = 0;
#endif
    }
    notes[i] = {loudness, bell};
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "trumpets");
    int n = p.small ? 2 * BLOCK : 132 * 12 * BLOCK;
    unsigned steps = p.small ? 100 : 500;
    std::vector<unsigned char> lengths(n);
    lcg_fill(lengths.data(), n, 1, LONGEST / 2);
    std::vector<float> breath = random_floats(n, 0.1f, 0.3f, 2), lips = random_floats(n, 0.2f, 0.9f, 3);
    std::vector<float2> players(n);
    for (int i = 0; i < n; i++) {
        lengths[i] += LONGEST / 2 + 1;
        players[i] = make_float2(breath[i], lips[i]);
    }
    unsigned char *d_lengths = device_copy_of(lengths.data(), n);
    float2 *d_players = device_copy_of(players.data(), n);
    Note *d_notes = device_array<Note>(n);
    pair_time(&p, [&] { blow<<<n / BLOCK, BLOCK>>>(d_lengths, d_players, d_notes, steps); });
    std::vector<Note> notes = host_copy_of(d_notes, n);
    for (int i = 0; i < n; i += p.small ? 1 : 101) {
        double tube[LONGEST], bell = 0, loudness = 0;
        for (int k = 0; k < lengths[i]; k++)
            tube[k] = 0.01 * k;
        for (unsigned step = 0; step < steps; step++) {
            double &back = tube[step % lengths[i]], middle = tube[(step + lengths[i] / 2) % lengths[i]];
            bell = 0.6 * bell + 0.4 * back;
            back = 0.6 * bell + breath[i] * std::max(0.0, 1 - lips[i] * back);
            loudness += middle * middle;
        }
        pair_near(&p, "loudness", i, loudness, notes[i].loudness, 1e-3);
        pair_near(&p, "last", i, bell, notes[i].last, 1e-3);
    }
    return pair_end(&p);
}
