// SPDX-License-Identifier: Apache-2.0
//
// Rule: redundant-loads
// Change: the pointers are __restrict__.
// Why: it does not help: all that is loaded is loaded once, ahead of the only store.
#include "../common.h"

enum { BLOCK = 256 };

#ifdef AFTER
#define RESTRICT __restrict__
#else
#define RESTRICT
#endif

// One step of a quantity that a flow carries along, on a grid with a margin (first-order upwind differences).
__global__ void upwind(const float *RESTRICT q, const float *RESTRICT u, const float *RESTRICT v, float *RESTRICT next,
                       int pitch, float step) {
    int x = blockIdx.x * BLOCK + threadIdx.x + 1, y = blockIdx.y + 1;
    size_t at = (size_t)y * pitch + x;
    float here = q[at], along = u[at], across = v[at];
    float dx = along > 0 ? here - q[at - 1] : q[at + 1] - here;
    float dy = across > 0 ? here - q[at - pitch] : q[at + pitch] - here;
    next[at] = here - step * (along * dx + across * dy);
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "upwind");
    int width = p.small ? 512 : 4096, height = p.small ? 256 : 4096, pitch = width + 2;
    size_t cells = (size_t)pitch * (height + 2);
    std::vector<float> q = random_floats(cells, 0, 1, 1), u = random_floats(cells, -1, 1, 2),
                       v = random_floats(cells, -1, 1, 3);
    float *d_q = device_copy_of(q.data(), cells), *d_u = device_copy_of(u.data(), cells),
          *d_v = device_copy_of(v.data(), cells), *d_next = device_array<float>(cells);
    pair_time(&p, [&] { upwind<<<dim3(width / BLOCK, height), BLOCK>>>(d_q, d_u, d_v, d_next, pitch, 0.1f); });
    std::vector<float> next = host_copy_of(d_next, cells);
    for (int y = 1; y <= height; y += 11)
        for (int x = 1; x <= width; x += 13) {
            size_t at = (size_t)y * pitch + x;
            double dx = u[at] > 0 ? q[at] - q[at - 1] : q[at + 1] - q[at];
            double dy = v[at] > 0 ? q[at] - q[at - pitch] : q[at + pitch] - q[at];
            pair_near(&p, "next", at, q[at] - 0.1 * (u[at] * dx + v[at] * dy), next[at], 1e-5);
        }
    return pair_end(&p);
}
