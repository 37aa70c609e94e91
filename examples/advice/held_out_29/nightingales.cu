// SPDX-License-Identifier: Apache-2.0
//
// Rule: warp-balance
// Change: the warps take the recordings of a batch in turn instead of eight neighbours each.
// Why: a batch is sorted by length, so that the last warp had all the long recordings and the others waited for it.
#include "../common.h"

enum { STATES = 32, SYMBOLS = 64, WARPS = 8, BLOCK = 32 * WARPS, BATCH = 64, EACH = BATCH / WARPS };

struct Model {
    float emission[SYMBOLS][STATES];
    float stay[STATES], move[STATES];
};

// Viterbi score of each recording under a left-to-right model of one song, and the best recording of each batch. One
// block does a batch, a warp one recording at a time, a lane one state.
__global__ void score_songs(const Model *model, const unsigned char *frames, const int *start, float *scores,
                            int *best_of_batch) {
    __shared__ float emission[SYMBOLS][STATES];
    __shared__ float warp_score[WARPS];
    __shared__ int warp_best[WARPS];
    int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    for (int s = warp; s < SYMBOLS; s += WARPS)
        emission[s][lane] = model->emission[s][lane];
    float stay = model->stay[lane], move = model->move[lane];
    __syncthreads();

    float best_score = -1e30f;
    int best = -1;
#ifdef AFTER
    for (int r = warp; r < BATCH; r += WARPS) {
#else
    for (int r = warp * EACH; r < (warp + 1) * EACH; r++) {
#endif
        int recording = blockIdx.x * BATCH + r;
        int first = start[recording], last = start[recording + 1];
        float score = lane == 0 ? 0.0f : -1e30f;
        for (int t = first; t < last; t++) {
            float from_left = __shfl_up_sync(~0u, score, 1);
            float moved = lane == 0 ? -1e30f : from_left + move;
            score = fmaxf(score + stay, moved) + emission[frames[t]][lane];
        }
        float end = __shfl_sync(~0u, score, STATES - 1) / (last - first);
        if (lane == 0)
            scores[recording] = end;
        if (end > best_score) {
            best_score = end;
            best = recording;
        }
    }
    if (lane == 0) {
        warp_score[warp] = best_score;
        warp_best[warp] = best;
    }
    __syncthreads();
    if (threadIdx.x == 0) {
        for (int w = 1; w < WARPS; w++)
            if (warp_score[w] > best_score) {
                best_score = warp_score[w];
                best = warp_best[w];
            }
        best_of_batch[blockIdx.x] = best;
    }
}

static float song_score(const Model &m, const unsigned char *frames, int length) {
    float score[STATES], next[STATES];
    for (int s = 0; s < STATES; s++)
        score[s] = s == 0 ? 0.0f : -1e30f;
    for (int t = 0; t < length; t++) {
        for (int s = 0; s < STATES; s++) {
            float moved = s == 0 ? -1e30f : score[s - 1] + m.move[s];
            next[s] = std::max(score[s] + m.stay[s], moved) + m.emission[frames[t]][s];
        }
        std::copy(next, next + STATES, score);
    }
    return score[STATES - 1] / length;
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "nightingales");
    int batches = p.small ? 3 : 396, longest = p.small ? 60 : 1400;
    unsigned seed = 5;
    std::vector<int> start(1, 0);
    for (int b = 0; b < batches; b++) {
        std::vector<int> lengths;
        for (int r = 0; r < BATCH; r++) {
            double u = lcg_next(&seed, 10000) / 10000.0;
            lengths.push_back(40 + (int)(longest * u * u * u));
        }
        std::sort(lengths.begin(), lengths.end());
        for (int l : lengths)
            start.push_back(start.back() + l);
    }
    std::vector<unsigned char> frames(start.back());
    lcg_fill(frames.data(), frames.size(), 6, SYMBOLS);
    Model model;
    std::vector<float> logs = random_floats(SYMBOLS * STATES + 2 * STATES, -4, -0.1f, 7);
    std::copy(logs.begin(), logs.begin() + SYMBOLS * STATES, &model.emission[0][0]);
    for (int s = 0; s < STATES; s++) {
        model.stay[s] = logs[SYMBOLS * STATES + s];
        model.move[s] = logs[SYMBOLS * STATES + STATES + s];
    }
    Model *d_model = device_copy_of(&model, 1);
    unsigned char *d_frames = device_copy_of(frames.data(), frames.size());
    int *d_start = device_copy_of(start.data(), start.size()), *d_best = device_array<int>(batches);
    float *d_scores = device_array<float>(batches * BATCH);
    pair_time(&p, [&] { score_songs<<<batches, BLOCK>>>(d_model, d_frames, d_start, d_scores, d_best); });
    std::vector<float> scores = host_copy_of(d_scores, batches * BATCH);
    std::vector<int> best = host_copy_of(d_best, batches);
    for (int r = 0; r < batches * BATCH; r += 41)
        pair_near(&p, "score", r, song_score(model, &frames[start[r]], start[r + 1] - start[r]), scores[r], 1e-5);
    for (int b = 0; b < batches; b++)
        pair_near(&p, "best", b, *std::max_element(&scores[b * BATCH], &scores[b * BATCH] + BATCH), scores[best[b]], 0);
    return pair_end(&p);
}
