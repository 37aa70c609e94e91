// SPDX-License-Identifier: Apache-2.0
//
// Rule: global-coalescing
// Change: the gallery is stored word by word (all first words, then all second ones), no longer person by person.
// Why: each lane reads the code of another person; person by person the lanes are 256 bytes apart and a load of the
// warp touches 32 lines, word by word they read neighbours.
#include "../common.h"

enum { WORDS = 64, TURNS = 3, BLOCK = 128 };  // a code has 2048 bits, as Daugman's

// Iris codes and their masks, 32 bits to a word. A bit of a mask is 0 below eyelids, lashes and reflections.
struct Codes {
    const unsigned *bits, *valid;
};

// Where the gallery holds a word of a person's code, and of the mask.
__host__ __device__ inline size_t place(int who, int word, int people) {
#ifdef AFTER
    return (size_t)word * people + who;
#else
    (void)people;
    return (size_t)who * WORDS + word;
#endif
}

// Fractional Hamming distance of one probe to everybody in the gallery. The head may be tilted: `probe` holds TURNS
// codes, made from the same photo turned by one step each, and the best of them counts.
__global__ void irises(Codes gallery, Codes probe, float *__restrict__ distance, int people) {
    __shared__ uint2 wanted[WORDS][TURNS];
    for (int i = threadIdx.x; i < WORDS * TURNS; i += BLOCK)
        wanted[i % WORDS][i / WORDS] = make_uint2(probe.bits[i], probe.valid[i]);
    __syncthreads();
    const int who = blockIdx.x * BLOCK + threadIdx.x;
    if (who >= people)
        return;
    int seen[TURNS] = {}, differ[TURNS] = {};
    for (int word = 0; word < WORDS; word++) {
        const size_t at = place(who, word, people);
        const unsigned bits = gallery.bits[at], valid = gallery.valid[at];
#pragma unroll
        for (int turn = 0; turn < TURNS; turn++) {
            uint2 other = wanted[word][turn];
            unsigned both = valid & other.y;  // bits that both eyes show, and those of them that differ
            seen[turn] += __popc(both);
            differ[turn] += __popc((bits ^ other.x) & both);
        }
    }
    float best = 1;
    for (int turn = 0; turn < TURNS; turn++)
        if (seen[turn] >= 400)  // fewer bits tell nothing
            best = fminf(best, (float)differ[turn] / seen[turn]);
    distance[who] = best;
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "irises");
    const int people = p.small ? 500 : 600000, enrolled = people / 3;  // the person of the probe

    // Mostly unlike codes; an eyelid hides one run of words of each person.
    const size_t words = (size_t)people * WORDS;
    std::vector<unsigned> bits(words), valid(words), probe_bits(TURNS * WORDS), probe_valid(TURNS * WORDS);
    unsigned seed = 2048;
    for (int who = 0; who < people; who++) {
        int lid = lcg_next(&seed, WORDS), height = lcg_next(&seed, 18);
        for (int word = 0; word < WORDS; word++) {
            seed = seed * 1664525u + 1013904223u;
            bits[place(who, word, people)] = seed ^ seed >> 15;
            valid[place(who, word, people)] = word >= lid && word < lid + height ? ~(0xfff00u << (lid & 7)) : ~0u;
        }
    }
    // The middle photo is that of the enrolled person with some noise; the others are off by a step.
    for (int i = 0; i < TURNS * WORDS; i++) {
        int word = i % WORDS, turn = i / WORDS;
        unsigned noise = 1u << lcg_next(&seed, 32) | 1u << lcg_next(&seed, 32) | 1u << lcg_next(&seed, 32);
        probe_bits[i] = bits[place(enrolled, (word + turn + WORDS - 1) % WORDS, people)] ^ noise;
        probe_valid[i] = word % 9 ? ~0u : 0xffff00ffu;
    }

    Codes gallery = {device_copy_of(bits.data(), words), device_copy_of(valid.data(), words)},
          probe = {device_copy_of(probe_bits.data(), TURNS * WORDS), device_copy_of(probe_valid.data(), TURNS * WORDS)};
    float *d_distance = device_array<float>(people);
    pair_time(&p, [&] { irises<<<(people + BLOCK - 1) / BLOCK, BLOCK>>>(gallery, probe, d_distance, people); });

    std::vector<float> distance = host_copy_of(d_distance, people);
    for (int who = enrolled % 7; who < people; who += p.small ? 7 : 1009) {
        double best = 1;
        for (int turn = 0; turn < TURNS; turn++) {
            int seen = 0, differ = 0;
            for (int i = 0; i < WORDS * 32; i++) {
                size_t at = place(who, i / 32, people), other = turn * WORDS + i / 32;
                if (!(valid[at] >> i % 32 & probe_valid[other] >> i % 32 & 1))
                    continue;
                seen++;
                differ += (bits[at] ^ probe_bits[other]) >> i % 32 & 1;
            }
            if (seen >= 400)
                best = std::min(best, (double)differ / seen);
        }
        pair_near(&p, "distance", who, best, distance[who], 1e-5);
    }
    // The right person is far closer than two eyes ever are by chance.
    pair_near(&p, "found", enrolled, 1, distance[enrolled] < 0.2f, 0);
    return pair_end(&p);
}
