// SPDX-License-Identifier: Apache-2.0
//
// Rule: sm-balance
// Change: utterances are dealt to the CTAs in turn, not as one run of neighbours for each CTA.
// Why: the corpus is sorted by length, so the CTAs with the last runs had several times the frames of the others and
// their SMs worked on while the rest were idle.
#include "../common.h"

constexpr int MELS = 64;           // features of a frame
constexpr int ROWS = 4;            // frames a CTA takes at a time
constexpr int THREADS = MELS * ROWS;
constexpr float CLIP = 3.0f;       // normalised features stay within -CLIP..CLIP
constexpr float FLOOR = 1e-3f;     // smallest variance

// An utterance: `frames` rows of MELS log energies from row `first` on.
struct Utterance {
    int first;
    int frames;
};

__device__ float sum_of_rows(float value, float (*scratch)[MELS], int mel, int row) {
    scratch[row][mel] = value;
    __syncthreads();
    float sum = 0;
    for (int r = 0; r < ROWS; r++)
        sum += scratch[r][mel];
    __syncthreads();
    return sum;
}

__host__ __device__ inline float normalise(float x, float mean, float scale) {
    return fminf(fmaxf((x - mean) * scale, -CLIP), CLIP);
}

// Brings every feature of one utterance to mean 0 and variance 1.
__device__ void normalise_utterance(const float *__restrict__ in, float *__restrict__ out, int frames,
                                    float (*scratch)[MELS], int mel, int row) {
    float sum = 0, squares = 0;
    for (int f = row; f < frames; f += ROWS) {
        float x = in[f * MELS + mel];
        sum += x;
        squares += x * x;
    }
    sum = sum_of_rows(sum, scratch, mel, row);
    squares = sum_of_rows(squares, scratch, mel, row);
    float mean = sum / frames;
    float scale = rsqrtf(fmaxf(squares / frames - mean * mean, FLOOR));
    for (int f = row; f < frames; f += ROWS)
        out[f * MELS + mel] = normalise(in[f * MELS + mel], mean, scale);
}

// Cepstral mean and variance normalisation of a corpus by a fixed number of CTAs.
__global__ void normalise_corpus(const Utterance *__restrict__ corpus, int utterances, const float *__restrict__ in,
                                 float *__restrict__ out) {
    __shared__ float scratch[ROWS][MELS];
    int mel = threadIdx.x % MELS, row = threadIdx.x / MELS;
#ifdef AFTER
    int begin = blockIdx.x, end = utterances, step = gridDim.x;
#else
    int share = (utterances + gridDim.x - 1) / gridDim.x;
    int begin = blockIdx.x * share, end = min(utterances, begin + share), step = 1;
#endif
    for (int u = begin; u < end; u += step) {
        Utterance it = corpus[u];
        size_t at = (size_t)it.first * MELS;
        normalise_utterance(in + at, out + at, it.frames, scratch, mel, row);
    }
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "utterances");
    int ctas = p.small ? 4 : 264, utterances = p.small ? 16 : 264 * 6;

    // Many short commands, few long dictations; sorted, so that batches need little padding.
    std::vector<int> frames(utterances);
    unsigned seed = 31;
    for (int &f : frames) {
        float u = 0.001f * lcg_next(&seed, 1000);
        f = p.small ? 5 + (int)(60 * u * u * u) : 60 + (int)(1800 * u * u * u);
    }
    std::sort(frames.begin(), frames.end());
    std::vector<Utterance> corpus;
    int rows = 0;
    for (int f : frames) {
        corpus.push_back({rows, f});
        rows += f;
    }
    std::vector<float> features = random_floats((size_t)rows * MELS, -4, 2, 32);

    Utterance *d_corpus = device_copy_of(corpus.data(), utterances);
    float *d_in = device_copy_of(features.data(), features.size());
    float *d_out = device_array<float>(features.size());

    pair_time(&p, [&] { normalise_corpus<<<ctas, THREADS>>>(d_corpus, utterances, d_in, d_out); });

    std::vector<float> out = host_copy_of(d_out, features.size());
    for (int u = 0; u < utterances; u += p.small ? 1 : 31)
        for (int mel = 0; mel < MELS; mel++) {
            const float *in = &features[(size_t)corpus[u].first * MELS + mel];
            double sum = 0, squares = 0;
            for (int f = 0; f < corpus[u].frames; f++) {
                double x = in[f * MELS];
                sum += x;
                squares += x * x;
            }
            double mean = sum / corpus[u].frames;
            double scale = 1 / sqrt(std::max(squares / corpus[u].frames - mean * mean, (double)FLOOR));
            for (int f = 0; f < corpus[u].frames; f++) {
                size_t at = (size_t)(corpus[u].first + f) * MELS + mel;
                pair_near(&p, "feature", at, normalise(in[f * MELS], (float)mean, (float)scale), out[at], 1e-3);
            }
        }
    CUDA_CHECK(cudaFree(d_corpus));
    CUDA_CHECK(cudaFree(d_in));
    CUDA_CHECK(cudaFree(d_out));
    return pair_end(&p);
}
