// SPDX-License-Identifier: Apache-2.0
//
// Rule: function-inlining
// Change: the small functions of the motion model are inlined.
// Why: a call moves its arguments and keeps registers safe around it, and a pose that is handed over by its address
// has to live in local memory, for a dozen instructions of arithmetic.
#include "../common.h"

#ifdef AFTER
#define SMALL_FUNCTION __device__ __forceinline__
#else
#define SMALL_FUNCTION __device__ __noinline__
#endif

struct Pose {
    float x, y, heading;  // metres, radians
};

struct Task {
    Pose start;
    float goal_x, goal_y;
    float speed, turn;  // what the robot plans so far: metres and radians per second
};

constexpr float STEP = 0.1f, MARGIN = 0.4f, PI = 3.14159265f;

// A number in [-1, 1), of a triangular distribution.
SMALL_FUNCTION float disturbance(unsigned *state) {
    unsigned a = *state * 1664525u + 1013904223u, b = a * 1664525u + 1013904223u;
    *state = b;
    return ((int)(a >> 8) - (int)(b >> 8)) * (1.0f / (1 << 24));
}

SMALL_FUNCTION float wrapped(float angle) {
    if (angle > PI)
        angle -= 2 * PI;
    if (angle < -PI)
        angle += 2 * PI;
    return angle;
}

SMALL_FUNCTION void drive(Pose *pose, float speed, float turn) {
    const float middle = pose->heading + 0.5f * STEP * turn;
    pose->x += STEP * speed * __cosf(middle);
    pose->y += STEP * speed * __sinf(middle);
    pose->heading = wrapped(pose->heading + STEP * turn);
}

// Grows from the edge to the middle of what a round obstacle needs with its margin. obstacle: x, y, and one over the
// square of that radius.
SMALL_FUNCTION float danger(const Pose *pose, float3 obstacle) {
    const float dx = pose->x - obstacle.x, dy = pose->y - obstacle.y;
    const float depth = fmaxf(0.0f, 1 - (dx * dx + dy * dy) * obstacle.z);
    return depth * depth;
}

// Model predictive path integral control: each thread drives one disturbed copy of the plan of its robot
// (blockIdx.y) and tells what that would cost.
__global__ void unicycles(const Task *__restrict__ tasks, const float3 *__restrict__ obstacles, int obstacle_count,
                          int steps, float *__restrict__ costs) {
    const int rollout = blockIdx.x * blockDim.x + threadIdx.x, robot = blockIdx.y;
    const int all = gridDim.x * blockDim.x;
    const Task task = tasks[robot];
    Pose pose = task.start;
    unsigned state = (robot * all + rollout) * 2654435761u;
    float cost = 0;
    for (int step = 0; step < steps; step++) {
        const float speed = task.speed * (1 + 0.5f * disturbance(&state));
        const float turn = task.turn + 1.5f * disturbance(&state);
        drive(&pose, speed, turn);
        for (int o = 0; o < obstacle_count; o++)
            cost += 20 * danger(&pose, obstacles[o]);
        cost += STEP * (0.2f * turn * turn);
    }
    costs[robot * all + rollout] = cost + hypotf(task.goal_x - pose.x, task.goal_y - pose.y);
}

static double expected_cost(const Task &task, const std::vector<float3> &obstacles, int steps, unsigned state) {
    double x = task.start.x, y = task.start.y, heading = task.start.heading, cost = 0;
    auto disturb = [&state] {
        double a = lcg_next(&state, 1 << 24), b = lcg_next(&state, 1 << 24);
        return (a - b) / (1 << 24);
    };
    for (int step = 0; step < steps; step++) {
        double speed = task.speed * (1 + 0.5 * disturb()), turn = task.turn + 1.5 * disturb();
        x += 0.1 * speed * cos(heading + 0.05 * turn);
        y += 0.1 * speed * sin(heading + 0.05 * turn);
        heading += 0.1 * turn;
        for (const float3 &o : obstacles) {
            double depth = 1 - ((x - o.x) * (x - o.x) + (y - o.y) * (y - o.y)) * o.z;
            cost += depth > 0 ? 20 * depth * depth : 0;
        }
        cost += 0.02 * turn * turn;
    }
    return cost + hypot(task.goal_x - x, task.goal_y - y);
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "unicycles");
    const int robots = p.small ? 3 : 24, per_robot = p.small ? 128 : 8192, steps = p.small ? 8 : 60,
              obstacle_count = p.small ? 12 : 28;
    std::vector<float> place = random_floats(4 * robots, -6, 6, 5),
                       around = random_floats(3 * obstacle_count, -1, 1, 6);
    std::vector<Task> tasks(robots);
    for (int r = 0; r < robots; r++) {
        const float *at = &place[4 * r];
        tasks[r] = {{at[0], at[1], at[2] / 2}, at[3], -at[0], 0.8f + 0.05f * r, 0.1f * (r % 5 - 2)};
    }
    std::vector<float3> obstacles(obstacle_count);
    for (int o = 0; o < obstacle_count; o++) {
        const float reach = 0.9f + 0.5f * around[3 * o + 2] + MARGIN;
        obstacles[o] = make_float3(5 * around[3 * o], 5 * around[3 * o + 1], 1 / (reach * reach));
    }

    Task *d_tasks = device_copy_of(tasks.data(), robots);
    float3 *d_obstacles = device_copy_of(obstacles.data(), obstacle_count);
    float *d_costs = device_array<float>((size_t)robots * per_robot);
    const dim3 grid(per_robot / 64, robots);
    pair_time(&p, [&] { unicycles<<<grid, 64>>>(d_tasks, d_obstacles, obstacle_count, steps, d_costs); });

    std::vector<float> costs = host_copy_of(d_costs, (size_t)robots * per_robot);
    for (unsigned i = 0; i < costs.size(); i += p.small ? 5 : 331)
        pair_near(&p, "cost", i, expected_cost(tasks[i / per_robot], obstacles, steps, i * 2654435761u), costs[i],
                  2e-3);
    return pair_end(&p);
}
