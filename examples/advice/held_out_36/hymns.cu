// SPDX-License-Identifier: Apache-2.0
//
// Rule: warp-balance
// Change: a thread takes one beat from the front and its mirror image from the back of the piece, so that every warp
// has as many comparisons; before, each warp took a stretch of neighbouring beats.
// Why: a beat is compared with all earlier ones, so the warps with the last stretch worked 15 times as long as the
// first one, which waited at the barrier, and the block kept its place on the SM until the last had finished.
#include "../common.h"

// Where does a melody repeat? A piece of music is a list of beats, each described by how strong the twelve semitones
// sound (its chroma). For every beat the most similar earlier one is looked for, by the cosine of the two chroma
// vectors, as well as, for the whole piece, the mean of the best similarities.

constexpr int BEATS = 512;
constexpr int THREADS = 256;
constexpr int WARPS = THREADS / 32;
constexpr int QUADS = 3;  // twelve semitones
constexpr int GAP = 4;    // beats that are too close to count as a repetition

struct Match {
    float similarity;
    int beat;
};

__device__ inline float dot(float4 a, float4 b) { return a.x * b.x + a.y * b.y + a.z * b.z + a.w * b.w; }

__device__ Match best_earlier(const float4 (*chroma)[QUADS], int beat) {
    const float4 a = chroma[beat][0], b = chroma[beat][1], c = chroma[beat][2];
    Match best = {0.0f, -1};
    for (int other = 0; other <= beat - GAP; other++) {
        float similarity = dot(a, chroma[other][0]) + dot(b, chroma[other][1]) + dot(c, chroma[other][2]);
        if (similarity > best.similarity)
            best = {similarity, other};
    }
    return best;
}

__global__ void __launch_bounds__(THREADS) find_repeats(const float4 *__restrict__ chroma, Match *__restrict__ match,
                                                        float *__restrict__ mean) {
    __shared__ float4 piece[BEATS][QUADS];
    __shared__ float partial[WARPS];
    const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    const float4 *mine = chroma + (size_t)blockIdx.x * BEATS * QUADS;

    for (int beat = threadIdx.x; beat < BEATS; beat += THREADS) {
        float4 a = mine[beat * QUADS], b = mine[beat * QUADS + 1], c = mine[beat * QUADS + 2];
        float scale = rsqrtf(dot(a, a) + dot(b, b) + dot(c, c) + 1e-12f);
        piece[beat][0] = make_float4(a.x * scale, a.y * scale, a.z * scale, a.w * scale);
        piece[beat][1] = make_float4(b.x * scale, b.y * scale, b.z * scale, b.w * scale);
        piece[beat][2] = make_float4(c.x * scale, c.y * scale, c.z * scale, c.w * scale);
    }
    __syncthreads();

    float sum = 0;
    for (int half = 0; half < 2; half++) {
#ifdef AFTER
        int beat = half == 0 ? threadIdx.x : BEATS - 1 - threadIdx.x;
#else
        int beat = warp * 64 + half * 32 + lane;
#endif
        Match best = best_earlier(piece, beat);
        match[(size_t)blockIdx.x * BEATS + beat] = best;
        sum += best.similarity;
    }

    for (int step = 16; step > 0; step /= 2)
        sum += __shfl_xor_sync(0xffffffffu, sum, step);
    if (lane == 0)
        partial[warp] = sum;
    __syncthreads();
    if (threadIdx.x == 0) {
        float total = 0;
        for (int w = 0; w < WARPS; w++)
            total += partial[w];
        mean[blockIdx.x] = total / BEATS;
    }
}

// Verses of 61 beats that come again with small changes.
static std::vector<float> make_pieces(int pieces) {
    std::vector<float> chroma = random_floats((size_t)pieces * BEATS * 12, 0.0f, 1.0f, 13);
    for (int p = 0; p < pieces; p++)
        for (int beat = 61; beat < BEATS; beat++)
            for (int tone = 0; tone < 12; tone++) {
                float *c = &chroma[((size_t)p * BEATS + beat) * 12 + tone];
                if (beat / 61 % 3 != 1)
                    *c = 0.7f * *(c - 61 * 12) + 0.3f * *c;
            }
    return chroma;
}

static void check(Pair *p, const std::vector<float> &chroma, int pieces, const Match *d_match, const float *d_mean) {
    std::vector<Match> match = host_copy_of(d_match, (size_t)pieces * BEATS);
    std::vector<float> mean = host_copy_of(d_mean, pieces);
    for (int piece = 0; piece < pieces; piece += p->small ? 1 : 127) {
        const float *c = &chroma[(size_t)piece * BEATS * 12];
        std::vector<double> scaled(BEATS * 12);
        double total = 0;
        for (int beat = 0; beat < BEATS; beat++) {
            double norm = 1e-12, best = 0;
            for (int tone = 0; tone < 12; tone++)
                norm += (double)c[beat * 12 + tone] * c[beat * 12 + tone];
            for (int tone = 0; tone < 12; tone++)
                scaled[beat * 12 + tone] = c[beat * 12 + tone] / sqrt(norm);
            auto similarity = [&](int other) {
                double s = 0;
                for (int tone = 0; tone < 12; tone++)
                    s += scaled[beat * 12 + tone] * scaled[other * 12 + tone];
                return s;
            };
            for (int other = 0; other <= beat - GAP; other++)
                best = std::max(best, similarity(other));
            size_t i = (size_t)piece * BEATS + beat;
            pair_near(p, "similarity", i, best, match[i].similarity, 1e-4);
            bool some = match[i].beat >= 0 && match[i].beat <= beat - GAP;
            pair_near(p, "beat", i, best, some ? similarity(match[i].beat) : 0, 1e-4);
            total += best;
        }
        pair_near(p, "mean", piece, total / BEATS, mean[piece], 1e-4);
    }
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "hymns");
    int pieces = p.small ? 2 : 2640;
    std::vector<float> chroma = make_pieces(pieces);
    float4 *d_chroma = device_copy_of((const float4 *)chroma.data(), chroma.size() / 4);
    Match *d_match = device_array<Match>((size_t)pieces * BEATS);
    float *d_mean = device_array<float>(pieces);

    pair_time(&p, [&] { find_repeats<<<pieces, THREADS>>>(d_chroma, d_match, d_mean); });
    check(&p, chroma, pieces, d_match, d_mean);

    CUDA_CHECK(cudaFree(d_chroma));
    CUDA_CHECK(cudaFree(d_match));
    CUDA_CHECK(cudaFree(d_mean));
    return pair_end(&p);
}
