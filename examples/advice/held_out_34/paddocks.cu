// SPDX-License-Identifier: Apache-2.0
//
// Rule: atomic-contention
// Change: if all lanes end up in the same paddock, the warp adds its results up first and one lane does the atomics.
// Why: pixels side by side mostly belong to one paddock, so the 32 lanes' atomics all want the same three words.
#include "../common.h"

enum { LANES = 32, STRIPS = 8, HEIGHT = 4 };  // a thread walks down HEIGHT pixels

struct Growth {
    int pixels, sum, best;  // of the vegetation index, in thousandths
};

// The vegetation index from the brightness in the red (x) and the near infrared (y).
__host__ __device__ inline int vegetation_index(uchar2 pixel) {
    const float red = pixel.x, infrared = pixel.y;
    return (int)rintf(1000 * (infrared - red) / (infrared + red + 1));
}

__device__ inline void add_to(Growth *all, const Growth &some) {
    atomicAdd(&all->pixels, some.pixels);
    atomicAdd(&all->sum, some.sum);
    atomicMax(&all->best, some.best);
}

// How the grass grows on each paddock of a farm, from a picture that a drone or a satellite took and a map of the same
// size that has the number of the paddock of each pixel.
__global__ void paddocks(const uchar2 *__restrict__ picture, const unsigned short *__restrict__ map, int width,
                         int height, Growth *growth) {
    const int x = blockIdx.x * LANES + threadIdx.x;
    const int top = (blockIdx.y * STRIPS + threadIdx.y) * HEIGHT;
    if (top >= height)
        return;
    // Columns to the right of the picture count nothing.
    const int column = min(x, width - 1), bottom = x < width ? min(top + HEIGHT, height) : top;
    int paddock = map[(size_t)top * width + column];
    Growth mine = {0, 0, -1000};
    for (int y = top; y < bottom; y++) {
        const size_t at = (size_t)y * width + column;
        const int here = map[at], index = vegetation_index(picture[at]);
        if (here != paddock) {
            add_to(&growth[paddock], mine);
            mine = {0, 0, -1000};
            paddock = here;
        }
        mine.pixels++;
        mine.sum += index;
        mine.best = max(mine.best, index);
    }
#ifdef AFTER
    int same;
    __match_all_sync(~0u, paddock, &same);
    if (same) {
        mine.pixels = __reduce_add_sync(~0u, mine.pixels);
        mine.sum = __reduce_add_sync(~0u, mine.sum);
        mine.best = __reduce_max_sync(~0u, mine.best);
        if (threadIdx.x > 0)
            return;
    }
#endif
    add_to(&growth[paddock], mine);
}

__global__ void clear_growth(Growth *growth, int count) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count)
        growth[i] = {0, 0, -1000};
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "paddocks");
    const int width = p.small ? 200 : 8200, height = p.small ? 140 : 6000, across = p.small ? 3 : 40;
    const int wide = width / across + 1, high = p.small ? 60 : 170, count = across * (height / high + 2);
    const size_t n = (size_t)width * height;

    // Fences run nearly straight along the rows and the columns of the picture.
    std::vector<int> bend_x(height), bend_y(width);
    for (int y = 0; y < height; y++)
        bend_x[y] = (int)(wide / 8 * (1 + sinf(y * 0.011f)));
    for (int x = 0; x < width; x++)
        bend_y[x] = (int)(high / 8 * (1 + sinf(x * 0.007f)));
    std::vector<uchar2> picture(n);
    std::vector<unsigned short> map(n);
    std::vector<int> across_of(width + wide);
    for (size_t x = 0; x < across_of.size(); x++)
        across_of[x] = std::min((int)x / wide, across - 1);
    unsigned seed = 12;
    for (int y = 0; y < height; y++)
        for (int x = 0; x < width; x++) {
            const size_t at = (size_t)y * width + x;
            const int down = y + bend_y[x] < high ? 0 : (y + bend_y[x]) / high;
            map[at] = (unsigned short)(down * across + across_of[x + bend_x[y]]);
            const int noise = (seed = seed * 1664525u + 1013904223u) >> 27, lush = map[at] * 37 % 90;
            picture[at] = make_uchar2(110 - lush + noise, 90 + lush + noise);
        }

    uchar2 *d_picture = device_copy_of(picture.data(), n);
    unsigned short *d_map = device_copy_of(map.data(), n);
    Growth *d_growth = device_array<Growth>(count);
    const dim3 block(LANES, STRIPS);
    const dim3 grid((width + LANES - 1) / LANES, (height + STRIPS * HEIGHT - 1) / (STRIPS * HEIGHT));
    pair_time(&p, [&] {
        clear_growth<<<(count + 127) / 128, 128>>>(d_growth, count);
        paddocks<<<grid, block>>>(d_picture, d_map, width, height, d_growth);
    });

    std::vector<Growth> growth = host_copy_of(d_growth, count), expected(count, Growth{0, 0, -1000});
    for (size_t at = 0; at < n; at++) {
        Growth &g = expected[map[at]];
        const int index = vegetation_index(picture[at]);
        g.pixels++;
        g.sum += index;
        g.best = std::max(g.best, index);
    }
    for (int i = 0; i < count; i++) {
        pair_near(&p, "pixels", i, expected[i].pixels, growth[i].pixels, 0);
        pair_near(&p, "sum", i, expected[i].sum, growth[i].sum, 0);
        pair_near(&p, "best", i, expected[i].best, growth[i].best, 0);
    }
    return pair_end(&p);
}
