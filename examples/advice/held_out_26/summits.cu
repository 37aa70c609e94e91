// SPDX-License-Identifier: Apache-2.0
//
// Rule: atomic-contention
// Change: a thread keeps the highest cell so far and tells the district's counter only where its district changes.
// Why: neighbours lie in the same district, so that nearly all cells in flight queued up at the same few addresses.
#include "../common.h"

typedef unsigned long long Peak;  // height above, number of the cell below: the highest one is the greatest

enum { WIDTH = 32, LINES = 8, CELLS_OF_THREAD = 32 };

static __host__ __device__ Peak peak_at(float height, size_t cell) {
    return (Peak)(unsigned)(height * 1000) << 32 | (unsigned)cell;
}

// The summit of each district of a land map. A thread goes down its column for CELLS_OF_THREAD cells.
__global__ void find_summits(const float *heights, const unsigned short *districts, Peak *summits, int columns,
                             int rows) {
    int x = blockIdx.x * WIDTH + threadIdx.x;
    int top = (blockIdx.y * LINES + threadIdx.y) * CELLS_OF_THREAD, bottom = min(rows, top + CELLS_OF_THREAD);
    if (x >= columns || top >= rows)
        return;
#ifdef AFTER
    int district = districts[(size_t)top * columns + x];
    Peak highest = 0;
    for (int y = top; y < bottom; y++) {
        size_t cell = (size_t)y * columns + x;
        Peak peak = peak_at(heights[cell], cell);
        int here = districts[cell];
        if (here != district) {
            atomicMax(&summits[district], highest);
            district = here;
            highest = 0;
        }
        highest = max(highest, peak);
    }
    atomicMax(&summits[district], highest);
#else
    for (int y = top; y < bottom; y++) {
        size_t cell = (size_t)y * columns + x;
        Peak peak = peak_at(heights[cell], cell);
        atomicMax(&summits[districts[cell]], peak);
    }
#endif
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "summits");
    int columns = p.small ? 100 : 4000, rows = p.small ? 150 : 4000;
    int wide = p.small ? 30 : 170, high = p.small ? 45 : 130, across = columns / wide + 2, down = rows / high + 2;
    size_t count = (size_t)columns * rows;
    std::vector<float> heights = random_floats(count, 0, 300, 8);
    std::vector<unsigned short> districts(count);
    for (int y = 0; y < rows; y++)  // borders are crooked
        for (int x = 0; x < columns; x++) {
            int column = (x + y / 5 % 11) / wide, row = (y + x / 3 % 17) / high;
            districts[(size_t)y * columns + x] = (unsigned short)(row * across + column);
            heights[(size_t)y * columns + x] += 20 * (column % 5 + row % 7);
        }
    std::vector<Peak> summits(across * down);
    float *d_heights = device_copy_of(heights.data(), count);
    unsigned short *d_districts = device_copy_of(districts.data(), count);
    Peak *d_summits = device_copy_of(summits.data(), summits.size());
    dim3 block(WIDTH, LINES), grid((columns + WIDTH - 1) / WIDTH,
                                   (rows + LINES * CELLS_OF_THREAD - 1) / (LINES * CELLS_OF_THREAD));
    pair_time(&p, [&] { find_summits<<<grid, block>>>(d_heights, d_districts, d_summits, columns, rows); });
    std::vector<Peak> found = host_copy_of(d_summits, summits.size());
    for (size_t cell = 0; cell < count; cell++)
        summits[districts[cell]] = std::max(summits[districts[cell]], peak_at(heights[cell], cell));
    for (size_t i = 0; i < summits.size(); i++) {
        pair_near(&p, "height", i, (double)(summits[i] >> 32), (double)(found[i] >> 32), 0);
        pair_near(&p, "cell", i, (double)(unsigned)summits[i], (double)(unsigned)found[i], 0);
    }
    return pair_end(&p);
}
