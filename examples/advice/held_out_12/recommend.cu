// SPDX-License-Identifier: Apache-2.0
//
// Rule: register-reuse
// Also: loop-unrolling
// Change: a new item goes through all kept ones in an unrolled loop, so that they stay in registers.
// Why: a place that is only known at run time keeps the best items in local memory.
#include "../common.h"

enum { BLOCK = 128, FACTORS = 16, KEEP = 8, TILE = 64 };

// The KEEP items of the highest scores for each user: products of learnt factors.
__global__ void recommend(const float *users, const float4 *items, float *scores, int *names, int n, int item_count) {
    __shared__ float4 tile[TILE * FACTORS / 4];
    int i = blockIdx.x * BLOCK + threadIdx.x;
    float user[FACTORS], best[KEEP];
    int which[KEEP];
    for (int f = 0; f < FACTORS; f++)
        user[f] = users[f * n + i];
    for (int k = 0; k < KEEP; k++) {
        best[k] = -1e30f;
        which[k] = -1;
    }
    for (int base = 0; base < item_count; base += TILE) {
        __syncthreads();
        for (int k = threadIdx.x; k < TILE * FACTORS / 4; k += BLOCK)
            tile[k] = items[base * FACTORS / 4 + k];
        __syncthreads();
        for (int t = 0; t < TILE; t++) {
            float score = 0;
#pragma unroll
            for (int f = 0; f < FACTORS / 4; f++) {
                float4 q = tile[t * FACTORS / 4 + f];
                score += user[4 * f] * q.x + user[4 * f + 1] * q.y + user[4 * f + 2] * q.z + user[4 * f + 3] * q.w;
            }
            if (score <= best[KEEP - 1])
                continue;
            int item = base + t;
#ifdef AFTER
#pragma unroll
            for (int k = 0; k < KEEP; k++) {
                bool better = score > best[k];
                float old_score = best[k];
                int old_item = which[k];
                best[k] = better ? score : old_score;
                which[k] = better ? item : old_item;
                score = better ? old_score : score;
                item = better ? old_item : item;
            }
#else
            int place = KEEP - 1;
            while (place > 0 && best[place - 1] < score) {
                best[place] = best[place - 1];
                which[place] = which[place - 1];
                place--;
            }
            best[place] = score;
            which[place] = item;
#endif
        }
    }
    for (int k = 0; k < KEEP; k++) {
        scores[k * n + i] = best[k];
        names[k * n + i] = which[k];
    }
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "recommend");
    int n = p.small ? 512 : 1 << 17, item_count = p.small ? TILE : 16 * TILE;
    std::vector<float> users = random_floats((size_t)n * FACTORS, -1, 1, 1),
                       items = random_floats((size_t)item_count * FACTORS, -1, 1, 2);
    float *d_users = device_copy_of(users.data(), users.size()), *d_scores = device_array<float>((size_t)n * KEEP);
    float4 *d_items = (float4 *)device_copy_of(items.data(), items.size());
    int *d_names = device_array<int>((size_t)n * KEEP);
    pair_time(&p, [&] { recommend<<<n / BLOCK, BLOCK>>>(d_users, d_items, d_scores, d_names, n, item_count); });
    std::vector<float> scores = host_copy_of(d_scores, (size_t)n * KEEP);
    std::vector<int> names = host_copy_of(d_names, (size_t)n * KEEP);
    for (int i = 0; i < n; i += p.small ? 17 : 1009) {
        std::vector<double> all(item_count);
        for (int item = 0; item < item_count; item++)
            for (int f = 0; f < FACTORS; f++)
                all[item] += (double)users[(size_t)f * n + i] * items[(size_t)item * FACTORS + f];
        std::vector<double> sorted = all;
        std::sort(sorted.rbegin(), sorted.rend());
        for (int k = 0; k < KEEP; k++) {
            pair_near(&p, "score", i, sorted[k], scores[(size_t)k * n + i], 1e-5);
            int name = names[(size_t)k * n + i];
            pair_near(&p, "score of name", i, sorted[k], name >= 0 && name < item_count ? all[name] : -1e30, 1e-5);
        }
    }
    return pair_end(&p);
}
