// SPDX-License-Identifier: Apache-2.0
//
// Rule: redundant-loads
// Change: a layer's warmth and conductivity stay in registers until the two layers below are done.
// Why: each warmth is loaded three times and each conductivity twice as a thread goes down a column.
#include "../common.h"

enum { BLOCK = 256 };

// One step of how heat moves through the frozen ground below each place of a map, layer by layer.
__global__ void permafrost(const float *warmth, const float *conductivity, float *next, int places, int layers) {
    int i = blockIdx.x * BLOCK + threadIdx.x;
    next[i] = warmth[i];
#ifdef AFTER
    float above = warmth[i], here = warmth[places + i], through_above = conductivity[i];
#endif
    for (int layer = 1; layer < layers - 1; layer++) {
        int at = layer * places + i;
#ifdef AFTER
        float below = warmth[at + places], through = conductivity[at];
        float change = through * (below - here) - through_above * (here - above);
        next[at] = here + (here < 0.0f && here > -1.0f ? 0.2f : 1.0f) * change;
        above = here;
        here = below;
        through_above = through;
#else
        float change = conductivity[at] * (warmth[at + places] - warmth[at]) -
                       conductivity[at - places] * (warmth[at] - warmth[at - places]);
        next[at] = warmth[at] + (warmth[at] < 0.0f && warmth[at] > -1.0f ? 0.2f : 1.0f) * change;
#endif
    }
    next[(layers - 1) * places + i] = warmth[(layers - 1) * places + i];
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "permafrost");
    int places = p.small ? 1 << 11 : 1 << 18, layers = p.small ? 12 : 64;
    std::vector<float> warmth = random_floats((size_t)places * layers, -4, 3, 1),
                       conductivity = random_floats((size_t)places * layers, 0.05f, 0.3f, 2);
    float *d_warmth = device_copy_of(warmth.data(), warmth.size()), *d_next = device_array<float>(warmth.size()),
          *d_conductivity = device_copy_of(conductivity.data(), conductivity.size());
    pair_time(&p, [&] { permafrost<<<places / BLOCK, BLOCK>>>(d_warmth, d_conductivity, d_next, places, layers); });
    std::vector<float> next = host_copy_of(d_next, warmth.size());
    for (int i = 0; i < places; i += 239)
        for (int layer = 0; layer < layers; layer++) {
            size_t at = (size_t)layer * places + i;
            double expected = warmth[at];
            if (layer > 0 && layer < layers - 1)
                expected += (warmth[at] < 0 && warmth[at] > -1 ? 0.2 : 1.0) *
                            (conductivity[at] * ((double)warmth[at + places] - warmth[at]) -
                             conductivity[at - places] * ((double)warmth[at] - warmth[at - places]));
            pair_near(&p, "next", at, expected, next[at], 1e-5);
        }
    return pair_end(&p);
}
