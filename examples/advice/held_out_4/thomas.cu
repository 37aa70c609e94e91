// SPDX-License-Identifier: Apache-2.0
//
// Rule: code-reordering
// Change: the next row's coefficients are loaded ahead of the division for the current row.
// Why: the stores of a row keep the loads of the next one behind them, and each row waits for memory and then for the
// division.
#include "../common.h"

enum { BLOCK = 128, ROWS = 128 };

// Thomas' algorithm: a tridiagonal system for each thread, forward and back; systems are interleaved.
__global__ void thomas(const float *lower, const float *diagonal, const float *upper, const float *right, float *c,
                       float *x, int n) {
    int i = blockIdx.x * BLOCK + threadIdx.x;
    float last_c = 0, last_d = 0;
#ifdef AFTER
    float a = lower[i], b = diagonal[i], up = upper[i], d = right[i];
#endif
    for (int k = 0; k < ROWS; k++) {
        int at = k * n + i;
#ifdef AFTER
        int ahead = k + 1 < ROWS ? at + n : at;
        float next_a = lower[ahead], next_b = diagonal[ahead], next_up = upper[ahead], next_d = right[ahead];
#else
        float a = lower[at], b = diagonal[at], up = upper[at], d = right[at];
#endif
        float scale = 1 / (b - a * last_c);
        last_c = up * scale;
        last_d = (d - a * last_d) * scale;
        c[at] = last_c;
        x[at] = last_d;
#ifdef AFTER
        a = next_a, b = next_b, up = next_up, d = next_d;
#endif
    }
    for (int k = ROWS - 2; k >= 0; k--) {
        last_d = x[k * n + i] - c[k * n + i] * last_d;
        x[k * n + i] = last_d;
    }
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "thomas");
    int n = p.small ? 1 << 11 : 132 * 6 * BLOCK;
    size_t all = (size_t)n * ROWS;
    std::vector<float> lower = random_floats(all, -1, 1, 1), diagonal = random_floats(all, 3, 4, 2),
                       upper = random_floats(all, -1, 1, 3), right = random_floats(all, -1, 1, 4);
    float *d_lower = device_copy_of(lower.data(), all), *d_diagonal = device_copy_of(diagonal.data(), all),
          *d_upper = device_copy_of(upper.data(), all), *d_right = device_copy_of(right.data(), all),
          *d_c = device_array<float>(all), *d_x = device_array<float>(all);
    pair_time(&p, [&] { thomas<<<n / BLOCK, BLOCK>>>(d_lower, d_diagonal, d_upper, d_right, d_c, d_x, n); });
    std::vector<float> x = host_copy_of(d_x, all);
    for (int i = 0; i < n; i += 503)
        for (int k = 0; k < ROWS; k++) {
            size_t at = (size_t)k * n + i;
            double left =
                diagonal[at] * x[at] + (k ? lower[at] * x[at - n] : 0) + (k + 1 < ROWS ? upper[at] * x[at + n] : 0);
            pair_near(&p, "row", at, right[at], left, 1e-4);
        }
    return pair_end(&p);
}
