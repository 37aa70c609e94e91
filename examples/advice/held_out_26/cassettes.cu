// SPDX-License-Identifier: Apache-2.0
//
// Rule: async-copy
// Change: the chunks to come are copied asynchronously into three further buffers while the current one is searched.
// Why: each block goes through its tape chunk by chunk, and all its warps wait for memory before they may go on.
#include "../common.h"

#include <cuda_pipeline.h>

#ifdef AFTER
enum { BUFFERS = 4 };
#else
enum { BUFFERS = 1 };
#endif
enum { BLOCK = 256, PIECE = 8, CHUNK = PIECE * BLOCK, FIRST_LEVEL = 500 };

static __host__ __device__ bool is_click(int previous, int here, int next, int level) {
    return abs(2 * here - previous - next) > 6 * level;
}

// Digitised cassettes, one per block: how many clicks there are, compared to a loudness that is followed slowly.
__global__ void __launch_bounds__(BLOCK) find_clicks(const short *tapes, int *clicks, int *levels, int chunks) {
    __shared__ __align__(16) short buffer[BUFFERS][CHUNK];
    __shared__ int loudness[2], all_clicks;
    const short *mine = tapes + (size_t)blockIdx.x * chunks * CHUNK + PIECE * threadIdx.x;
    int level = FIRST_LEVEL, found = 0;
    if (threadIdx.x == 0)
        loudness[0] = all_clicks = 0;
#ifdef AFTER
    for (int c = 0; c < BUFFERS - 1; c++) {
        if (c < chunks)
            __pipeline_memcpy_async(&buffer[c][PIECE * threadIdx.x], mine + (size_t)c * CHUNK, sizeof(int4));
        __pipeline_commit();
    }
#endif
    for (int c = 0; c < chunks; c++) {
#ifdef AFTER
        int later = c + BUFFERS - 1;
        if (later < chunks)
            __pipeline_memcpy_async(&buffer[later % BUFFERS][PIECE * threadIdx.x], mine + (size_t)later * CHUNK,
                                    sizeof(int4));
        __pipeline_commit();
        __pipeline_wait_prior(BUFFERS - 1);
#else
        *(int4 *)&buffer[0][PIECE * threadIdx.x] = *(const int4 *)(mine + (size_t)c * CHUNK);
#endif
        __syncthreads();
        const short *sound = buffer[c % BUFFERS];
        int sum = 0;
        for (int k = threadIdx.x; k < CHUNK; k += BLOCK) {
            int here = sound[k];
            found += is_click(sound[max(k - 1, 0)], here, sound[min(k + 1, CHUNK - 1)], level);
            sum += abs(here);
        }
        for (int lanes = 16; lanes > 0; lanes /= 2)
            sum += __shfl_xor_sync(0xffffffffu, sum, lanes);
        if (threadIdx.x % 32 == 0)
            atomicAdd(&loudness[c & 1], sum);
        __syncthreads();
        level += (loudness[c & 1] / CHUNK - level) / 4;
        if (threadIdx.x == 0)
            loudness[(c + 1) & 1] = 0;
    }
    atomicAdd(&all_clicks, found);
    __syncthreads();
    if (threadIdx.x == 0) {
        clicks[blockIdx.x] = all_clicks;
        levels[blockIdx.x] = level;
    }
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "cassettes");
    int tapes = p.small ? 4 : 264, chunks = p.small ? 6 : 80;
    unsigned seed = 1;
    std::vector<short> sound((size_t)tapes * chunks * CHUNK);
    for (size_t i = 0; i < sound.size(); i++) {
        int loud = 400 + 150 * (int)(i / CHUNK % 13);
        sound[i] = (short)((int)lcg_next(&seed, 2 * loud + 1) - loud);
    }
    short *d_sound = device_copy_of(sound.data(), sound.size());
    int *d_clicks = device_array<int>(tapes), *d_levels = device_array<int>(tapes);
    pair_time(&p, [&] { find_clicks<<<tapes, BLOCK>>>(d_sound, d_clicks, d_levels, chunks); });
    std::vector<int> clicks = host_copy_of(d_clicks, tapes), levels = host_copy_of(d_levels, tapes);
    for (int t = 0; t < tapes; t += p.small ? 1 : 7) {
        int level = FIRST_LEVEL, found = 0;
        for (int c = 0; c < chunks; c++) {
            const short *s = &sound[((size_t)t * chunks + c) * CHUNK];
            int sum = 0;
            for (int k = 0; k < CHUNK; k++) {
                found += is_click(s[std::max(k - 1, 0)], s[k], s[std::min(k + 1, CHUNK - 1)], level);
                sum += abs(s[k]);
            }
            level += (sum / CHUNK - level) / 4;
        }
        pair_near(&p, "clicks", t, found, clicks[t], 0);
        pair_near(&p, "levels", t, level, levels[t], 0);
    }
    return pair_end(&p);
}
