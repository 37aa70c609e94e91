// SPDX-License-Identifier: Apache-2.0
//
// Rule: sm-balance
// Change: a CTA draws its next recording from a counter instead of working through a fixed slice of the archive.
// Why: the archive is in the order of the stations, and the recorders of some run ten times as long as those of others;
// the SMs with the short recordings have nothing to do while the rest still search.
#include "../common.h"

enum { BLOCK = 512, CALLS = 6, FRAMES = 40 };

__constant__ float call[FRAMES][CALLS];  // loudness of the known calls over time, without its mean, of length 1

// The best match of any call in the `length` frames of loudness of a recording: where it begins in the low half of the
// result, how good it is (cosine, as the bits of a float, which for numbers above 0 sort as integers) in the high one.
__device__ unsigned long long search(const float *__restrict__ loudness, int length) {
    __shared__ float window[BLOCK + FRAMES];
    __shared__ unsigned long long best_of_warp[BLOCK / 32];
    unsigned long long best = 0;
    for (int tile = 0; tile + FRAMES <= length; tile += BLOCK) {
        __syncthreads();
        for (int f = threadIdx.x; f < BLOCK + FRAMES; f += BLOCK)
            window[f] = tile + f < length ? loudness[tile + f] : 0.0f;
        __syncthreads();
        float dot[CALLS] = {}, sum = 0, squares = 0;
#pragma unroll 8
        for (int f = 0; f < FRAMES; f++) {
            const float x = window[threadIdx.x + f];
            sum += x;
            squares += x * x;
#pragma unroll
            for (int c = 0; c < CALLS; c++)
                dot[c] += x * call[f][c];
        }
        if (tile + (int)threadIdx.x + FRAMES > length)
            continue;
        float most = 0;
#pragma unroll
        for (int c = 0; c < CALLS; c++)
            most = fmaxf(most, dot[c]);
        const float score = most * rsqrtf(squares - sum * sum / FRAMES + 1e-3f);
        const unsigned long long found = (unsigned long long)__float_as_uint(score) << 32 | (tile + threadIdx.x);
        best = found > best ? found : best;
    }
    for (int lanes = 16; lanes > 0; lanes /= 2) {
        const unsigned long long other = __shfl_xor_sync(~0u, best, lanes);
        best = other > best ? other : best;
    }
    if (threadIdx.x % 32 == 0)
        best_of_warp[threadIdx.x / 32] = best;
    __syncthreads();
    for (int w = 0; w < BLOCK / 32; w++)
        best = best_of_warp[w] > best ? best_of_warp[w] : best;
    return best;
}

// Looks for the calls of kingfishers in an archive of sound recordings; recording r has the frames from begin[r] on.
__global__ void __launch_bounds__(BLOCK) kingfishers(const float *__restrict__ loudness, const int *__restrict__ begin,
                                                     int recordings, int *next, unsigned long long *__restrict__ best) {
#ifdef AFTER
    __shared__ int drawn;
    while (true) {
        __syncthreads();
        if (threadIdx.x == 0)
            drawn = atomicAdd(next, 1);
        __syncthreads();
        const int r = drawn;
        if (r >= recordings)
            break;
#else
    const int slice = (recordings + gridDim.x - 1) / gridDim.x, first = blockIdx.x * slice;
    for (int r = first; r < min(first + slice, recordings); r++) {
#endif
        const unsigned long long found = search(loudness + begin[r], begin[r + 1] - begin[r]);
        if (threadIdx.x == 0)
            best[r] = found;
    }
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "kingfishers");
    const int stations = p.small ? 4 : 12, per_station = p.small ? 6 : 330, recordings = stations * per_station;
    const int ctas = p.small ? 8 : 132;

    float shape[FRAMES][CALLS];
    for (int c = 0; c < CALLS; c++) {
        double mean = 0, length = 0;
        for (int f = 0; f < FRAMES; f++)
            mean += (shape[f][c] = fabsf(sinf(0.11f * (c + 1) * f)) * expf(-0.02f * c * f)) / FRAMES;
        for (int f = 0; f < FRAMES; f++)
            length += (shape[f][c] - mean) * (shape[f][c] - mean);
        for (int f = 0; f < FRAMES; f++)
            shape[f][c] = (float)((shape[f][c] - mean) / sqrt(length));
    }

    // Recorders are started by sound, so the lengths differ; how long they keep on is set once for each station.
    std::vector<int> begin(1, 0);
    unsigned seed = 99;
    for (int r = 0; r < recordings; r++) {
        const int station = r / per_station, times = station % 4 == 2 ? 8 : 1 + station % 3;
        const int longest = (p.small ? 300 : 1200) * times;
        begin.push_back(begin.back() + longest / 2 + lcg_next(&seed, longest / 2));
    }
    std::vector<float> loudness = random_floats(begin.back(), 0, 1, 98);
    for (int r = 0; r < recordings; r++) {
        const int c = lcg_next(&seed, CALLS), at = lcg_next(&seed, begin[r + 1] - begin[r] - FRAMES);
        for (int f = 0; f < FRAMES; f++)
            loudness[begin[r] + at + f] = 0.3f * loudness[begin[r] + at + f] + 4 * shape[f][c] + 1;
    }

    CUDA_CHECK(cudaMemcpyToSymbol(call, shape, sizeof shape));
    float *d_loudness = device_copy_of(loudness.data(), loudness.size());
    int *d_begin = device_copy_of(begin.data(), begin.size()), *d_next = device_array<int>(1);
    unsigned long long *d_best = device_array<unsigned long long>(recordings);
    pair_time(&p, [&] {
#ifdef AFTER
        CUDA_CHECK(cudaMemsetAsync(d_next, 0, sizeof(int)));
#endif
        kingfishers<<<ctas, BLOCK>>>(d_loudness, d_begin, recordings, d_next, d_best);
    });

    std::vector<unsigned long long> best = host_copy_of(d_best, recordings);
    for (int r = 0; r < recordings; r += p.small ? 1 : 37) {
        double most = 0;
        int where = 0;
        for (int t = begin[r]; t + FRAMES <= begin[r + 1]; t++) {
            double mean = 0, squares = 0, dot[CALLS] = {};
            for (int f = 0; f < FRAMES; f++)
                mean += loudness[t + f] / FRAMES;
            for (int f = 0; f < FRAMES; f++) {
                squares += (loudness[t + f] - mean) * (loudness[t + f] - mean);
                for (int c = 0; c < CALLS; c++)
                    dot[c] += (loudness[t + f] - mean) * shape[f][c];
            }
            const double score = *std::max_element(dot, dot + CALLS) / sqrt(squares + 1e-3);
            if (score > most)
                most = score, where = t - begin[r];
        }
        const unsigned bits = best[r] >> 32;
        float score;
        memcpy(&score, &bits, sizeof score);
        pair_near(&p, "score", r, most, score, 1e-3);
        pair_near(&p, "frame", r, where, (unsigned)best[r], 0);
    }
    return pair_end(&p);
}
