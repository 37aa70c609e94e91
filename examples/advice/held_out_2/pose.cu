// SPDX-License-Identifier: Apache-2.0
//
// Rule: redundant-loads
// Change: the pointers are __restrict__.
// Why: a store to a result might change the matrix, so that its 12 numbers are loaded again for every point.
#include "../common.h"

enum { BLOCK = 256, PER_THREAD = 16 };

#ifdef AFTER
#define RESTRICT __restrict__
#else
#define RESTRICT
#endif

// Rotates and moves points (an array for each coordinate); each block has a pose (3 x 4 matrix) of its own.
__global__ void pose(const float *RESTRICT poses, const float *RESTRICT points, float *RESTRICT out, int n) {
    const float *m = poses + blockIdx.x * 12;
    int first = blockIdx.x * BLOCK * PER_THREAD + threadIdx.x;
    for (int k = 0; k < PER_THREAD; k++) {
        int i = first + k * BLOCK;
        float x = points[i], y = points[n + i], z = points[2 * n + i];
        out[i] = m[0] * x + m[1] * y + m[2] * z + m[3];
        out[n + i] = m[4] * x + m[5] * y + m[6] * z + m[7];
        out[2 * n + i] = m[8] * x + m[9] * y + m[10] * z + m[11];
    }
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "pose");
    int blocks = p.small ? 264 : 2112, n = blocks * BLOCK * PER_THREAD;
    std::vector<float> poses = random_floats(blocks * 12, -1, 1, 1), points = random_floats((size_t)n * 3, -1, 1, 2);
    float *d_poses = device_copy_of(poses.data(), poses.size()),
          *d_points = device_copy_of(points.data(), points.size()), *d_out = device_array<float>(points.size());
    pair_time(&p, [&] { pose<<<blocks, BLOCK>>>(d_poses, d_points, d_out, n); });
    std::vector<float> out = host_copy_of(d_out, points.size());
    for (int i = 0; i < n; i += 97)
        for (int r = 0; r < 3; r++) {
            const float *m = &poses[i / (BLOCK * PER_THREAD) * 12 + r * 4];
            double sum = m[3];
            for (int c = 0; c < 3; c++)
                sum += (double)m[c] * points[(size_t)c * n + i];
            pair_near(&p, "out", (size_t)r * n + i, sum, out[(size_t)r * n + i], 1e-5);
        }
    return pair_end(&p);
}
