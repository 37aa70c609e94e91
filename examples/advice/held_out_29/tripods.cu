// SPDX-License-Identifier: Apache-2.0
//
// Rule: spills
// Change: the launch bound asks for two blocks an SM instead of eight.
// Why: eight blocks leave a thread 32 registers, and the sums of the normal equations go to local memory and back.
#include "../common.h"

enum { BLOCK = 256, POINTS = 64, SUMS = 27 };
#ifdef AFTER
enum { BLOCKS_PER_SM = 2 };
#else
enum { BLOCKS_PER_SM = 8 };
#endif

__constant__ float4 targets[POINTS];

// Surveying: cameras on tripods see known targets. One thread builds the normal equations of one camera's pose (21
// sums of the symmetric 6x6 matrix, 6 of the right-hand side) from where it saw each target.
__global__ void __launch_bounds__(BLOCK, BLOCKS_PER_SM)
    tripods(const float *poses, const float2 *seen, float *normal, int cameras) {
    int c = blockIdx.x * BLOCK + threadIdx.x;
    if (c >= cameras)
        return;
    float pose[12], sums[SUMS] = {0};
#pragma unroll
    for (int k = 0; k < 12; k++)
        pose[k] = poses[k * cameras + c];
#pragma unroll 1
    for (int t = 0; t < POINTS; t++) {
        float4 target = targets[t];
        float2 at = seen[(size_t)t * cameras + c];
        float x = pose[0] * target.x + pose[1] * target.y + pose[2] * target.z + pose[3];
        float y = pose[4] * target.x + pose[5] * target.y + pose[6] * target.z + pose[7];
        float z = pose[8] * target.x + pose[9] * target.y + pose[10] * target.z + pose[11];
        float near = __frcp_rn(z), u = x * near, v = y * near;
        float ju[6] = {-u * v, 1 + u * u, -v, near, 0, -u * near};
        float jv[6] = {-1 - v * v, u * v, u, 0, near, -v * near};
        float du = at.x - u, dv = at.y - v;
        int s = 0;
#pragma unroll
        for (int a = 0; a < 6; a++) {
#pragma unroll
            for (int b = a; b < 6; b++)
                sums[s++] += target.w * (ju[a] * ju[b] + jv[a] * jv[b]);
            sums[s++] += target.w * (ju[a] * du + jv[a] * dv);
        }
    }
#pragma unroll
    for (int k = 0; k < SUMS; k++)
        normal[(size_t)k * cameras + c] = sums[k];
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "tripods");
    int cameras = p.small ? 1000 : 200000;
    std::vector<float> draws = random_floats(POINTS * 4, 0, 1, 1);
    std::vector<float4> list(POINTS);
    for (int t = 0; t < POINTS; t++)
        list[t] = {4 * draws[4 * t] - 2, 3 * draws[4 * t + 1] - 1.5f, draws[4 * t + 2], 0.5f + draws[4 * t + 3]};
    std::vector<float> poses = random_floats((size_t)cameras * 12, -0.1f, 0.1f, 2);
    for (int k = 0; k < 11; k += 5)
        for (int c = 0; c < cameras; c++)
            poses[(size_t)k * cameras + c] += 1;
    for (int c = 0; c < cameras; c++)
        poses[(size_t)11 * cameras + c] += 6;
    std::vector<float> seen = random_floats((size_t)cameras * POINTS * 2, -0.4f, 0.4f, 3);
    CUDA_CHECK(cudaMemcpyToSymbol(targets, list.data(), sizeof(float4) * POINTS));
    float *d_poses = device_copy_of(poses.data(), poses.size()), *d_seen = device_copy_of(seen.data(), seen.size());
    float *d_normal = device_array<float>((size_t)cameras * SUMS);
    pair_time(&p, [&] {
        tripods<<<(cameras + BLOCK - 1) / BLOCK, BLOCK>>>(d_poses, (const float2 *)d_seen, d_normal, cameras);
    });
    std::vector<float> normal = host_copy_of(d_normal, (size_t)cameras * SUMS);
    for (int c = 0; c < cameras; c += p.small ? 37 : 1999) {
        double sums[SUMS] = {0}, m[12];
        for (int k = 0; k < 12; k++)
            m[k] = poses[(size_t)k * cameras + c];
        for (int t = 0; t < POINTS; t++) {
            const float *at = &seen[((size_t)t * cameras + c) * 2];
            double q[3];
            for (int r = 0; r < 3; r++)
                q[r] = m[4 * r] * list[t].x + m[4 * r + 1] * list[t].y + m[4 * r + 2] * list[t].z + m[4 * r + 3];
            double near = 1 / q[2], u = q[0] * near, v = q[1] * near;
            double ju[7] = {-u * v, 1 + u * u, -v, near, 0, -u * near, at[0] - u};
            double jv[7] = {-1 - v * v, u * v, u, 0, near, -v * near, at[1] - v};
            for (int a = 0, s = 0; a < 6; a++)
                for (int b = a; b < 7; b++, s++)
                    sums[s] += list[t].w * (ju[a] * ju[b] + jv[a] * jv[b]);
        }
        for (int k = 0; k < SUMS; k++)
            pair_near(&p, "normal", (size_t)c * SUMS + k, sums[k], normal[(size_t)k * cameras + c], 1e-4);
    }
    return pair_end(&p);
}
