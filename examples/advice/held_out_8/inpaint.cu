// SPDX-License-Identifier: Apache-2.0
//
// Rule: divergence
// Change: pixels are taken in an order that has the masked ones first.
// Why: one pixel in eight is masked and takes a long way, anywhere in the warps.
#include "../common.h"

enum { BLOCK = 256, RADIUS = 4, WIDTH = 2048 };

// Masked pixels become a weighted mean of those around them; the others stay.
__global__ void inpaint(const float *in, const unsigned char *mask, const int *order, float *out, int height) {
    int k = blockIdx.x * BLOCK + threadIdx.x;
#ifdef AFTER
    int i = order[k];
#else
    int i = k;
#endif
    int x = i % WIDTH, y = i / WIDTH;
    float v = in[i];
    if (mask[i]) {
        float sum = 0, weights = 0;
        for (int dy = -RADIUS; dy <= RADIUS; dy++)
            for (int dx = -RADIUS; dx <= RADIUS; dx++) {
                int u = min(max(x + dx, 0), WIDTH - 1), w = min(max(y + dy, 0), height - 1), j = w * WIDTH + u;
                float weight = mask[j] ? 0 : __expf(-0.1f * (dx * dx + dy * dy));
                sum += weight * in[j];
                weights += weight;
            }
        v = weights > 0 ? sum / weights : v;
    }
    out[i] = v;
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "inpaint");
    int height = p.small ? 16 : 2048, n = WIDTH * height;
    std::vector<float> in = random_floats(n, 0, 1, 1);
    std::vector<unsigned char> mask(n);
    std::vector<int> order;
    unsigned seed = 2;
    for (int i = 0; i < n; i++)
        mask[i] = lcg_next(&seed, 8) == 0;
    for (int masked = 1; masked >= 0; masked--)
        for (int i = 0; i < n; i++)
            if (mask[i] == masked)
                order.push_back(i);
    float *d_in = device_copy_of(in.data(), n), *d_out = device_array<float>(n);
    unsigned char *d_mask = device_copy_of(mask.data(), n);
    int *d_order = device_copy_of(order.data(), n);
    pair_time(&p, [&] { inpaint<<<n / BLOCK, BLOCK>>>(d_in, d_mask, d_order, d_out, height); });
    std::vector<float> out = host_copy_of(d_out, n);
    for (int i = 0; i < n; i += 1009) {
        int x = i % WIDTH, y = i / WIDTH;
        double sum = 0, weights = 0;
        for (int dy = -RADIUS; dy <= RADIUS; dy++)
            for (int dx = -RADIUS; dx <= RADIUS; dx++) {
                int u = std::min(std::max(x + dx, 0), WIDTH - 1), w = std::min(std::max(y + dy, 0), height - 1);
                double weight = mask[w * WIDTH + u] ? 0 : exp(-0.1 * (dx * dx + dy * dy));
                sum += weight * in[w * WIDTH + u];
                weights += weight;
            }
        pair_near(&p, "out", i, mask[i] && weights > 0 ? sum / weights : in[i], out[i], 1e-4);
    }
    return pair_end(&p);
}
