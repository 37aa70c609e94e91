// SPDX-License-Identifier: Apache-2.0
//
// Rule: indirect-addressing
// Change: where a sentence begins is computed, no longer loaded: all are padded to the same length.
// Why: each thread loads its sentence's place and waits for it before it can load its number.
#include "../common.h"

enum { BLOCK = 256, WIDTH = 64, LENGTH = 32, WORDS = WIDTH * LENGTH };

// Adds to each number of a word's vector what belongs to its place in the sentence.
__global__ void ragged_scale(const float *in, const int *first, const float *place, float *out) {
    int i = blockIdx.x * BLOCK + threadIdx.x, sentence = i / WORDS, within = i % WORDS;
#ifdef AFTER
    int at = sentence * WORDS + within;
#else
    int at = first[sentence] + within;
#endif
    out[at] = in[at] * 8 + place[within];
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "ragged_scale");
    int sentences = p.small ? 32 : 1 << 13, n = sentences * WORDS;
    std::vector<float> in = random_floats(n, -1, 1, 1), place = random_floats(WORDS, -1, 1, 2);
    std::vector<int> first(sentences);
    for (int s = 0; s < sentences; s++)
        first[s] = s * WORDS;
    float *d_in = device_copy_of(in.data(), n), *d_place = device_copy_of(place.data(), WORDS), *d_out = device_array<float>(n);
    int *d_first = device_copy_of(first.data(), sentences);
    pair_time(&p, [&] { ragged_scale<<<n / BLOCK, BLOCK>>>(d_in, d_first, d_place, d_out); });
    std::vector<float> out = host_copy_of(d_out, n);
    for (int i = 0; i < n; i += 1009)
        pair_near(&p, "out", i, in[i] * 8.0 + place[i % WORDS], out[i], 1e-5);
    return pair_end(&p);
}
