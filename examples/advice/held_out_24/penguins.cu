// SPDX-License-Identifier: Apache-2.0
//
// Rule: atomic-contention
// Change: each block tallies its dives in shared memory and adds its tallies to those of all blocks at its end.
// Why: three atomic operations for every dive of the whole record meet on the few cells of a small table.
#include "../common.h"

enum { BLOCK = 1024, COLONIES = 200 };

struct Colony {
    unsigned dives, seconds, deepest;
};

__device__ inline void log_dive(Colony *colony, unsigned seconds, unsigned depth) {
    atomicAdd(&colony->dives, 1u);
    atomicAdd(&colony->seconds, seconds);
    atomicMax(&colony->deepest, depth);
}

// All dives that the loggers recorded, by the colony of the penguin; a penguin that only swam near the surface did not
// dive. `total` must be zero.
__global__ void tally_dives(const unsigned char *__restrict__ colony, const unsigned short *__restrict__ seconds,
                            const unsigned short *__restrict__ decimetres, Colony *total, int n) {
#ifdef AFTER
    __shared__ Colony here[COLONIES];
    for (int c = threadIdx.x; c < COLONIES; c += BLOCK)
        here[c].dives = here[c].seconds = here[c].deepest = 0;
    __syncthreads();
#else
    Colony *here = total;
#endif
    for (int i = blockIdx.x * BLOCK + threadIdx.x; i < n; i += gridDim.x * BLOCK) {
        unsigned depth = decimetres[i];
        if (depth >= 30)
            log_dive(&here[colony[i]], seconds[i], depth);
    }
#ifdef AFTER
    __syncthreads();
    for (int c = threadIdx.x; c < COLONIES; c += BLOCK) {
        atomicAdd(&total[c].dives, here[c].dives);
        atomicAdd(&total[c].seconds, here[c].seconds);
        atomicMax(&total[c].deepest, here[c].deepest);
    }
#endif
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "penguins");
    int n = p.small ? 12000 : 8000000, blocks = p.small ? 4 : 264;
    std::vector<unsigned char> colony(n);
    std::vector<unsigned short> seconds(n), decimetres(n);
    unsigned seed = 1;
    for (unsigned char &c : colony) {  // small numbers are large colonies
        unsigned a = lcg_next(&seed, COLONIES), b = lcg_next(&seed, COLONIES);
        c = std::min(a, b);
    }
    lcg_fill(seconds.data(), n, 2, 700);
    lcg_fill(decimetres.data(), n, 3, 5000);
    for (int i = 0; i < n; i++)  // deep dives are rare
        decimetres[i] = (unsigned)decimetres[i] * seconds[i] / 700;
    unsigned char *d_colony = device_copy_of(colony.data(), n);
    unsigned short *d_seconds = device_copy_of(seconds.data(), n), *d_depth = device_copy_of(decimetres.data(), n);
    Colony *d_total = device_array<Colony>(COLONIES);
    pair_time(&p, [&] {
        CUDA_CHECK(cudaMemsetAsync(d_total, 0, COLONIES * sizeof(Colony)));
        tally_dives<<<blocks, BLOCK>>>(d_colony, d_seconds, d_depth, d_total, n);
    });
    std::vector<Colony> total = host_copy_of(d_total, COLONIES);
    std::vector<Colony> want(COLONIES, Colony{0, 0, 0});
    for (int i = 0; i < n; i++) {
        if (decimetres[i] < 30)
            continue;
        Colony &w = want[colony[i]];
        w.dives++;
        w.seconds += seconds[i];
        w.deepest = std::max<unsigned>(w.deepest, decimetres[i]);
    }
    for (int c = 0; c < COLONIES; c++) {
        pair_near(&p, "dives", c, want[c].dives, total[c].dives, 0);
        pair_near(&p, "seconds", c, want[c].seconds, total[c].seconds, 0);
        pair_near(&p, "deepest", c, want[c].deepest, total[c].deepest, 0);
    }
    return pair_end(&p);
}
