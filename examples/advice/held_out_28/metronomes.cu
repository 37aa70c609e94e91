// SPDX-License-Identifier: Apache-2.0
//
// Rule: strength-reduction
// Change: the position within a metronome's period is carried from tick to tick by adding 1 instead of a modulo.
// Why: a modulo by a number that is not known when compiling is about ten instructions, the addition with wrap three.
#include "../common.h"

enum { BLOCK = 256, TICKS = 32 };

struct Metronome {
    unsigned period;  // ticks from beat to beat
    unsigned length;  // of a beat
    unsigned start;   // where in the period tick 0 is
};

// A thread has TICKS ticks in a row: in how many of them do at least two, and at least three, metronomes sound?
__global__ void __launch_bounds__(BLOCK) metronomes(const Metronome *all, int count, uchar2 *together, int spans) {
    int span = blockIdx.x * BLOCK + threadIdx.x;
    if (span >= spans)
        return;
    unsigned one = 0, two = 0, three = 0;  // a bit for each tick
    for (int m = 0; m < count; m++) {
        Metronome metronome = all[m];
        unsigned first = span * TICKS + metronome.start, sounds = 0;
#ifdef AFTER
        unsigned position = first % metronome.period;
#endif
#pragma unroll
        for (int t = 0; t < TICKS; t++) {
#ifndef AFTER
            unsigned position = (first + t) % metronome.period;
#endif
            if (position < metronome.length)
                sounds |= 1u << t;
#ifdef AFTER
            position = position + 1 == metronome.period ? 0 : position + 1;
#endif
        }
        three |= two & sounds;
        two |= one & sounds;
        one |= sounds;
    }
    together[span] = make_uchar2(__popc(two), __popc(three));
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "metronomes");
    int spans = p.small ? 1500 : 700000, count = p.small ? 5 : 14;
    std::vector<Metronome> all(count);
    unsigned seed = 21;
    for (Metronome &m : all) {
        m.period = 40 + lcg_next(&seed, 200);
        m.length = 4 + lcg_next(&seed, 9);
        m.start = lcg_next(&seed, 40);
    }
    Metronome *d_all = device_copy_of(all.data(), count);
    uchar2 *d_together = device_array<uchar2>(spans);
    pair_time(&p, [&] { metronomes<<<(spans + BLOCK - 1) / BLOCK, BLOCK>>>(d_all, count, d_together, spans); });
    std::vector<uchar2> together = host_copy_of(d_together, spans);
    for (int s = 0; s < spans; s += 1 + spans / 2000) {
        int two = 0, three = 0;
        for (int t = 0; t < TICKS; t++) {
            int sounding = 0;
            for (const Metronome &m : all)
                sounding += (unsigned)(s * TICKS + t + m.start) % m.period < m.length;
            two += sounding >= 2;
            three += sounding >= 3;
        }
        pair_near(&p, "two", s, two, together[s].x, 0);
        pair_near(&p, "three", s, three, together[s].y, 0);
    }
    return pair_end(&p);
}
