// SPDX-License-Identifier: Apache-2.0
//
// Rule: block-increase
// Change: the waypoints of a robot are shared out to several blocks; they were all the work of the robot's one block.
// Why: a factory has 48 robots and the GPU 132 SMs, most of which have nothing to do while 48 blocks go round and
//      round over the waypoints.
#include "../common.h"

enum { BLOCK = 256, JOINTS = 6, OBSTACLES = 48, SAMPLES = 4 };

// A joint after Denavit and Hartenberg: offset along the joint's axis, length and twist of the link after it.
struct Joint {
    float offset, length, cos_twist, sin_twist;
};

struct Frame {
    float3 x, y, z, at;
};

__host__ __device__ static inline float3 mix(float a, float3 p, float b, float3 q) {
    return make_float3(a * p.x + b * q.x, a * p.y + b * q.y, a * p.z + b * q.z);
}

__host__ __device__ static inline Frame turned(const Frame &f, const Joint &joint, float angle) {
    float c = cosf(angle), s = sinf(angle);
    Frame g;
    g.x = mix(c, f.x, s, f.y);
    float3 aside = mix(-s, f.x, c, f.y);
    g.y = mix(joint.cos_twist, aside, joint.sin_twist, f.z);
    g.z = mix(-joint.sin_twist, aside, joint.cos_twist, f.z);
    float3 step = mix(joint.offset, f.z, joint.length, g.x);
    g.at = mix(1, f.at, 1, step);
    return g;
}

// Distance of the spheres of a link, SAMPLES of them between its ends, from the nearest obstacle (w: its radius).
__host__ __device__ static inline float clearance(float3 from, float3 to, float radius, const float4 *obstacles) {
    float least = 1e30f;
    for (int k = 0; k < OBSTACLES; k++) {
        float4 o = obstacles[k];
        float square = 1e30f;
        for (int i = 1; i <= SAMPLES; i++) {
            float part = (float)i / SAMPLES;
            float3 ball = mix(1 - part, from, part, to);
            float dx = ball.x - o.x, dy = ball.y - o.y, dz = ball.z - o.z;
            square = fminf(square, dx * dx + dy * dy + dz * dz);
        }
        least = fminf(least, sqrtf(square) - o.w);
    }
    return least - radius;
}

__host__ __device__ static inline float posture_clearance(const Joint *joints, const float *angles, size_t stride,
                                                          const float4 *obstacles) {
    Frame frame = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}, {0, 0, 0}};
    float least = 1e30f;
    for (int j = 0; j < JOINTS; j++) {
        float3 from = frame.at;
        frame = turned(frame, joints[j], angles[j * stride]);
        float radius = 0.11f - 0.012f * j;
        least = fminf(least, clearance(from, frame.at, radius, obstacles));
        least = fminf(least, frame.at.z + 0.3f);  // the floor
    }
    return least;
}

// blockIdx.x: the robot; its waypoints are shared out to gridDim.y blocks. angles: by robot, joint, waypoint.
__global__ void check_paths(const Joint *joints, const float *angles, const float4 *obstacles, float *clear,
                            int waypoints) {
    __shared__ float4 near[OBSTACLES];
    __shared__ Joint arm[JOINTS];
    int robot = blockIdx.x;
    for (int i = threadIdx.x; i < OBSTACLES; i += BLOCK) near[i] = obstacles[robot * OBSTACLES + i];
    if (threadIdx.x < JOINTS) arm[threadIdx.x] = joints[robot * JOINTS + threadIdx.x];
    __syncthreads();
    for (int w = blockIdx.y * BLOCK + threadIdx.x; w < waypoints; w += gridDim.y * BLOCK) {
        const float *posture = angles + (size_t)robot * JOINTS * waypoints + w;
        clear[(size_t)robot * waypoints + w] = posture_clearance(arm, posture, waypoints, near);
    }
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "grippers");
    int robots = p.small ? 2 : 48, waypoints = p.small ? 512 : 4096;
    std::vector<float> odds = random_floats((size_t)robots * OBSTACLES * 4, 0, 1, 71);
    std::vector<float> rest = random_floats((size_t)robots * JOINTS * 2, -1.6f, 1.6f, 72);
    std::vector<float4> obstacles((size_t)robots * OBSTACLES);
    for (size_t i = 0; i < obstacles.size(); i++) {
        const float *o = &odds[i * 4];
        float around = 6.2832f * o[0], away = 0.5f + 1.2f * o[1];
        obstacles[i] = make_float4(away * cosf(around), away * sinf(around), 1.6f * o[2], 0.04f + 0.1f * o[3]);
    }
    const float offset[JOINTS] = {0.4f, 0, 0, 0.52f, 0, 0.12f}, length[JOINTS] = {0.1f, 0.6f, 0.12f, 0, 0, 0};
    const float twist[JOINTS] = {-1.5708f, 0, -1.5708f, 1.5708f, -1.5708f, 0};
    std::vector<Joint> joints;
    for (int r = 0; r < robots; r++)
        for (int j = 0; j < JOINTS; j++) {
            float scale = 1 + 0.1f * (r % 4);
            joints.push_back({scale * offset[j], scale * length[j], cosf(twist[j]), sinf(twist[j])});
        }
    std::vector<float> angles((size_t)robots * JOINTS * waypoints);
    for (int i = 0; i < robots * JOINTS; i++)
        for (int w = 0; w < waypoints; w++)
            angles[(size_t)i * waypoints + w] = rest[i * 2] + 0.8f * sinf(rest[i * 2 + 1] + 20.f * w / waypoints);
    Joint *d_joints = device_copy_of(joints.data(), joints.size());
    float4 *d_obstacles = device_copy_of(obstacles.data(), obstacles.size());
    float *d_angles = device_copy_of(angles.data(), angles.size());
    float *d_clear = device_array<float>((size_t)robots * waypoints);
#ifdef AFTER
    dim3 grid(robots, (waypoints + BLOCK - 1) / BLOCK);
#else
    dim3 grid(robots);
#endif
    pair_time(&p, [&] { check_paths<<<grid, BLOCK>>>(d_joints, d_angles, d_obstacles, d_clear, waypoints); });
    std::vector<float> clear = host_copy_of(d_clear, (size_t)robots * waypoints);
    for (int r = 0; r < robots; r++)
        for (int w = r; w < waypoints; w += p.small ? 1 : 61) {
            const float *posture = &angles[(size_t)r * JOINTS * waypoints + w];
            float least =
                posture_clearance(&joints[(size_t)r * JOINTS], posture, waypoints, &obstacles[(size_t)r * OBSTACLES]);
            pair_near(&p, "clear", (size_t)r * waypoints + w, least, clear[(size_t)r * waypoints + w], 1e-4);
        }
    return pair_end(&p);
}
