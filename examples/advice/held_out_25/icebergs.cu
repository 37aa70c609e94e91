// SPDX-License-Identifier: Apache-2.0
//
// Rule: async-copy
// Change: the currents of the next day are copied asynchronously while the icebergs drift through the current one.
// Why: all threads of a block wait for the map of the day before any of them can go on.
#include "../common.h"
#include <cooperative_groups.h>
#include <cooperative_groups/memcpy_async.h>
#include <cuda/barrier>

namespace cg = cooperative_groups;

enum { SIDE = 32, CELLS = SIDE * SIDE, BLOCK = 128, STEPS = 6 };

struct Iceberg {
    float x, y, mass;
};

// A day of an iceberg in the currents of a sea, between whose points it is interpolated.
static __host__ __device__ void drift(const float2 *currents, Iceberg *b) {
    for (int s = 0; s < STEPS; s++) {
        int column = (int)b->x, row = (int)b->y;
        float fx = b->x - column, fy = b->y - row;
        const float2 *at = currents + row * SIDE + column;
        float2 a = at[0], c = at[1], d = at[SIDE], e = at[SIDE + 1];
        float u = (1 - fy) * ((1 - fx) * a.x + fx * c.x) + fy * ((1 - fx) * d.x + fx * e.x);
        float v = (1 - fy) * ((1 - fx) * a.y + fx * c.y) + fy * ((1 - fx) * d.y + fx * e.y);
        b->x = fminf(fmaxf(b->x + u, 0.0f), SIDE - 1.001f);
        b->y = fminf(fmaxf(b->y + v, 0.0f), SIDE - 1.001f);
        b->mass -= b->mass * 4.0f * (u * u + v * v);  // melts where the water is fast
    }
}

// Lets the icebergs of a sea drift for some days; one block per sea, one thread per iceberg.
__global__ void __launch_bounds__(BLOCK) drift_days(const float2 *maps, Iceberg *icebergs, Iceberg *drifted, int days) {
    cg::thread_block block = cg::this_thread_block();
    const float2 *map = maps + (size_t)blockIdx.x * days * CELLS;
    Iceberg own = icebergs[blockIdx.x * BLOCK + threadIdx.x];
#ifdef AFTER
    __shared__ __align__(16) float2 currents[2][CELLS];
    const cuda::aligned_size_t<16> bytes(sizeof currents[0]);
    cg::memcpy_async(block, currents[0], map, bytes);
    for (int day = 0; day < days; day++) {
        if (day + 1 < days) {
            cg::memcpy_async(block, currents[(day + 1) % 2], map + (size_t)(day + 1) * CELLS, bytes);
            cg::wait_prior<1>(block);
        } else {
            cg::wait(block);
        }
        drift(currents[day % 2], &own);
        block.sync();
    }
#else
    __shared__ __align__(16) float2 currents[CELLS];
    for (int day = 0; day < days; day++) {
        const float4 *from = (const float4 *)(map + (size_t)day * CELLS);
        for (int i = threadIdx.x; i < CELLS / 2; i += BLOCK)
            ((float4 *)currents)[i] = from[i];
        block.sync();
        drift(currents, &own);
        block.sync();
    }
#endif
    drifted[blockIdx.x * BLOCK + threadIdx.x] = own;
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "icebergs");
    int seas = p.small ? 2 : 264, days = p.small ? 4 : 60, count = seas * BLOCK;
    std::vector<float> values = random_floats((size_t)seas * days * CELLS * 2, -0.02f, 0.02f, 6);
    std::vector<float> places = random_floats(2 * count, 0, SIDE - 1.01f, 7);
    std::vector<Iceberg> icebergs(count);
    for (int i = 0; i < count; i++)
        icebergs[i] = {places[2 * i], places[2 * i + 1], 1.0f + i % 9};
    const float2 *maps = (const float2 *)values.data();
    float2 *d_maps = device_copy_of(maps, values.size() / 2);
    Iceberg *d_icebergs = device_copy_of(icebergs.data(), count), *d_drifted = device_array<Iceberg>(count);
    pair_time(&p, [&] { drift_days<<<seas, BLOCK>>>(d_maps, d_icebergs, d_drifted, days); });
    std::vector<Iceberg> drifted = host_copy_of(d_drifted, count);
    for (int i = 0; i < count; i += p.small ? 1 : 23) {
        Iceberg b = icebergs[i];
        for (int day = 0; day < days; day++)
            drift(maps + ((size_t)(i / BLOCK) * days + day) * CELLS, &b);
        pair_near(&p, "x", i, b.x, drifted[i].x, 2e-3);
        pair_near(&p, "y", i, b.y, drifted[i].y, 2e-3);
        pair_near(&p, "mass", i, b.mass, drifted[i].mass, 2e-3);
    }
    return pair_end(&p);
}
