// SPDX-License-Identifier: Apache-2.0
//
// Rule: function-inlining
// Change: clearance(), which the planner shares with the simulator of the drones, is inlined where it is called.
// Why: it is some twenty instructions; the call around it, with its arguments moved into place and its loads through a
// generic pointer, costs as much, and nothing of the next obstacle can start before it returns.
#include "../common.h"

#ifdef AFTER
#define SHARED_WITH_SIMULATOR __forceinline__
#else
#define SHARED_WITH_SIMULATOR __noinline__
#endif

constexpr int THREADS = 128, MOST_OBSTACLES = 96;

// A mast, a cable or a branch: a segment with a radius.
struct alignas(16) Capsule {
    float x, y, z, radius;
    float dx, dy, dz;  // from the start to the end
    float one_over_length2;
};

// A candidate: three cubic polynomials of the time.
struct Cubic {
    float a, b, c, d;
    __host__ __device__ float at(float t) const { return ((d * t + c) * t + b) * t + a; }
};

// Metres between a point and the surface of an obstacle.
__device__ SHARED_WITH_SIMULATOR float clearance(float x, float y, float z, const Capsule *obstacle) {
    const float px = x - obstacle->x, py = y - obstacle->y, pz = z - obstacle->z;
    const float along = px * obstacle->dx + py * obstacle->dy + pz * obstacle->dz;
    const float s = __saturatef(along * obstacle->one_over_length2);
    const float qx = px - s * obstacle->dx, qy = py - s * obstacle->dy, qz = pz - s * obstacle->dz;
    const float square = qx * qx + qy * qy + qz * qz + 1e-12f;
    return square * rsqrtf(square) - obstacle->radius;
}

// The price of each candidate path: how far it comes inside the safety margin of the obstacles, over all instants, and
// how hard it accelerates. A swarm asks for this many times a second.
__global__ void rate_paths(const Cubic *__restrict__ paths, int count, const Capsule *__restrict__ obstacles,
                           int obstacle_count, int instants, float margin, float *__restrict__ price,
                           float *__restrict__ closest) {
    __shared__ Capsule near_by[MOST_OBSTACLES];
    for (int i = threadIdx.x; i < obstacle_count; i += THREADS)
        near_by[i] = obstacles[i];
    __syncthreads();
    const int path = blockIdx.x * THREADS + threadIdx.x;
    if (path >= count)
        return;
    const Cubic px = paths[path], py = paths[count + path], pz = paths[2 * count + path];
    float penalty = 0, least = 1e6f, effort = 0;
    for (int i = 0; i < instants; i++) {
        const float t = (float)i / (instants - 1);
        const float x = px.at(t), y = py.at(t), z = pz.at(t);
        for (int o = 0; o < obstacle_count; o++) {
            const float gap = clearance(x, y, z, &near_by[o]);
            const float inside = fmaxf(margin - gap, 0.0f);
            penalty += inside * inside;
            least = fminf(least, gap);
        }
        const float ax = 2 * px.c + 6 * px.d * t, ay = 2 * py.c + 6 * py.d * t, az = 2 * pz.c + 6 * pz.d * t;
        effort += ax * ax + ay * ay + az * az;
    }
    price[path] = 5 * penalty + 0.01f * effort;
    closest[path] = least;
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "drones");
    const int count = p.small ? 640 : 100000, obstacle_count = p.small ? 20 : 72, instants = p.small ? 8 : 40;
    const float margin = 1.5f;

    std::vector<Capsule> obstacles(obstacle_count);
    std::vector<float> random = random_floats(obstacle_count * 7, -1, 1, 1903);
    for (int o = 0; o < obstacle_count; o++) {
        const float *r = &random[o * 7];
        Capsule c = {20 * r[0], 20 * r[1], 6 + 5 * r[2], 0.3f + 0.2f * r[3], 6 * r[4], 6 * r[5], 4 + 3 * r[6], 0};
        c.one_over_length2 = 1 / (c.dx * c.dx + c.dy * c.dy + c.dz * c.dz);
        obstacles[o] = c;
    }
    // From where the drone is, at the speed that it has, to somewhere near its goal.
    std::vector<Cubic> paths(3 * (size_t)count);
    const float start[3] = {-18, -15, 3}, speed[3] = {12, 9, 4}, goal[3] = {17, 16, 8};
    std::vector<float> wish = random_floats(paths.size() * 2, -8, 8, 7);
    for (int axis = 0; axis < 3; axis++)
        for (int i = 0; i < count; i++) {
            size_t k = (size_t)axis * count + i;
            float bend = wish[2 * k], end = goal[axis] + 0.3f * wish[2 * k + 1];
            paths[k] = {start[axis], speed[axis], bend, end - start[axis] - speed[axis] - bend};
        }

    Capsule *d_obstacles = device_copy_of(obstacles.data(), obstacle_count);
    Cubic *d_paths = device_copy_of(paths.data(), paths.size());
    float *d_price = device_array<float>(count), *d_closest = device_array<float>(count);
    pair_time(&p, [&] {
        rate_paths<<<(count + THREADS - 1) / THREADS, THREADS>>>(d_paths, count, d_obstacles, obstacle_count, instants,
                                                                 margin, d_price, d_closest);
    });

    std::vector<float> price = host_copy_of(d_price, count), closest = host_copy_of(d_closest, count);
    for (int i = 0; i < count; i += p.small ? 23 : 997) {
        double penalty = 0, effort = 0, least = 1e6;
        for (int k = 0; k < instants; k++) {
            double t = (double)k / (instants - 1), at[3];
            for (int axis = 0; axis < 3; axis++) {
                const Cubic &c = paths[(size_t)axis * count + i];
                at[axis] = c.a + t * (c.b + t * (c.c + t * c.d));
                effort += (2 * c.c + 6 * c.d * t) * (2 * c.c + 6 * c.d * t);
            }
            for (const Capsule &c : obstacles) {
                double x = at[0] - c.x, y = at[1] - c.y, z = at[2] - c.z;
                double s = std::min(std::max((x * c.dx + y * c.dy + z * c.dz) * c.one_over_length2, 0.0), 1.0);
                double gap = sqrt(pow(x - s * c.dx, 2) + pow(y - s * c.dy, 2) + pow(z - s * c.dz, 2)) - c.radius;
                penalty += gap < margin ? (margin - gap) * (margin - gap) : 0;
                least = std::min(least, gap);
            }
        }
        pair_near(&p, "price", i, 5 * penalty + 0.01 * effort, price[i], 1e-3);
        pair_near(&p, "closest", i, least, closest[i], 1e-3);
    }
    return pair_end(&p);
}
