// SPDX-License-Identifier: Apache-2.0
//
// Rule: register-reuse
// Change: candidates are put in order by exchanges at fixed places.
// Why: each voter has an array of his own that is indexed by a variable while it is sorted by insertion.
#include "../common.h"

enum { BLOCK = 128, CHOICES = 12 };

// Of each voter's marks the third best and the third worst, which decide ties.
__global__ void ballots(const float *marks, float *out, int voters) {
    int v = blockIdx.x * BLOCK + threadIdx.x;
    float own[CHOICES];
#ifdef AFTER
#pragma unroll
    for (int k = 0; k < CHOICES; k++)
        own[k] = marks[k * voters + v];
#pragma unroll
    for (int i = 0; i < CHOICES; i++)
#pragma unroll
        for (int j = i + 1; j < CHOICES; j++) {
            float low = fminf(own[i], own[j]), high = fmaxf(own[i], own[j]);
            own[i] = low;
            own[j] = high;
        }
#else
    for (int k = 0; k < CHOICES; k++) {
        float mark = marks[k * voters + v];
        int at = k;
        for (; at > 0 && own[at - 1] > mark; at--)
            own[at] = own[at - 1];
        own[at] = mark;
    }
#endif
    out[v] = own[CHOICES - 3] + 0.5f * own[2];
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "ballots");
    int voters = p.small ? 1 << 13 : 1 << 20;
    std::vector<float> marks = random_floats((size_t)voters * CHOICES, 0, 1, 1);
    float *d_marks = device_copy_of(marks.data(), marks.size()), *d_out = device_array<float>(voters);
    pair_time(&p, [&] { ballots<<<voters / BLOCK, BLOCK>>>(d_marks, d_out, voters); });
    std::vector<float> out = host_copy_of(d_out, voters);
    for (int v = 0; v < voters; v += 61) {
        std::vector<float> own(CHOICES);
        for (int k = 0; k < CHOICES; k++)
            own[k] = marks[(size_t)k * voters + v];
        std::sort(own.begin(), own.end());
        pair_near(&p, "mark", v, own[CHOICES - 3] + 0.5 * own[2], out[v], 1e-6);
    }
    return pair_end(&p);
}
