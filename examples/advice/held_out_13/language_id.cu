// SPDX-License-Identifier: Apache-2.0
//
// Rule: register-reuse
// Change: an unrolled loop adds to the score whose number matches instead of indexing the scores.
// Why: an array that is indexed by a number known only at run time lies in local memory.
#include "../common.h"

enum { BLOCK = 128, LANGUAGES = 8 };

// Each code is one n-gram of a text: the language it is typical of, and how typical. Keeps the best language and its
// lead over the second.
__global__ void language_id(const unsigned char *codes, uchar2 *best, int texts, int length) {
    int i = blockIdx.x * BLOCK + threadIdx.x, scores[LANGUAGES];
#pragma unroll
    for (int k = 0; k < LANGUAGES; k++)
        scores[k] = 0;
    for (int c = 0; c < length; c++) {
        int code = codes[(size_t)c * texts + i], language = code % LANGUAGES, weight = code / LANGUAGES;
#ifdef AFTER
#pragma unroll
        for (int k = 0; k < LANGUAGES; k++)
            scores[k] += k == language ? weight : 0;
#else
        scores[language] += weight;
#endif
    }
    int first = -1, second = -1, name = 0;
#pragma unroll
    for (int k = 0; k < LANGUAGES; k++) {
        second = max(second, min(first, scores[k]));
        name = scores[k] > first ? k : name;
        first = max(first, scores[k]);
    }
    best[i] = {(unsigned char)name, (unsigned char)min(first - second, 255)};
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "language_id");
    int texts = p.small ? 512 : 1 << 18, length = p.small ? 24 : 128;
    std::vector<unsigned char> codes((size_t)texts * length);
    lcg_fill(codes.data(), codes.size(), 1, 256);
    unsigned char *d_codes = device_copy_of(codes.data(), codes.size());
    uchar2 *d_best = device_array<uchar2>(texts);
    pair_time(&p, [&] { language_id<<<texts / BLOCK, BLOCK>>>(d_codes, d_best, texts, length); });
    std::vector<uchar2> best = host_copy_of(d_best, texts);
    for (int i = 0; i < texts; i += 97) {
        int scores[LANGUAGES] = {0}, name = 0;
        for (int c = 0; c < length; c++) {
            int code = codes[(size_t)c * texts + i];
            scores[code % LANGUAGES] += code / LANGUAGES;
        }
        for (int k = 1; k < LANGUAGES; k++)
            name = scores[k] > scores[name] ? k : name;
        int lead = scores[name];
        std::sort(scores, scores + LANGUAGES);
        pair_near(&p, "language", i, name, best[i].x, 0);
        pair_near(&p, "lead", i, std::min(lead - scores[LANGUAGES - 2], 255), best[i].y, 0);
    }
    return pair_end(&p);
}
