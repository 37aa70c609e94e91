// SPDX-License-Identifier: Apache-2.0
//
// Rule: vectorised-access
// Also: global-coalescing
// Change: a quaternion is aligned to its size, so that one access loads or stores all of it.
// Why: its four numbers are loaded one by one, each time with a stride of 16 bytes between the lanes.
#include "../common.h"

enum { BLOCK = 256, BONES = 64 };

#ifdef AFTER
#define ALIGNED __align__(16)
#else
#define ALIGNED
#endif

struct ALIGNED Quaternion {
    float w, x, y, z;
};

// Blends two animations of the bones of many figures: how much of the second one is in it, each figure says itself.
__global__ void blend(const Quaternion *walk, const Quaternion *run, const float *shares, Quaternion *out) {
    int i = blockIdx.x * BLOCK + threadIdx.x;
    float share = shares[i / BONES];
    Quaternion a = walk[i], b = run[i];
    float keep = 1.0f - share, cosine = a.w * b.w + a.x * b.x + a.y * b.y + a.z * b.z;
    if (cosine < 0.0f)
        share = -share;
    Quaternion q = {keep * a.w + share * b.w, keep * a.x + share * b.x, keep * a.y + share * b.y,
                    keep * a.z + share * b.z};
    float scale = rsqrtf(q.w * q.w + q.x * q.x + q.y * q.y + q.z * q.z);
    out[i] = {scale * q.w, scale * q.x, scale * q.y, scale * q.z};
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "anim_blend");
    int figures = p.small ? 128 : 30000, n = figures * BONES;
    std::vector<float> numbers = random_floats((size_t)n * 8, -1, 1, 1), shares = random_floats(figures, 0, 0.4f, 2);
    std::vector<Quaternion> poses(2 * (size_t)n);
    for (size_t i = 0; i < poses.size(); i++) {
        const float *q = &numbers[4 * i];
        float size = sqrtf(q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3]) + 1e-6f;
        poses[i] = {q[0] / size, q[1] / size, q[2] / size, q[3] / size};
    }
    Quaternion *d_walk = device_copy_of(poses.data(), n), *d_run = device_copy_of(&poses[n], n),
               *d_out = device_array<Quaternion>(n);
    float *d_shares = device_copy_of(shares.data(), figures);
    pair_time(&p, [&] { blend<<<n / BLOCK, BLOCK>>>(d_walk, d_run, d_shares, d_out); });
    std::vector<Quaternion> out = host_copy_of(d_out, n);
    for (int i = 0; i < n; i += 53) {
        Quaternion a = poses[i], b = poses[(size_t)n + i];
        double cosine = (double)a.w * b.w + (double)a.x * b.x + (double)a.y * b.y + (double)a.z * b.z;
        double keep = 1.0 - shares[i / BONES], share = cosine < 0 ? -shares[i / BONES] : shares[i / BONES];
        double w = keep * a.w + share * b.w, x = keep * a.x + share * b.x, y = keep * a.y + share * b.y,
               z = keep * a.z + share * b.z, size = sqrt(w * w + x * x + y * y + z * z);
        if (fabs(cosine) < 1e-5)  // a rounding may decide which way round
            continue;
        pair_near(&p, "w", i, w / size, out[i].w, 1e-4);
        pair_near(&p, "x", i, x / size, out[i].x, 1e-4);
        pair_near(&p, "y", i, y / size, out[i].y, 1e-4);
        pair_near(&p, "z", i, z / size, out[i].z, 1e-4);
    }
    return pair_end(&p);
}
