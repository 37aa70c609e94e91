// SPDX-License-Identifier: Apache-2.0
//
// Rule: async-copy
// Change: the next rows of the picture go to shared memory by asynchronous copies, not through registers.
// Why: a store to shared memory needs the loaded value, so every thread waits for the memory before it may examine
//      the rows that are there already; the asynchronous copy runs while it does so.
#include "../common.h"

#include <cuda_pipeline.h>

enum { BLOCK = 128, REACH = 6, WIDTH = BLOCK + 2 * REACH, ROWS = 8, REPEAT = 64, YARNS = 4 };

// What a stitch of each yarn of the pattern looks like to the camera: brightness and how much that may vary.
__constant__ float2 yarns[YARNS];

// The weights of a row's stitches around the one under examination.
__constant__ float profile[2 * REACH + 1];

struct Fault {
    float size;
    int row, count;
};

__device__ static inline void fetch(float *to, const float *from) {
#ifdef AFTER
    __pipeline_memcpy_async(to, from, sizeof(float));
#else
    *to = *from;
#endif
}

// Starts to bring ROWS rows, with a margin of REACH columns on either side (the picture is that much wider).
__device__ static inline void stage(float (*tile)[WIDTH], const float *corner, int pitch) {
#pragma unroll
    for (int r = 0; r < ROWS; r++) {
        fetch(&tile[r][threadIdx.x], corner + (size_t)r * pitch + threadIdx.x);
        if (threadIdx.x < 2 * REACH)
            fetch(&tile[r][BLOCK + threadIdx.x], corner + (size_t)r * pitch + BLOCK + threadIdx.x);
    }
#ifdef AFTER
    __pipeline_commit();
#endif
}

// around: the stitch under examination in a row.
__host__ __device__ static inline float misfit(const float *around, const float *weights, float2 yarn) {
    float smooth = 0, rough = 0;
    for (int i = -REACH; i <= REACH; i++) smooth += weights[i + REACH] * around[i];
    for (int i = -1; i <= 1; i++) rough = fmaxf(rough, fabsf(around[i] - smooth));
    float off = fabsf(around[0] - yarn.x) - 0.5f * rough;
    return fmaxf(off, 0.f) * yarn.y;
}

// A block examines a strip of BLOCK columns of the cloth from blockIdx.y * length on. design: a yarn's number for
// every stitch of a repeat. Writes the worst fault of each column of the strip.
__global__ void inspect(const float *picture, const unsigned char *design, Fault *faults, int pitch, int columns,
                        int length, float limit) {
    __shared__ float tile[2][ROWS][WIDTH];
    __shared__ float2 yarn[YARNS];
    __shared__ unsigned char repeat[REPEAT][BLOCK];
    int column = blockIdx.x * BLOCK + threadIdx.x, top = blockIdx.y * length;
    const float *corner = picture + (size_t)top * pitch + blockIdx.x * BLOCK;
    if (threadIdx.x < YARNS) yarn[threadIdx.x] = yarns[threadIdx.x];
    for (int r = 0; r < REPEAT; r++) repeat[r][threadIdx.x] = design[r * REPEAT + column % REPEAT];
    Fault worst = {0, -1, 0};
    int chunks = length / ROWS;
    stage(tile[0], corner, pitch);
    for (int k = 0; k < chunks; k++) {
#ifdef AFTER
        __pipeline_wait_prior(0);
#endif
        __syncthreads();
        if (k + 1 < chunks) stage(tile[(k + 1) % 2], corner + (size_t)(k + 1) * ROWS * pitch, pitch);
        for (int r = 0; r < ROWS; r++) {
            int row = top + k * ROWS + r;
            float size = misfit(&tile[k % 2][r][threadIdx.x + REACH], profile, yarn[repeat[row % REPEAT][threadIdx.x]]);
            worst.count += size > limit;
            if (size > worst.size) worst.size = size, worst.row = row;
        }
    }
    faults[(size_t)blockIdx.y * columns + column] = worst;
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "jacquards");
    int strips = p.small ? 3 : 33, parts = p.small ? 2 : 8, length = p.small ? 64 : 1024;
    int columns = strips * BLOCK, pitch = columns + 2 * REACH, rows = parts * length;
    float limit = 1.6f;
    const float2 host_yarns[YARNS] = {{0.2f, 4.f}, {0.45f, 3.f}, {0.6f, 5.f}, {0.9f, 2.5f}};
    float host_profile[2 * REACH + 1], sum = 0;
    for (int i = -REACH; i <= REACH; i++) sum += host_profile[i + REACH] = expf(-0.06f * i * i);
    for (float &weight : host_profile) weight /= sum;
    CUDA_CHECK(cudaMemcpyToSymbol(yarns, host_yarns, sizeof host_yarns));
    CUDA_CHECK(cudaMemcpyToSymbol(profile, host_profile, sizeof host_profile));
    std::vector<unsigned char> design(REPEAT * REPEAT);
    for (int r = 0; r < REPEAT; r++)
        for (int c = 0; c < REPEAT; c++)
            design[r * REPEAT + c] = (unsigned char)((abs(r - 32) / 5 + abs(c - 32) / 3) % YARNS);
    std::vector<float> picture = random_floats((size_t)rows * pitch, -0.15f, 0.15f, 90);
    for (int r = 0; r < rows; r++)
        for (int c = 0; c < pitch; c++) {
            int yarn = design[r % REPEAT * REPEAT + (c + REPEAT - REACH) % REPEAT];
            if ((r * 31 + c * 17) % 997 == 0) yarn = (yarn + 1) % YARNS;  // a wrong stitch
            picture[(size_t)r * pitch + c] += host_yarns[yarn].x;
        }
    float *d_picture = device_copy_of(picture.data(), picture.size());
    unsigned char *d_design = device_copy_of(design.data(), design.size());
    Fault *d_faults = device_array<Fault>((size_t)parts * columns);
    pair_time(&p, [&] {
        inspect<<<dim3(strips, parts), BLOCK>>>(d_picture, d_design, d_faults, pitch, columns, length, limit);
    });
    std::vector<Fault> faults = host_copy_of(d_faults, (size_t)parts * columns);
    for (int part = 0; part < parts; part++)
        for (int c = 0; c < columns; c += p.small ? 1 : 23) {
            float size = 0;
            int certain = 0, possible = 0;
            for (int row = part * length; row < (part + 1) * length; row++) {
                float2 yarn = host_yarns[design[row % REPEAT * REPEAT + c % REPEAT]];
                float off = misfit(&picture[(size_t)row * pitch + c + REACH], host_profile, yarn);
                size = std::max(size, off);
                certain += off > limit + 1e-4f;
                possible += off > limit - 1e-4f;
            }
            size_t at = (size_t)part * columns + c;
            pair_near(&p, "size", at, size, faults[at].size, 1e-4);
            pair_near(&p, "count", at, std::min(std::max(faults[at].count, certain), possible), faults[at].count, 0);
        }
    return pair_end(&p);
}
