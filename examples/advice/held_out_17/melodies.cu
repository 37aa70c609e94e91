// SPDX-License-Identifier: Apache-2.0
//
// Rule: tail-effect
// Change: 264 blocks instead of 280 share the melodies.
// Why: two blocks, with the table of notes in shared memory, fit on each of 132 multiprocessors; 16 have to wait.
#include "../common.h"

enum { BLOCK = 256, NOTES = 192, CHOICES = 128, LENGTH = 48 };

static __host__ __device__ unsigned stir(unsigned state) {
    state ^= state << 13;
    state ^= state >> 17;
    return state ^ (state << 5);
}

// Melodies by chance: which note may follow which is in the table, with how pleasant that is. Says how each one fares.
__global__ void __launch_bounds__(BLOCK)
    compose(const unsigned *table, unsigned seed, unsigned *pleasure, unsigned *endings, int count) {
    extern __shared__ unsigned chances[];
    for (int i = threadIdx.x; i < NOTES * CHOICES; i += BLOCK)
        chances[i] = table[i];
    __syncthreads();
    for (int m = blockIdx.x * BLOCK + threadIdx.x; m < count; m += gridDim.x * BLOCK) {
        unsigned state = (m + 1) * 2654435761u ^ seed, note = m % NOTES, sum = 0;
        for (int k = 0; k < LENGTH; k++) {
            state = stir(state);
            unsigned entry = chances[note * CHOICES + (state + sum) % CHOICES];
            note = entry & 255;
            sum += entry >> 8;
        }
        pleasure[m] = sum;
        endings[m] = note;
    }
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "melodies");
    int n = p.small ? 2048 : 280 * BLOCK * 64;
#ifdef AFTER
    int blocks = p.small ? 4 : 264;
#else
    int blocks = p.small ? 4 : 280;
#endif
    std::vector<unsigned> table(NOTES * CHOICES);
    unsigned seed = 1;
    for (unsigned &t : table)
        t = lcg_next(&seed, NOTES) | lcg_next(&seed, 1000) << 8;
    unsigned *d_table = device_copy_of(table.data(), table.size()), *d_pleasure = device_array<unsigned>(n),
             *d_endings = device_array<unsigned>(n);
    size_t shared = table.size() * sizeof(unsigned);
    CUDA_CHECK(cudaFuncSetAttribute(compose, cudaFuncAttributeMaxDynamicSharedMemorySize, (int)shared));
    pair_time(&p, [&] { compose<<<blocks, BLOCK, shared>>>(d_table, 12345, d_pleasure, d_endings, n); });
    std::vector<unsigned> pleasure = host_copy_of(d_pleasure, n), endings = host_copy_of(d_endings, n);
    for (int m = 0; m < n; m += p.small ? 3 : 97) {
        unsigned state = (m + 1) * 2654435761u ^ 12345u, note = m % NOTES, sum = 0;
        for (int k = 0; k < LENGTH; k++) {
            state = stir(state);
            unsigned entry = table[note * CHOICES + (state + sum) % CHOICES];
            note = entry & 255;
            sum += entry >> 8;
        }
        pair_near(&p, "pleasure", m, sum, pleasure[m], 0);
        pair_near(&p, "ending", m, note, endings[m], 0);
    }
    return pair_end(&p);
}
