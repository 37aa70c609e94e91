// SPDX-License-Identifier: Apache-2.0
//
// Rule: loop-unrolling
// Change: the loop over the pieces of wire is unrolled eight times.
// Why: each turn waits for its loads and its root, and an SM has but eight warps.
#include "../common.h"

enum { BLOCK = 128 };

struct Piece {
    float4 middle, along;
};

// The field of a wire at each point: sum of along x r / |r|^3 over its pieces.
__global__ void biot_savart(const Piece *pieces, const float4 *points, float4 *field, int count) {
    int i = blockIdx.x * BLOCK + threadIdx.x;
    float4 at = points[i];
    float x = 0, y = 0, z = 0;
#ifdef AFTER
#pragma unroll 8
#endif
    for (int k = 0; k < count; k++) {
        float4 m = pieces[k].middle, l = pieces[k].along;
        float rx = at.x - m.x, ry = at.y - m.y, rz = at.z - m.z;
        float near = rsqrtf(rx * rx + ry * ry + rz * rz + 0.01f), weight = l.w * near * near * near;
        x += weight * (l.y * rz - l.z * ry);
        y += weight * (l.z * rx - l.x * rz);
        z += weight * (l.x * ry - l.y * rx);
    }
    field[i] = make_float4(x, y, z, 0);
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "biot_savart");
    int n = p.small ? 1 << 11 : 264 * BLOCK, count = p.small ? 250 : 4000;
    std::vector<float> wire = random_floats(8 * (size_t)count, -1, 1, 1), at = random_floats(4 * (size_t)n, -2, 2, 2);
    Piece *d_pieces = device_copy_of((const Piece *)wire.data(), count);
    float4 *d_points = device_copy_of((const float4 *)at.data(), n), *d_field = device_array<float4>(n);
    pair_time(&p, [&] { biot_savart<<<n / BLOCK, BLOCK>>>(d_pieces, d_points, d_field, count); });
    std::vector<float4> field = host_copy_of(d_field, n);
    for (int i = 0; i < n; i += 499) {
        double x = 0, size = 0;
        for (int k = 0; k < count; k++) {
            const float *m = &wire[8 * (size_t)k], *l = m + 4, *a = &at[4 * (size_t)i];
            double r[3] = {a[0] - m[0], a[1] - m[1], a[2] - m[2]};
            double weight = l[3] * pow(r[0] * r[0] + r[1] * r[1] + r[2] * r[2] + 0.01, -1.5);
            x += weight * (l[1] * r[2] - l[2] * r[1]);
            size += fabs(weight);
        }
        pair_near(&p, "field", i, x, field[i].x, 1e-5 * size);
    }
    return pair_end(&p);
}
