// SPDX-License-Identifier: Apache-2.0
//
// Rule: warp-balance
// Change: the warps take the lags in turn instead of a range each.
// Why: a short lag has more to add up than a long one; the warp with the short lags keeps all others at the barrier.
#include "../common.h"

enum { MOST = 2048, BLOCK = 256, WARPS = BLOCK / 32, FASTEST = 24 };

// The beat of stretches of drum music: the lag at which the strengths of the strokes are most like themselves, and like
// themselves at twice and at four times the lag.
__global__ void find_beat(const float *strokes, float2 *beats, int stretches, int frames) {
    __shared__ float strength[MOST], likeness[MOST];
    int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    for (int n = blockIdx.x; n < stretches; n += gridDim.x) {
        for (int f = threadIdx.x; f < frames; f += BLOCK)
            strength[f] = strokes[(size_t)n * frames + f];
        __syncthreads();
#ifdef AFTER
        for (int lag = warp; lag < frames; lag += WARPS) {
#else
        for (int lag = warp * (frames / WARPS); lag < (warp + 1) * (frames / WARPS); lag++) {
#endif
            float sum = 0;
            for (int f = lane; f + lag < frames; f += 32)
                sum += strength[f] * strength[f + lag];
            for (int gap = 16; gap; gap >>= 1)
                sum += __shfl_xor_sync(~0u, sum, gap);
            if (lane == 0)
                likeness[lag] = sum;
        }
        __syncthreads();
        if (warp == 0) {
            float best = -1, beat = 0;
            for (int lag = FASTEST + lane; lag < frames / 4; lag += 32) {
                float score = likeness[lag] + 0.7f * likeness[2 * lag] + 0.4f * likeness[4 * lag];
                if (score > best) {
                    best = score;
                    beat = lag;
                }
            }
            for (int gap = 16; gap; gap >>= 1) {
                float other = __shfl_xor_sync(~0u, best, gap), other_beat = __shfl_xor_sync(~0u, beat, gap);
                if (other > best || (other == best && other_beat < beat)) {
                    best = other;
                    beat = other_beat;
                }
            }
            if (lane == 0)
                beats[n] = make_float2(beat, best / likeness[0]);
        }
    }
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "drummers");
    int stretches = p.small ? 1 : 264, blocks = p.small ? 1 : 132, frames = p.small ? 256 : MOST;
    std::vector<float> strokes = random_floats((size_t)stretches * frames, 0, 0.4f, 1);
    for (int n = 0; n < stretches; n++)
        for (int f = 0; f < frames; f++)
            strokes[(size_t)n * frames + f] += f % (30 + n) == 0 ? 1 : 0;
    float *d_strokes = device_copy_of(strokes.data(), strokes.size());
    float2 *d_beats = device_array<float2>(stretches);
    pair_time(&p, [&] { find_beat<<<blocks, BLOCK>>>(d_strokes, d_beats, stretches, frames); });
    std::vector<float2> beats = host_copy_of(d_beats, stretches);
    for (int n = 0; n < stretches; n += p.small ? 1 : 11) {
        const float *strength = &strokes[(size_t)n * frames];
        std::vector<double> likeness(frames, 0.0);
        for (int lag = 0; lag < frames; lag++)
            for (int f = 0; f + lag < frames; f++)
                likeness[lag] += (double)strength[f] * strength[f + lag];
        double best = -1, chosen = -1;
        for (int lag = FASTEST; lag < frames / 4; lag++) {
            double score = likeness[lag] + 0.7 * likeness[2 * lag] + 0.4 * likeness[4 * lag];
            best = std::max(best, score);
            if (lag == (int)beats[n].x)
                chosen = score;
        }
        pair_near(&p, "score", n, best / likeness[0], beats[n].y, 1e-4);
        pair_near(&p, "score of the beat", n, best / likeness[0], chosen / likeness[0], 1e-4);
    }
    return pair_end(&p);
}
