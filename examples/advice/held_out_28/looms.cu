// SPDX-License-Identifier: Apache-2.0
//
// Rule: async-copy
// Change: cp.async fetches each tile into shared memory three tiles ahead; before, it went through registers when due.
// Why: the block waited for global memory once per tile with nothing else to do.
#include "../common.h"

#include <cuda_pipeline.h>

enum { BLOCK = 256, TILE = 4 * BLOCK, BACK = 8, VECTORS = (BACK + TILE) / 4 };
#ifdef AFTER
enum { BUFFERS = 4 };
#else
enum { BUFFERS = 1 };
#endif

struct Faults {
    int thin, thick;
};

// One tile and the BACK samples before it.
__device__ void fetch(float4 *tile, const float4 *yarn) {
    int t = threadIdx.x;
#ifdef AFTER
    __pipeline_memcpy_async(&tile[t], &yarn[t], sizeof(float4));
    if (t < VECTORS - BLOCK)
        __pipeline_memcpy_async(&tile[BLOCK + t], &yarn[BLOCK + t], sizeof(float4));
#else
    float4 own = yarn[t], rest = own;
    if (t < VECTORS - BLOCK)
        rest = yarn[BLOCK + t];
    tile[t] = own;
    if (t < VECTORS - BLOCK)
        tile[BLOCK + t] = rest;
#endif
}

// Evenness test of yarn: a block per loom goes along the thickness readings (micrometres) of its yarn and counts thin
// stretches (mean of nine readings below the limit) and thick places (a reading 40 % above that mean).
__global__ void __launch_bounds__(BLOCK) yarn_faults(const float *readings, Faults *faults, int samples, float limit) {
    __shared__ float4 buffer[BUFFERS][VECTORS];
    __shared__ Faults sum;
    const float4 *yarn = (const float4 *)(readings + (size_t)blockIdx.x * (BACK + samples));
    int tiles = samples / TILE, thin = 0, thick = 0;
    if (threadIdx.x == 0)
        sum.thin = sum.thick = 0;
#ifdef AFTER
    for (int s = 0; s < BUFFERS - 1; s++) {
        if (s < tiles)
            fetch(buffer[s], yarn + s * BLOCK);
        __pipeline_commit();
    }
#endif
    for (int k = 0; k < tiles; k++) {
#ifdef AFTER
        int ahead = k + BUFFERS - 1;
        if (ahead < tiles)
            fetch(buffer[ahead % BUFFERS], yarn + ahead * BLOCK);
        __pipeline_commit();
        __pipeline_wait_prior(BUFFERS - 1);
#else
        fetch(buffer[0], yarn + k * BLOCK);
#endif
        __syncthreads();
        const float4 *tile = buffer[k % BUFFERS];
        float4 a = tile[threadIdx.x], b = tile[threadIdx.x + 1], c = tile[threadIdx.x + 2];
        float nine = a.x + a.y + a.z + a.w + b.x + b.y + b.z + b.w + c.x;
        thin += nine < limit;
        thick += 45 * c.x > 7 * nine;
        nine += c.y - a.x;
        thin += nine < limit;
        thick += 45 * c.y > 7 * nine;
        nine += c.z - a.y;
        thin += nine < limit;
        thick += 45 * c.z > 7 * nine;
        nine += c.w - a.z;
        thin += nine < limit;
        thick += 45 * c.w > 7 * nine;
        __syncthreads();
    }
    thin = __reduce_add_sync(~0u, thin);
    thick = __reduce_add_sync(~0u, thick);
    if (threadIdx.x % 32 == 0) {
        atomicAdd(&sum.thin, thin);
        atomicAdd(&sum.thick, thick);
    }
    __syncthreads();
    if (threadIdx.x == 0)
        faults[blockIdx.x] = sum;
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "looms");
    int looms = p.small ? 3 : 264, samples = TILE * (p.small ? 7 : 120);
    size_t pitch = BACK + samples;
    std::vector<float> readings(looms * pitch);
    unsigned seed = 3;
    for (float &r : readings)
        r = 200.0f + lcg_next(&seed, 128) + lcg_next(&seed, 128);
    float limit = 9 * 280.0f;
    float *d_readings = device_copy_of(readings.data(), readings.size());
    Faults *d_faults = device_array<Faults>(looms);
    pair_time(&p, [&] { yarn_faults<<<looms, BLOCK>>>(d_readings, d_faults, samples, limit); });
    std::vector<Faults> faults = host_copy_of(d_faults, looms);
    for (int l = 0; l < looms; l += p.small ? 1 : 37) {
        int thin = 0, thick = 0;
        for (int i = BACK; i < BACK + samples; i++) {
            const float *r = &readings[l * pitch + i];
            float nine = 0;
            for (int k = 0; k <= BACK; k++)
                nine += r[-k];
            thin += nine < limit;
            thick += 45 * r[0] > 7 * nine;
        }
        pair_near(&p, "thin", l, thin, faults[l].thin, 0);
        pair_near(&p, "thick", l, thick, faults[l].thick, 0);
    }
    return pair_end(&p);
}
