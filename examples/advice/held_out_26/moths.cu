// SPDX-License-Identifier: Apache-2.0
//
// Rule: divergence
// Change: a thread that is done with a moth takes its next one at once, in the same loop, instead of in a loop outside.
// Why: some moths need 200 steps and some 10; with a loop in a loop a warp waits at each moth for its slowest thread.
#include "../common.h"

struct Moth {
    int x, y;       // from the lamp
    unsigned dice;  // each moth has its own
    int calm;       // the larger, the less it turns to the lamp in a step
};

enum { BLOCK = 128, NEAR = 4096 };

static __host__ __device__ void fly(Moth &m) {
    m.dice = m.dice * 1664525u + 1013904223u;
    int x = m.x - (m.x >> m.calm) - (m.y >> m.calm) + (int)(m.dice >> 24) - 128;
    m.y = m.y - (m.y >> m.calm) + (m.x >> m.calm) + (int)(m.dice >> 16 & 255) - 128;
    m.x = x;
}

static __host__ __device__ bool at_lamp(const Moth &m) { return abs(m.x) + abs(m.y) < NEAR; }

// How many steps each moth flies until it is at the lamp (or loses patience).
__global__ void __launch_bounds__(BLOCK) count_steps(const Moth *start, int *result, int moths, int patience) {
    const int threads = gridDim.x * BLOCK;
    int i = blockIdx.x * BLOCK + threadIdx.x;
#ifdef AFTER
    Moth m = {};
    int steps = 0;
    if (i < moths)
        m = start[i];
    while (__any_sync(~0u, i < moths)) {
        if (i < moths) {
            fly(m);
            steps++;
            if (at_lamp(m) || steps == patience) {
                result[i] = steps;
                steps = 0;
                i += threads;
                if (i < moths)
                    m = start[i];
            }
        }
    }
#else
    for (; i < moths; i += threads) {
        Moth m = start[i];
        int steps = 0;
        do {
            fly(m);
            steps++;
        } while (!at_lamp(m) && steps < patience);
        result[i] = steps;
    }
#endif
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "moths");
    int each = p.small ? 8 : 16, blocks = p.small ? 1 : 132 * 8, moths = blocks * BLOCK * each - 5, patience = 1000;
    unsigned seed = 7;
    std::vector<Moth> start(moths);
    for (Moth &m : start) {
        int far = 1 << (14 + lcg_next(&seed, 8));
        m.x = (lcg_next(&seed, 2) ? 1 : -1) * (far + (int)lcg_next(&seed, far));
        m.y = (int)lcg_next(&seed, 2 * far) - far;
        m.dice = lcg_next(&seed, 1 << 24);
        m.calm = 3 + lcg_next(&seed, p.small ? 4 : 5);
    }
    Moth *d_start = device_copy_of(start.data(), moths);
    int *d_result = device_array<int>(moths);
    pair_time(&p, [&] { count_steps<<<blocks, BLOCK>>>(d_start, d_result, moths, patience); });
    std::vector<int> result = host_copy_of(d_result, moths);
    for (int i = 0; i < moths; i += p.small ? 1 : 97) {
        Moth m = start[i];
        int steps = 0;
        do {
            fly(m);
            steps++;
        } while (!at_lamp(m) && steps < patience);
        pair_near(&p, "steps", i, steps, result[i], 0);
    }
    return pair_end(&p);
}
