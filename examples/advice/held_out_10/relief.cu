// SPDX-License-Identifier: Apache-2.0
//
// Rule: branch-elimination
// Change: the heights have a border, so that no load needs a test.
// Why: each of nine loads is guarded by a test that only the rim of the map needs.
#include "../common.h"

enum { BLOCK = 256, RIM = 1 };

// How steep the ground is, from the eight neighbours of each point.
__global__ void relief(const float *heights, float *out, int width, int height, int pitch) {
    int x = blockIdx.x * BLOCK + threadIdx.x, y = blockIdx.y;
    float h[3][3];
    for (int dy = -1; dy <= 1; dy++)
        for (int dx = -1; dx <= 1; dx++)
#ifdef AFTER
            h[dy + 1][dx + 1] = heights[(y + dy) * pitch + x + dx];
#else
            h[dy + 1][dx + 1] = x + dx < 0 || x + dx >= width || y + dy < 0 || y + dy >= height
                                    ? 0
                                    : heights[(y + dy) * pitch + x + dx];
#endif
    float east = h[0][2] + 2 * h[1][2] + h[2][2] - h[0][0] - 2 * h[1][0] - h[2][0];
    float south = h[2][0] + 2 * h[2][1] + h[2][2] - h[0][0] - 2 * h[0][1] - h[0][2];
    out[y * width + x] = east * east + south * south;
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "relief");
    int width = p.small ? 256 : 4096, height = p.small ? 64 : 2048, pitch = width + 2 * RIM;
    std::vector<float> heights((size_t)pitch * (height + 2 * RIM), 0.0f),
        inner = random_floats((size_t)width * height, 0, 9, 1);
    for (int y = 0; y < height; y++)
        for (int x = 0; x < width; x++)
            heights[(size_t)(y + RIM) * pitch + x + RIM] = inner[(size_t)y * width + x];
    float *d_heights = device_copy_of(heights.data(), heights.size()),
          *d_out = device_array<float>((size_t)width * height);
    pair_time(&p, [&] {
        relief<<<dim3(width / BLOCK, height), BLOCK>>>(d_heights + RIM * pitch + RIM, d_out, width, height, pitch);
    });
    std::vector<float> out = host_copy_of(d_out, (size_t)width * height);
    for (size_t i = 0; i < out.size(); i += 211) {
        const float *at = &heights[(i / width + RIM) * pitch + i % width + RIM];
        double east = at[1 - pitch] + 2.0 * at[1] + at[1 + pitch] - at[-1 - pitch] - 2.0 * at[-1] - at[pitch - 1];
        double south =
            at[pitch - 1] + 2.0 * at[pitch] + at[pitch + 1] - at[-1 - pitch] - 2.0 * at[-pitch] - at[1 - pitch];
        pair_near(&p, "slope", i, east * east + south * south, out[i], 1e-4);
    }
    return pair_end(&p);
}
