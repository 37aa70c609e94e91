// SPDX-License-Identifier: Apache-2.0
//
// Rule: global-coalescing
// Change: the paddle forces are stored with the samples of all canoes at one moment side by side, not canoe by canoe.
// Why: a thread walks through the samples of its own canoe, so that the 32 loads of a warp lie in 32 lines.
#include "../common.h"

enum { BLOCK = 256 };

static __host__ __device__ size_t sample_at(int canoe, int step, int n, int steps) {
#ifdef AFTER
    (void)steps;
    return (size_t)step * n + canoe;
#else
    (void)n;
    return (size_t)canoe * steps + step;
#endif
}

// A race from the forces at the paddles in 1/10 N, sampled ten times a second; one thread per canoe.
__global__ void race(const short *forces, const float *drags, const float *masses, float *finishes, float *tops, int n,
                     int steps, float course) {
    int i = blockIdx.x * BLOCK + threadIdx.x;
    if (i >= n)
        return;
    float drag = drags[i], per_mass = __fdividef(1.0f, masses[i]);
    float speed = 0, distance = 0, finish = -1, top = 0;
    const float h = 0.1f;
    for (int t = 0; t < steps; t++) {
        float force = 0.1f * forces[sample_at(i, t, n, steps)];
        speed = fmaxf(0.0f, speed + h * per_mass * (force - drag * speed * speed));
        distance += h * speed;
        if (finish < 0 && distance >= course)
            finish = (t + 1) * h - __fdividef(distance - course, speed);
        top = fmaxf(top, speed);
    }
    finishes[i] = finish < 0 ? steps * h + __fdividef(course - distance, speed + 0.1f) : finish;
    tops[i] = top;
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "canoes");
    int n = p.small ? 1024 : 132 * 1024, steps = p.small ? 40 : 240;
    float course = p.small ? 6 : 60;
    std::vector<float> drags = random_floats(n, 3, 6, 1), masses = random_floats(n, 80, 120, 2);
    std::vector<short> forces((size_t)n * steps);
    unsigned seed = 3;
    for (short &f : forces)
        f = (short)(200 + lcg_next(&seed, 1800));
    short *d_forces = device_copy_of(forces.data(), forces.size());
    float *d_drags = device_copy_of(drags.data(), n), *d_masses = device_copy_of(masses.data(), n);
    float *d_finishes = device_array<float>(n), *d_tops = device_array<float>(n);
    pair_time(&p, [&] {
        race<<<(n + BLOCK - 1) / BLOCK, BLOCK>>>(d_forces, d_drags, d_masses, d_finishes, d_tops, n, steps, course);
    });
    std::vector<float> finishes = host_copy_of(d_finishes, n), tops = host_copy_of(d_tops, n);
    for (int i = 0; i < n; i += p.small ? 1 : 37) {
        double speed = 0, distance = 0, finish = -1, top = 0, h = 0.1;
        for (int t = 0; t < steps; t++) {
            speed = std::max(0.0, speed + h / masses[i] *
                                              (0.1 * forces[sample_at(i, t, n, steps)] - drags[i] * speed * speed));
            distance += h * speed;
            if (finish < 0 && distance >= course)
                finish = (t + 1) * h - (distance - course) / speed;
            top = std::max(top, speed);
        }
        if (finish < 0)
            finish = steps * h + (course - distance) / (speed + 0.1);
        pair_near(&p, "finish", i, finish, finishes[i], 1e-3);
        pair_near(&p, "top", i, top, tops[i], 1e-3);
    }
    return pair_end(&p);
}
