// SPDX-License-Identifier: Apache-2.0
//
// Rule: loop-unrolling
// Change: the loop over the codewords is unrolled eight times; it was kept rolled to save registers.
// Why: each pass waits for its codeword to come and then for five shuffles, one after the other; passes do not depend
//      on each other but for the best so far, so those of eight can be under way together. Registers are plenty.
#include "../common.h"

enum { BLOCK = 128, WARP = 32, WARPS = BLOCK / WARP, STAGES = 3 };

#ifdef AFTER
#define CODEWORD_LOOP _Pragma("unroll 8")
#else
#define CODEWORD_LOOP _Pragma("unroll 1")
#endif

// The sum over the lanes, in all of them.
__device__ inline float warp_sum(float x) {
#pragma unroll
    for (int d = WARP / 2; d > 0; d /= 2)
        x += __shfl_xor_sync(0xffffffffu, x, d);
    return x;
}

// Multi-stage vector quantisation of spectral envelopes: each stage takes the codeword nearest to what is left. A warp
// takes a frame, a lane one of its 32 bands; low bands weigh more, and so do loud ones.
template <int CODEWORDS>
__global__ void __launch_bounds__(BLOCK) quantise(const float *__restrict__ envelope, const float *__restrict__ book,
                                                  const float *__restrict__ importance, int frames, float loudness,
                                                  int *code, float *error) {
    int lane = threadIdx.x % WARP, frame = blockIdx.x * WARPS + threadIdx.x / WARP;
    if (frame >= frames)
        return;
    float rest = envelope[frame * WARP + lane];
    float weight = importance[lane] * (1 + loudness * fmaxf(rest, 0.0f));
    float least = 0;
    for (int stage = 0; stage < STAGES; stage++) {
        const float *words = book + stage * CODEWORDS * WARP + lane;
        int best = 0;
        least = 1e30f;
        CODEWORD_LOOP
        for (int c = 0; c < CODEWORDS; c++) {
            float miss = rest - words[c * WARP];
            float distance = warp_sum(weight * miss * miss);
            if (distance < least) {
                least = distance;
                best = c;
            }
        }
        rest -= words[best * WARP];
        if (lane == 0)
            code[frame * STAGES + stage] = best;
    }
    if (lane == 0)
        error[frame] = sqrtf(least);
}

static double distance_to(const float *rest, const float *word, const float *weight) {
    double sum = 0;
    for (int i = 0; i < WARP; i++)
        sum += (double)weight[i] * (rest[i] - word[i]) * (rest[i] - word[i]);
    return sum;
}

template <int CODEWORDS> static void run(Pair *p, int frames) {
    float loudness = 0.3f;
    std::vector<float> envelope = random_floats((size_t)frames * WARP, -2, 2, 1),
                       book = random_floats((size_t)STAGES * CODEWORDS * WARP, -1, 1, 2), importance(WARP);
    for (int s = 0; s < STAGES; s++)
        for (int i = 0; i < CODEWORDS * WARP; i++)
            book[s * CODEWORDS * WARP + i] *= 2.0f / (1 << s);
    for (int i = 0; i < WARP; i++)
        importance[i] = 1 / (1 + 0.1f * i);
    float *d_envelope = device_copy_of(envelope.data(), envelope.size()),
          *d_book = device_copy_of(book.data(), book.size()),
          *d_importance = device_copy_of(importance.data(), WARP), *d_error = device_array<float>(frames);
    int *d_code = device_array<int>((size_t)frames * STAGES);
    pair_time(p, [&] {
        quantise<CODEWORDS><<<(frames + WARPS - 1) / WARPS, BLOCK>>>(d_envelope, d_book, d_importance, frames, loudness,
                                                                     d_code, d_error);
    });
    std::vector<int> code = host_copy_of(d_code, (size_t)frames * STAGES);
    std::vector<float> error = host_copy_of(d_error, frames);
    for (int f = 0; f < frames; f += 7) {
        float rest[WARP], weight[WARP];
        double chosen = 0;
        for (int i = 0; i < WARP; i++) {
            rest[i] = envelope[f * WARP + i];
            weight[i] = importance[i] * (1 + loudness * std::max(rest[i], 0.0f));
        }
        for (int s = 0; s < STAGES; s++) {
            const float *words = &book[s * CODEWORDS * WARP];
            double least = 1e30;
            for (int c = 0; c < CODEWORDS; c++)
                least = std::min(least, distance_to(rest, words + c * WARP, weight));
            int taken = std::min(std::max(code[f * STAGES + s], 0), CODEWORDS - 1);
            chosen = distance_to(rest, words + taken * WARP, weight);
            pair_near(p, "distance", f * STAGES + s, least, chosen, 1e-4);
            for (int i = 0; i < WARP; i++)
                rest[i] -= words[taken * WARP + i];
        }
        pair_near(p, "error", f, sqrt(chosen), error[f], 1e-4);
    }
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "vocoders");
    if (p.small)
        run<16>(&p, 264);
    else
        run<256>(&p, 132 * 16);
    return pair_end(&p);
}
