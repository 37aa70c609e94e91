// SPDX-License-Identifier: Apache-2.0
//
// Rule: thread-increase
// Change: blocks of 32 x 8 threads instead of 32 x 1.
// Why: an SM holds 32 blocks at most, and these have one warp each.
#include "../common.h"

#ifdef AFTER
enum { ROWS = 8 };
#else
enum { ROWS = 1 };
#endif
enum { COLUMNS = 32, NEAREST = 24, RADIUS = 2 };

// How far each point of the left picture is shifted in the right one: the shift with the least difference of windows.
__global__ void disparity(const float *left, const float *right, int *out, int width, int pitch) {
    int x = blockIdx.x * COLUMNS + threadIdx.x, y = blockIdx.y * ROWS + threadIdx.y, found = 0;
    const float *own = left + (y + RADIUS) * pitch + x + NEAREST + RADIUS,
                *other = right + (y + RADIUS) * pitch + x + NEAREST + RADIUS;
    float least = 1e30f;
#pragma unroll 1
    for (int shift = 0; shift < NEAREST; shift++) {
        float sum = 0;
        for (int dy = -1; dy <= 1; dy++)
            for (int dx = -RADIUS; dx <= RADIUS; dx++)
                sum += fabsf(own[dy * pitch + dx] - other[dy * pitch + dx - shift]);
        if (sum < least)
            least = sum, found = shift;
    }
    out[y * width + x] = found;
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "disparity");
    int width = p.small ? 128 : 1024, height = p.small ? 32 : 512, pitch = width + NEAREST + 2 * RADIUS;
    size_t all = (size_t)pitch * (height + 2 * RADIUS);
    std::vector<float> left = random_floats(all, 0, 1, 1), right(left);
    for (size_t i = 0; i + NEAREST < all; i++)
        right[i] = left[i + i / pitch % NEAREST];
    float *d_left = device_copy_of(left.data(), all), *d_right = device_copy_of(right.data(), all);
    int *d_out = device_array<int>((size_t)width * height);
    pair_time(&p, [&] {
        disparity<<<dim3(width / COLUMNS, height / ROWS), dim3(COLUMNS, ROWS)>>>(d_left, d_right, d_out, width, pitch);
    });
    std::vector<int> out = host_copy_of(d_out, (size_t)width * height);
    for (int y = 0; y < height; y += 3)
        for (int x = 0; x < width; x += 41) {
            int found = 0;
            float least = 1e30f;
            size_t at = (size_t)(y + RADIUS) * pitch + x + NEAREST + RADIUS;
            for (int shift = 0; shift < NEAREST; shift++) {
                float sum = 0;
                for (int dy = -1; dy <= 1; dy++)
                    for (int dx = -RADIUS; dx <= RADIUS; dx++)
                        sum += fabsf(left[at + dy * pitch + dx] - right[at + dy * pitch + dx - shift]);
                if (sum < least)
                    least = sum, found = shift;
            }
            pair_near(&p, "shift", (size_t)y * width + x, found, out[(size_t)y * width + x], 0);
        }
    return pair_end(&p);
}
