// SPDX-License-Identifier: Apache-2.0
//
// Rule: code-reordering
// Also: loop-unrolling
// Change: the index of the next neighbour is loaded one turn ahead, while the position of the current one is on its
// way. Why: each turn waits for an index and then for the position that it names.
#include "../common.h"

enum { BLOCK = 128 };

__global__ void vertex_normals(const float4 *position, const int *list, const int *count, float4 *out, int n) {
    int i = blockIdx.x * BLOCK + threadIdx.x, neighbours = count[i];
    float4 own = position[i];
    float x = 0, y = 0, z = 0, last_x = 1, last_y = 0, last_z = 0;
#ifdef AFTER
    int next = list[i];
#endif
#pragma unroll 1
    for (int k = 0; k < neighbours; k++) {
#ifdef AFTER
        int j = next;
        if (k + 1 < neighbours)
            next = list[(k + 1) * n + i];
#else
        int j = list[k * n + i];
#endif
        float4 other = position[j];
        float dx = other.x - own.x, dy = other.y - own.y, dz = other.z - own.z;
        x += last_y * dz - last_z * dy;
        y += last_z * dx - last_x * dz;
        z += last_x * dy - last_y * dx;
        last_x = dx, last_y = dy, last_z = dz;
    }
    out[i] = make_float4(x, y, z, 0);
}

// Normals of a mesh's vertices from the fans of their neighbours.
int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "vertex_normals");
    int n = p.small ? 1 << 13 : 1 << 18, most = 24;
    std::vector<float> at = random_floats(3 * (size_t)n, -1, 1, 1);
    std::vector<float4> position(n);
    std::vector<int> list((size_t)most * n), count(n);
    unsigned seed = 9;
    for (int i = 0; i < n; i++)
        position[i] = make_float4(at[3 * i], at[3 * i + 1], at[3 * i + 2], 0);
    for (size_t k = 0; k < list.size(); k++)
        list[k] = (int)((k % n + 1 + lcg_next(&seed, 4096)) % n);
    for (int i = 0; i < n; i++)
        count[i] = 16 + (int)lcg_next(&seed, 8);
    float4 *d_position = device_copy_of(position.data(), n), *d_out = device_array<float4>(n);
    int *d_list = device_copy_of(list.data(), list.size()), *d_count = device_copy_of(count.data(), n);
    pair_time(&p, [&] { vertex_normals<<<n / BLOCK, BLOCK>>>(d_position, d_list, d_count, d_out, n); });
    std::vector<float4> out = host_copy_of(d_out, n);
    for (int i = 0; i < n; i += 71) {
        double x = 0, last_y = 0, last_z = 0;
        for (int k = 0; k < count[i]; k++) {
            float4 a = position[i], b = position[list[(size_t)k * n + i]];
            double dy = b.y - a.y, dz = b.z - a.z;
            x += last_y * dz - last_z * dy;
            last_y = dy, last_z = dz;
        }
        pair_near(&p, "normal", i, x, out[i].x, 1e-3);
    }
    return pair_end(&p);
}
