// SPDX-License-Identifier: Apache-2.0
//
// Rule: streaming-hints
// Change: pairs of words and results, each used once, are loaded and stored with the streaming hint (__ldcs, __stcs).
// Why: they evict from the L2 the counts that all of them are looked up in.
#include "../common.h"

enum { BLOCK = 256 };

// How much more often two words come together than by chance: both are looked up in a table of 28 MB.
__global__ void word_surprise(const int2 *words, const float *together, const float *log_count, float *surprise) {
    int i = blockIdx.x * BLOCK + threadIdx.x;
#ifdef AFTER
    int2 pair = __ldcs(&words[i]);
    __stcs(&surprise[i], __ldcs(&together[i]) - log_count[pair.x] - log_count[pair.y]);
#else
    int2 pair = words[i];
    surprise[i] = together[i] - log_count[pair.x] - log_count[pair.y];
#endif
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "word_surprise");
    int n = p.small ? 1 << 15 : 1 << 24, vocabulary = p.small ? 1 << 12 : 7000000;
    std::vector<float> log_count = random_floats(vocabulary, 0, 16, 1), together = random_floats(n, 0, 16, 2);
    std::vector<int> words(2 * (size_t)n);
    lcg_fill(words.data(), words.size(), 3, vocabulary);
    float *d_log_count = device_copy_of(log_count.data(), vocabulary), *d_together = device_copy_of(together.data(), n),
          *d_surprise = device_array<float>(n);
    int2 *d_words = device_copy_of((const int2 *)words.data(), n);
    pair_time(&p, [&] { word_surprise<<<n / BLOCK, BLOCK>>>(d_words, d_together, d_log_count, d_surprise); });
    std::vector<float> surprise = host_copy_of(d_surprise, n);
    for (int i = 0; i < n; i += 1009)
        pair_near(&p, "surprise", i,
                  together[i] - log_count[words[2 * (size_t)i]] - log_count[words[2 * (size_t)i + 1]], surprise[i],
                  1e-4);
    return pair_end(&p);
}
