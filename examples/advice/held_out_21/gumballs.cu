// SPDX-License-Identifier: Apache-2.0
//
// Rule: atomic-contention
// Change: a block has eight copies of its sums, and the threads of a warp spread over them.
// Why: with ten colours, several threads of each warp add to the same word of shared memory, one after the other.
#include "../common.h"

enum { BLOCK = 256, COLOURS = 10 };

#ifdef AFTER
enum { COPIES = 8 };
#else
enum { COPIES = 1 };
#endif

// Gumball machines are emptied and sorted: the mass of each colour, and its largest gumball, in each machine. The
// balls of a machine lie one after the other; one block per machine.
__global__ void sort_balls(const unsigned char *colours, const unsigned short *masses, unsigned *sums,
                           unsigned *largest, int each) {
    __shared__ unsigned sum[COLOURS * COPIES], most[COLOURS * COPIES];
    for (int k = threadIdx.x; k < COLOURS * COPIES; k += BLOCK)
        sum[k] = most[k] = 0;
    __syncthreads();
    int copy = threadIdx.x % COPIES;
    size_t base = (size_t)blockIdx.x * each;
    for (int k = threadIdx.x; k < each; k += BLOCK) {
        int at = colours[base + k] * COPIES + copy;
        unsigned mass = masses[base + k];
        atomicAdd(&sum[at], mass);
        atomicMax(&most[at], mass);
    }
    __syncthreads();
    if (threadIdx.x < COLOURS) {
        unsigned total = 0, top = 0;
        for (int c = 0; c < COPIES; c++) {
            total += sum[threadIdx.x * COPIES + c];
            top = max(top, most[threadIdx.x * COPIES + c]);
        }
        sums[blockIdx.x * COLOURS + threadIdx.x] = total;
        largest[blockIdx.x * COLOURS + threadIdx.x] = top;
    }
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "gumballs");
    int machines = p.small ? 8 : 132 * 16, each = p.small ? 900 : 8000;
    size_t n = (size_t)machines * each;
    std::vector<unsigned char> colours(n);
    std::vector<unsigned short> masses(n);
    unsigned seed = 1;
    for (size_t i = 0; i < n; i++) {
        unsigned r = lcg_next(&seed, 1 << 24);
        colours[i] = (unsigned char)std::min(r % COLOURS, r / 16 % COLOURS);  // the first colours are the commonest
        masses[i] = (unsigned short)(300 + r / 4096 % 900);
    }
    unsigned char *d_colours = device_copy_of(colours.data(), n);
    unsigned short *d_masses = device_copy_of(masses.data(), n);
    unsigned *d_sums = device_array<unsigned>(machines * COLOURS),
             *d_largest = device_array<unsigned>(machines * COLOURS);
    pair_time(&p, [&] { sort_balls<<<machines, BLOCK>>>(d_colours, d_masses, d_sums, d_largest, each); });
    std::vector<unsigned> sums = host_copy_of(d_sums, machines * COLOURS),
                          largest = host_copy_of(d_largest, machines * COLOURS);
    for (int m = 0; m < machines; m += p.small ? 1 : 5) {
        unsigned sum[COLOURS] = {0}, most[COLOURS] = {0};
        for (size_t i = (size_t)m * each; i < (size_t)(m + 1) * each; i++) {
            sum[colours[i]] += masses[i];
            most[colours[i]] = std::max(most[colours[i]], (unsigned)masses[i]);
        }
        for (int c = 0; c < COLOURS; c++) {
            pair_near(&p, "sum", (size_t)m * COLOURS + c, sum[c], sums[m * COLOURS + c], 1e-12);
            pair_near(&p, "largest", (size_t)m * COLOURS + c, most[c], largest[m * COLOURS + c], 1e-12);
        }
    }
    return pair_end(&p);
}
