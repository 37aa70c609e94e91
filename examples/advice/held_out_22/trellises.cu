// SPDX-License-Identifier: Apache-2.0
//
// Rule: indirect-addressing
// Change: the four neighbours of a knot are computed from its row and column, not read from lists.
// Why: the laths form a regular grid; the lists are as much to read as all positions, and each position waits for them.
#include "../common.h"

enum { WIDE = 64, HIGH = 4 };

// One step of a trellis under the weight of its roses: each knot is drawn towards its neighbours and sinks a little.
__global__ void settle(const float2 *now, const float *roses, const int *left, const int *right, const int *up,
                       const int *down, float2 *next, int width, int height, float pull) {
    int x = blockIdx.x * WIDE + threadIdx.x, y = blockIdx.y * HIGH + threadIdx.y;
    if (x >= width || y >= height)
        return;
    int i = y * width + x;
#ifdef AFTER
    int a = x ? i - 1 : i, b = x + 1 < width ? i + 1 : i, c = y ? i - width : i, d = y + 1 < height ? i + width : i;
#else
    int a = left[i], b = right[i], c = up[i], d = down[i];
#endif
    float2 me = now[i], l = now[a], r = now[b], u = now[c], o = now[d];
    float dx = l.x + r.x + u.x + o.x - 4 * me.x, dy = l.y + r.y + u.y + o.y - 4 * me.y;
    float stiff = pull * rsqrtf(1 + dx * dx + dy * dy);
    next[i] = make_float2(me.x + stiff * dx, me.y + stiff * dy - 0.01f * roses[i]);
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "trellises");
    int width = p.small ? 64 : 4096, height = p.small ? 48 : 2112;
    size_t n = (size_t)width * height;
    std::vector<float> now = random_floats(2 * n, -1, 1, 1), roses = random_floats(n, 0, 1, 2);
    std::vector<int> lists[4];
    int *d_lists[4];
    for (int k = 0; k < 4; k++) {
        lists[k].resize(n);
        for (int i = 0; i < (int)n; i++) {
            int x = i % width + (k == 1) - (k == 0), y = i / width + (k == 3) - (k == 2);
            lists[k][i] = x < 0 || x == width || y < 0 || y == height ? i : y * width + x;
        }
        d_lists[k] = device_copy_of(lists[k].data(), n);
    }
    float2 *d_now = device_copy_of((const float2 *)now.data(), n), *d_next = device_array<float2>(n);
    float *d_roses = device_copy_of(roses.data(), n), pull = 0.15f;
    dim3 block(WIDE, HIGH), grid(width / WIDE, height / HIGH);
    pair_time(&p, [&] {
        settle<<<grid, block>>>(d_now, d_roses, d_lists[0], d_lists[1], d_lists[2], d_lists[3], d_next, width, height,
                                pull);
    });
    std::vector<float2> next = host_copy_of(d_next, n);
    for (size_t i = 0; i < n; i += p.small ? 1 : 29) {
        double d[2] = {-4.0 * now[2 * i], -4.0 * now[2 * i + 1]};
        for (int k = 0; k < 4; k++)
            for (int c = 0; c < 2; c++)
                d[c] += now[2 * (size_t)lists[k][i] + c];
        double stiff = pull / sqrt(1 + d[0] * d[0] + d[1] * d[1]);
        pair_near(&p, "x", i, now[2 * i] + stiff * d[0], next[i].x, 1e-4);
        pair_near(&p, "y", i, now[2 * i + 1] + stiff * d[1] - 0.01 * roses[i], next[i].y, 1e-4);
    }
    return pair_end(&p);
}
