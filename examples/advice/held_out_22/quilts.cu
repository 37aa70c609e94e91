// SPDX-License-Identifier: Apache-2.0
//
// Rule: shared-conflicts
// Change: the rows of the tile are one word longer than they need to be.
// Why: each thread goes along its own row of the tile; with rows of 32 words all threads of a warp meet in one bank.
#include "../common.h"

#ifdef AFTER
enum { PAD = 1 };
#else
enum { PAD = 0 };
#endif
enum { ROWS = 64, COLUMNS = 32 };

// The tension of the thread along each row of stitches: what the needle asks for, smoothed in the order of sewing.
__global__ void sew(const float *asked, float *tension, float *slack, int width, float stretch) {
    __shared__ float tile[ROWS][COLUMNS + PAD];
    int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    size_t first = (size_t)blockIdx.x * ROWS;
    float state = 0, most = 0;
    for (int start = 0; start < width; start += COLUMNS) {
        int columns = min((int)COLUMNS, width - start);
        for (int r = warp; r < ROWS; r += 2)
            if (lane < columns)
                tile[r][lane] = asked[(first + r) * width + start + lane];
        __syncthreads();
        for (int k = 0; k < columns; k++) {
            float want = tile[threadIdx.x][k];
            float change = want - state;
            state += (change > 0 ? stretch : 0.5f * stretch) * change;
            most = fmaxf(most, state - want);
            tile[threadIdx.x][k] = state;
        }
        __syncthreads();
        for (int r = warp; r < ROWS; r += 2)
            if (lane < columns)
                tension[(first + r) * width + start + lane] = tile[r][lane];
        __syncthreads();
    }
    slack[first + threadIdx.x] = most;
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "quilts");
    int blocks = p.small ? 16 : 132 * 8, width = p.small ? 80 : 200;
    size_t rows = (size_t)blocks * ROWS, n = rows * width;
    std::vector<float> asked = random_floats(n, 0, 1, 1);
    float *d_asked = device_copy_of(asked.data(), n), *d_tension = device_array<float>(n),
          *d_slack = device_array<float>(rows), stretch = 0.4f;
    pair_time(&p, [&] { sew<<<blocks, ROWS>>>(d_asked, d_tension, d_slack, width, stretch); });
    std::vector<float> tension = host_copy_of(d_tension, n), slack = host_copy_of(d_slack, rows);
    for (size_t row = 0; row < rows; row += p.small ? 1 : 37) {
        double state = 0, most = 0;
        for (int k = 0; k < width; k++) {
            double change = asked[row * width + k] - state;
            state += (change > 0 ? stretch : 0.5 * stretch) * change;
            most = std::max(most, state - asked[row * width + k]);
            pair_near(&p, "tension", row * width + k, state, tension[row * width + k], 1e-4);
        }
        pair_near(&p, "slack", row, most, slack[row], 1e-4);
    }
    return pair_end(&p);
}
