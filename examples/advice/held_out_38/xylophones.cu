// SPDX-License-Identifier: Apache-2.0
//
// Rule: block-increase
// Change: a bar's track is cut into stretches of 16384 samples with a CTA each, not left to one CTA.
// Why: an instrument has 61 bars, and 61 CTAs leave half of the 132 SMs without work and the others with few warps;
// samples do not depend on each other, so that there can be as many CTAs as the GPU wants.
#include "../common.h"

// Synthesises the tracks of a xylophone's bars for a score. A bar sounds in three modes; each stroke of the mallet
// starts them anew, and they die away. The mallet's noise is a short click.
constexpr int THREADS = 512;
constexpr int MODES = 3;
constexpr int MAX_STROKES = 32;
constexpr int RATE = 48000;
constexpr int RINGING = 3 * RATE / 4;  // samples after which a stroke is silent
[[maybe_unused]] constexpr int STRETCH = 16384;

struct Bar {
    float frequency[MODES];  // cycles a sample
    float decay[MODES];      // a sample
    float gain[MODES];
};

struct Stroke {
    int start;       // sample
    float strength;  // 0 to 1; hard strokes bring out the high modes
};

__host__ __device__ inline float sound(const Bar &bar, const Stroke &stroke, int age) {
    float sum = 0.0f;
#pragma unroll
    for (int m = 0; m < MODES; m++) {
        float cycles = bar.frequency[m] * age;
        cycles -= floorf(cycles);
        float bright = m == 0 ? 1.0f : stroke.strength * m;
        sum += bar.gain[m] * bright * expf(-bar.decay[m] * age) * sinf(6.2831853f * cycles);
    }
    unsigned noise = (age + 1) * 0x9E3779B1u;
    float click = (int)(noise ^ noise << 11) * (0.05f / 2147483648.0f);
    float attack = fminf(age * (1.0f / 40.0f), 1.0f), release = 1.0f - age * (1.0f / RINGING);
    return stroke.strength * release * (attack * sum + (age < 200 ? click : 0.0f));
}

// strokes: [bar][MAX_STROKES], of which counts[bar] are played, in order of time. tracks: [bar][samples].
__global__ void __launch_bounds__(THREADS)
    play(float *__restrict__ tracks, const Bar *__restrict__ bars, const Stroke *__restrict__ strokes,
         const int *__restrict__ counts, int samples) {
    __shared__ Stroke score[MAX_STROKES];
    int count = counts[blockIdx.x];
    for (int i = threadIdx.x; i < count; i += THREADS)
        score[i] = strokes[blockIdx.x * MAX_STROKES + i];
    __syncthreads();
    Bar bar = bars[blockIdx.x];
    float *track = tracks + (size_t)blockIdx.x * samples;
#ifdef AFTER
    int first = blockIdx.y * STRETCH, last = min(first + STRETCH, samples);
#else
    int first = 0, last = samples;
#endif
    for (int n = first + threadIdx.x; n < last; n += THREADS) {
        float sum = 0.0f;
        for (int i = 0; i < count && score[i].start <= n; i++)
            if (n < score[i].start + RINGING)
                sum += sound(bar, score[i], n - score[i].start);
        track[n] = sum;
    }
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "xylophones");
    int bar_count = p.small ? 2 : 61, samples = p.small ? 3000 : 8 * RATE, most = p.small ? 4 : MAX_STROKES;
    unsigned seed = 15;
    std::vector<Bar> bars(bar_count);
    std::vector<Stroke> strokes((size_t)bar_count * MAX_STROKES);
    std::vector<int> counts(bar_count);
    for (int b = 0; b < bar_count; b++) {
        float base = 174.6f * exp2f(b / 12.0f) / RATE;
        bars[b] = {{base, 3.0f * base, 6.1f * base}, {1e-4f, 3e-4f, 8e-4f}, {0.6f, 0.25f, 0.1f}};
        for (int m = 1; m < MODES; m++)
            bars[b].gain[m] *= bars[b].frequency[m] < 0.5f;
        counts[b] = most - lcg_next(&seed, most / 2);
        std::vector<int> starts;
        for (int i = 0; i < counts[b]; i++)
            starts.push_back(lcg_next(&seed, samples));
        std::sort(starts.begin(), starts.end());
        for (int i = 0; i < counts[b]; i++)
            strokes[(size_t)b * MAX_STROKES + i] = {starts[i], 0.2f + 0.001f * lcg_next(&seed, 800)};
    }

    Bar *d_bars = device_copy_of(bars.data(), bar_count);
    Stroke *d_strokes = device_copy_of(strokes.data(), strokes.size());
    int *d_counts = device_copy_of(counts.data(), bar_count);
    size_t total = (size_t)bar_count * samples;
    float *d_tracks = device_array<float>(total);

#ifdef AFTER
    dim3 grid(bar_count, (samples + STRETCH - 1) / STRETCH);
#else
    dim3 grid(bar_count);
#endif
    pair_time(&p, [&] { play<<<grid, THREADS>>>(d_tracks, d_bars, d_strokes, d_counts, samples); });

    std::vector<float> tracks = host_copy_of(d_tracks, total);
    for (size_t at = 0; at < total; at += p.small ? 1 : 211) {
        int b = at / samples, n = at % samples;
        float sum = 0.0f;
        for (int i = 0; i < counts[b]; i++) {
            const Stroke &stroke = strokes[(size_t)b * MAX_STROKES + i];
            if (stroke.start <= n && n < stroke.start + RINGING)
                sum += sound(bars[b], stroke, n - stroke.start);
        }
        pair_near(&p, "track", at, sum, tracks[at], 2e-3);
    }
    CUDA_CHECK(cudaFree(d_bars));
    CUDA_CHECK(cudaFree(d_strokes));
    CUDA_CHECK(cudaFree(d_counts));
    CUDA_CHECK(cudaFree(d_tracks));
    return pair_end(&p);
}
