// SPDX-License-Identifier: Apache-2.0
//
// Rule: strength-reduction
// Change: the place in the design is carried from bead to bead (add the step, subtract the length once it is passed).
// Why: a remainder by a number known only at run time is some twenty instructions, and it was computed for every bead.
#include "../common.h"

enum { BLOCK = 128, PITCH = 64 };

// How a bracelet is cut from its design: where it starts, how far it goes for each bead, how many beads it takes.
struct Cut {
    unsigned char start, step;  // both below the length of the design
    unsigned short beads;
};

__host__ __device__ inline unsigned grams_of(unsigned colour) { return 2 + (colour & 7); }

// Weight and changes of colour of all bracelets; a block does those of one design, each thread some of them.
__global__ void string_beads(const unsigned char *designs, const unsigned char *lengths, const Cut *cuts,
                             unsigned *grams, unsigned *changes, int per_design) {
    __shared__ unsigned char design[PITCH];
    if (threadIdx.x < PITCH)
        design[threadIdx.x] = designs[blockIdx.x * PITCH + threadIdx.x];
    __syncthreads();
    unsigned length = lengths[blockIdx.x];
    for (int b = threadIdx.x; b < per_design; b += BLOCK) {
        size_t i = (size_t)blockIdx.x * per_design + b;
        Cut cut = cuts[i];
        unsigned weight = 0, changed = 0, last = design[cut.start];
#ifdef AFTER
        unsigned at = cut.start;
#endif
        for (unsigned k = 0; k < cut.beads; k++) {
#ifdef AFTER
            unsigned colour = design[at];
            at += cut.step;
            if (at >= length)
                at -= length;
#else
            unsigned colour = design[(cut.start + k * cut.step) % length];
#endif
            weight += grams_of(colour);
            changed += colour != last;
            last = colour;
        }
        grams[i] = weight;
        changes[i] = changed;
    }
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "bracelets");
    int design_count = p.small ? 4 : 132 * 32, per_design = p.small ? 128 : 256;
    size_t count = (size_t)design_count * per_design;
    std::vector<unsigned char> designs(design_count * PITCH), lengths(design_count);
    std::vector<Cut> cuts(count);
    lcg_fill(designs.data(), designs.size(), 1, 12);
    unsigned seed = 2;
    for (unsigned char &length : lengths)
        length = 5 + lcg_next(&seed, PITCH - 4);
    for (size_t i = 0; i < count; i++) {
        unsigned length = lengths[i / per_design];
        cuts[i].start = lcg_next(&seed, length);
        cuts[i].step = lcg_next(&seed, length);
        cuts[i].beads = p.small ? 10 + lcg_next(&seed, 20) : 80 + lcg_next(&seed, 60);
    }
    unsigned char *d_designs = device_copy_of(designs.data(), designs.size());
    unsigned char *d_lengths = device_copy_of(lengths.data(), lengths.size());
    Cut *d_cuts = device_copy_of(cuts.data(), count);
    unsigned *d_grams = device_array<unsigned>(count), *d_changes = device_array<unsigned>(count);
    pair_time(&p, [&] {
        string_beads<<<design_count, BLOCK>>>(d_designs, d_lengths, d_cuts, d_grams, d_changes, per_design);
    });
    std::vector<unsigned> grams = host_copy_of(d_grams, count), changes = host_copy_of(d_changes, count);
    for (size_t i = 0; i < count; i += p.small ? 1 : 41) {
        const unsigned char *design = &designs[i / per_design * PITCH];
        unsigned length = lengths[i / per_design], weight = 0, changed = 0, last = design[cuts[i].start];
        for (unsigned k = 0; k < cuts[i].beads; k++) {
            unsigned colour = design[(cuts[i].start + k * cuts[i].step) % length];
            weight += grams_of(colour);
            changed += colour != last;
            last = colour;
        }
        pair_near(&p, "grams", i, weight, grams[i], 0);
        pair_near(&p, "changes", i, changed, changes[i], 0);
    }
    return pair_end(&p);
}
