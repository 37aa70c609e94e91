// SPDX-License-Identifier: Apache-2.0
//
// Rule: loop-unrolling
// Change: the length of the motif is known to the compiler, which unrolls the loop over it.
// Why: each base takes few instructions, to which come those of the loop and of computing places in the matrix.
#include "../common.h"

enum { BLOCK = 256, LONGEST = 32 };

#ifdef AFTER
#define LENGTH 17
#else
#define LENGTH length
#endif

// How well a protein binds at each place of a chromosome, on the better of the two strands: the motif says what each
// base adds at each of its places.
__global__ void binding_sites(const unsigned char *bases, const float *motif, float *scores, int length) {
    __shared__ float weights[LONGEST * 4];
    if (threadIdx.x < LENGTH * 4)
        weights[threadIdx.x] = motif[threadIdx.x];
    __syncthreads();
    int i = blockIdx.x * BLOCK + threadIdx.x;
    float forward = 0, backward = 0;
    for (int k = 0; k < LENGTH; k++) {
        int base = bases[i + k];
        forward += weights[k * 4 + base];
        backward += weights[(LENGTH - 1 - k) * 4 + 3 - base];
    }
    scores[i] = fmaxf(forward, backward);
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "binding_sites");
    int n = p.small ? 1 << 13 : 1 << 23, length = 17;
    std::vector<unsigned char> bases(n + LONGEST);
    lcg_fill(bases.data(), bases.size(), 1, 4);
    std::vector<float> motif = random_floats(LONGEST * 4, -3, 2, 2);
    unsigned char *d_bases = device_copy_of(bases.data(), bases.size());
    float *d_motif = device_copy_of(motif.data(), motif.size()), *d_scores = device_array<float>(n);
    pair_time(&p, [&] { binding_sites<<<n / BLOCK, BLOCK>>>(d_bases, d_motif, d_scores, length); });
    std::vector<float> scores = host_copy_of(d_scores, n);
    for (int i = 0; i < n; i += 113) {
        double forward = 0, backward = 0;
        for (int k = 0; k < length; k++) {
            forward += motif[k * 4 + bases[i + k]];
            backward += motif[(length - 1 - k) * 4 + 3 - bases[i + k]];
        }
        pair_near(&p, "score", i, std::max(forward, backward), scores[i], 1e-4);
    }
    return pair_end(&p);
}
