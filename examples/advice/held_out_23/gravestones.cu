// SPDX-License-Identifier: Apache-2.0
//
// Rule: async-copy
// Change: the next tile of the scan is copied into shared memory asynchronously while the current one is worked on.
// Why: one block is on an SM; while it waits for its tile nothing else runs, and that is as long as the work on it.
#include "../common.h"

#include <cuda_pipeline.h>

enum { TRACES = 256, REACH = 4, ROWS = 16, SPAN = TRACES + 2 * REACH, QUADS = SPAN / 4 };

#ifdef AFTER
enum { BUFFERS = 2 };
#else
enum { BUFFERS = 1 };
#endif

__device__ inline void fetch(float4 *tile, const float *scan, size_t pitch) {
    for (int i = threadIdx.x; i < ROWS * QUADS; i += TRACES) {
        const float *from = scan + i / QUADS * pitch + i % QUADS * 4;
#ifdef AFTER
        __pipeline_memcpy_async(&tile[i], from, sizeof(float4));
#else
        tile[i] = *(const float4 *)from;
#endif
    }
}

// Ground radar over a churchyard: for each trace, how strong its strongest echo is, and how deep. What all neighbours
// see as well (the air, the topsoil) is taken off; echoes fade with depth.
__global__ void __launch_bounds__(TRACES)
    echoes(const float *scan, float *strongest, int *depth, size_t pitch, int rows, float fade) {
    __shared__ float4 tile[BUFFERS][ROWS * QUADS];
    const float *strip = scan + blockIdx.x * TRACES;
    float energy = 0, gain = 1, best = -1;
    int where = 0;
#ifdef AFTER
    fetch(tile[0], strip, pitch);
    __pipeline_commit();
#endif
    for (int top = 0; top < rows; top += ROWS) {
#ifdef AFTER
        if (top + ROWS < rows)
            fetch(tile[(top / ROWS + 1) % BUFFERS], strip + (top + ROWS) * pitch, pitch);
        __pipeline_commit();
        __pipeline_wait_prior(1);
#else
        fetch(tile[0], strip + top * pitch, pitch);
#endif
        __syncthreads();
        const float *ground = (const float *)tile[top / ROWS % BUFFERS] + threadIdx.x;
        for (int r = 0; r < ROWS; r++, ground += SPAN) {
            float around = 0;
            for (int k = 0; k <= 2 * REACH; k++)
                around += ground[k];
            float own = (ground[REACH] - around * (1.0f / (2 * REACH + 1))) * gain;
            energy = 0.9f * energy + own * own;
            gain += fade;
            if (energy > best) {
                best = energy;
                where = top + r;
            }
        }
        __syncthreads();
    }
    strongest[blockIdx.x * TRACES + threadIdx.x] = best;
    depth[blockIdx.x * TRACES + threadIdx.x] = where;
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "gravestones");
    int blocks = p.small ? 12 : 132, rows = p.small ? 64 : 1920, width = blocks * TRACES;
    size_t pitch = width + 2 * REACH;
    float fade = 1.0f / 2048;
    std::vector<float> scan = random_floats(pitch * rows, -1, 1, 1);
    float *d_scan = device_copy_of(scan.data(), scan.size()), *d_strongest = device_array<float>(width);
    int *d_depth = device_array<int>(width);
    pair_time(&p, [&] { echoes<<<blocks, TRACES>>>(d_scan, d_strongest, d_depth, pitch, rows, fade); });
    std::vector<float> strongest = host_copy_of(d_strongest, width);
    std::vector<int> depth = host_copy_of(d_depth, width);
    std::vector<double> energies(rows);
    for (int i = 0; i < width; i += p.small ? 1 : 61) {
        double energy = 0, best = -1;
        for (int r = 0; r < rows; r++) {
            const float *ground = &scan[r * pitch + i];
            double around = 0;
            for (int k = 0; k <= 2 * REACH; k++)
                around += ground[k];
            double own = (ground[REACH] - around / (2 * REACH + 1)) * (1 + r * (double)fade);
            energy = 0.9 * energy + own * own;
            energies[r] = energy;
            best = std::max(best, energy);
        }
        bool inside = depth[i] >= 0 && depth[i] < rows;
        pair_near(&p, "strongest", i, best, strongest[i], 1e-4);
        pair_near(&p, "depth", i, best, inside ? energies[depth[i]] : -1, 1e-4);
    }
    return pair_end(&p);
}
