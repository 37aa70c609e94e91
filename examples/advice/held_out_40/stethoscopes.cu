// SPDX-License-Identifier: Apache-2.0
//
// Rule: thread-increase
// Also: occupancy-up
// Change: 256 threads work on a recording instead of 64.
// Why: a recording takes 32 KB of shared memory, so only six blocks fit on a multiprocessor whatever their size; with
//      64 threads each that is twelve warps, too few to hide memory, barriers and the steps of the transform.
#include "../common.h"

#ifdef AFTER
enum { THREADS = 256 };
#else
enum { THREADS = 64 };
#endif
enum { SAMPLES = 4096, LEVELS = 6 };

// The two lifting steps of the whole-number 5/3 wavelet: what the odd sample adds to its neighbours, and their mean.
__host__ __device__ static inline int detail(int left, int odd, int right) { return odd - ((left + right) >> 1); }

__host__ __device__ static inline int coarse(int before, int even, int after) {
    return even + ((before + after + 2) >> 2);
}

// Small details are the rustling of the shirt.
__host__ __device__ static inline short shrink(int x, int limit) {
    return (short)(x > limit ? x - limit : x < -limit ? x + limit : 0);
}

// Heart sounds into wavelets, a recording a block. Output: what is left after LEVELS, then details from coarse to fine.
__global__ void __launch_bounds__(THREADS)
    transform(const short *__restrict__ recordings, short *__restrict__ wavelets, int limit) {
    __shared__ int buffer[SAMPLES], other[SAMPLES / 2], high[SAMPLES / 2];
    const short *in = recordings + (size_t)blockIdx.x * SAMPLES;
    short *out = wavelets + (size_t)blockIdx.x * SAMPLES;
    for (int i = threadIdx.x; i < SAMPLES; i += THREADS)
        buffer[i] = in[i];
    __syncthreads();
    int *from = buffer, *to = other;
    for (int level = 0, half = SAMPLES / 2; level < LEVELS; level++, half /= 2) {
        for (int i = threadIdx.x; i < half; i += THREADS) {
            int right = min(2 * i + 2, 2 * half - 2);
            int d = detail(from[2 * i], from[2 * i + 1], from[right]);
            high[i] = d;
            out[half + i] = shrink(d, limit >> level);
        }
        __syncthreads();
        for (int i = threadIdx.x; i < half; i += THREADS)
            to[i] = coarse(high[max(i - 1, 0)], from[2 * i], high[i]);
        __syncthreads();
        int *swap = from;
        from = to;
        to = swap;
    }
    for (int i = threadIdx.x; i < SAMPLES >> LEVELS; i += THREADS)
        out[i] = (short)from[i];
}

static std::vector<short> transform_on_host(const short *in, int limit) {
    std::vector<int> from(in, in + SAMPLES);
    std::vector<short> out(SAMPLES);
    for (int level = 0, half = SAMPLES / 2; level < LEVELS; level++, half /= 2) {
        std::vector<int> to(half), high(half);
        for (int i = 0; i < half; i++) {
            high[i] = detail(from[2 * i], from[2 * i + 1], from[std::min(2 * i + 2, 2 * half - 2)]);
            out[half + i] = shrink(high[i], limit >> level);
            to[i] = coarse(high[std::max(i - 1, 0)], from[2 * i], high[i]);
        }
        from = to;
    }
    for (int i = 0; i < SAMPLES >> LEVELS; i++)
        out[i] = (short)from[i];
    return out;
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "stethoscopes");
    int recordings = p.small ? 6 : 132 * 96, limit = 64;
    std::vector<short> sounds((size_t)recordings * SAMPLES);
    unsigned seed = 31;
    for (int r = 0; r < recordings; r++) {
        int beat = 500 + (int)lcg_next(&seed, 700);
        for (int i = 0; i < SAMPLES; i++) {
            int since = i % beat;  // a beat is loud and fades
            int loud = since < 200 ? (200 - since) * (since / 9 % 2 ? 12 : -12) : 0;
            sounds[(size_t)r * SAMPLES + i] = (short)(loud + (int)lcg_next(&seed, 81) - 40);
        }
    }
    short *d_sounds = device_copy_of(sounds.data(), sounds.size()), *d_wavelets = device_array<short>(sounds.size());
    pair_time(&p, [&] { transform<<<recordings, THREADS>>>(d_sounds, d_wavelets, limit); });
    std::vector<short> wavelets = host_copy_of(d_wavelets, sounds.size());
    for (int r = 0; r < recordings; r += p.small ? 1 : 29) {
        std::vector<short> expected = transform_on_host(&sounds[(size_t)r * SAMPLES], limit);
        for (int i = 0; i < SAMPLES; i++)
            pair_near(&p, "wavelet", (size_t)r * SAMPLES + i, expected[i], wavelets[(size_t)r * SAMPLES + i], 0);
    }
    return pair_end(&p);
}
