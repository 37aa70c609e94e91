// SPDX-License-Identifier: Apache-2.0
//
// Rule: function-inlining
// Change: rates() is inlined into the step; before, it is kept out of line (larger models are built faster that way).
// Why: it is called four times a step, for some twenty operations; each call moves its arguments and results about,
// keeps the valley's constants in local memory, and ends what the scheduler can overlap.
#include "../common.h"

enum { BLOCK = 192 };

#ifdef AFTER
#define MODEL_CALL __forceinline__
#else
#define MODEL_CALL __noinline__
#endif

// A valley in which lynxes eat hares and hares eat willows (Hastings and Powell's food chain). Rates are per year.
struct Valley {
    float growth, room;              // of the willows, and how many there is room for
    float graze, graze_half;         // by a hare
    float hunt, hunt_half;           // by a lynx
    float hare_deaths, lynx_deaths;  // share that dies otherwise
};

struct Numbers {
    float willows, hares, lynxes;
};

struct History {
    float fewest;  // lynxes, ever
    float mean;    // number of hares
};

// What changes in a year; the winter's length makes the willows grow more or less.
static __device__ MODEL_CALL Numbers rates(const Valley &v, Numbers n, float season) {
    float grazed = v.graze * n.willows / (v.graze_half + n.willows) * n.hares;
    float hunted = v.hunt * n.hares / (v.hunt_half + n.hares) * n.lynxes;
    Numbers d;
    d.willows = season * v.growth * n.willows * (1 - n.willows / v.room) - grazed;
    d.hares = 0.6f * grazed - hunted - v.hare_deaths * n.hares;
    d.lynxes = 0.5f * hunted - v.lynx_deaths * n.lynxes;
    return d;
}

static __device__ Numbers moved(const Numbers &n, const Numbers &d, float h) {
    Numbers m = {n.willows + h * d.willows, n.hares + h * d.hares, n.lynxes + h * d.lynxes};
    return m;
}

// One valley of an ensemble a thread, by Runge and Kutta's method of the fourth order in steps of h years. Every
// `period` steps there is one hard winter, of a step.
__global__ void lynxes(const Valley *valleys, History *histories, int count, int steps, int period, float h) {
    int i = blockIdx.x * BLOCK + threadIdx.x;
    if (i >= count)
        return;
    Valley v = valleys[i];
    Numbers n = {0.8f * v.room, 0.4f, 0.3f};
    History history = {n.lynxes, 0};
    int left = period;
    for (int s = 0; s < steps; s++) {
        float season = --left ? 1.0f : 0.25f;
        if (!left)
            left = period;
        Numbers k1 = rates(v, n, season);
        Numbers k2 = rates(v, moved(n, k1, 0.5f * h), season);
        Numbers k3 = rates(v, moved(n, k2, 0.5f * h), season);
        Numbers k4 = rates(v, moved(n, k3, h), season);
        n.willows += h / 6 * (k1.willows + 2 * (k2.willows + k3.willows) + k4.willows);
        n.hares += h / 6 * (k1.hares + 2 * (k2.hares + k3.hares) + k4.hares);
        n.lynxes += h / 6 * (k1.lynxes + 2 * (k2.lynxes + k3.lynxes) + k4.lynxes);
        history.fewest = fminf(history.fewest, n.lynxes);
        history.mean += n.hares;
    }
    history.mean /= steps;
    histories[i] = history;
}

static void expected_history(const Valley &v, int steps, int period, double h, double *fewest, double *mean) {
    double n[3] = {0.8 * v.room, 0.4, 0.3};
    *fewest = n[2], *mean = 0;
    for (int s = 0; s < steps; s++) {
        const double at[4] = {0, 0.5, 0.5, 1}, share[4] = {1, 2, 2, 1};
        double k[3] = {0, 0, 0}, sum[3] = {0, 0, 0}, season = (s + 1) % period ? 1 : 0.25;
        for (int stage = 0; stage < 4; stage++) {
            double m[3];
            for (int c = 0; c < 3; c++)
                m[c] = n[c] + at[stage] * h * k[c];
            double grazed = v.graze * m[0] / (v.graze_half + m[0]) * m[1];
            double hunted = v.hunt * m[1] / (v.hunt_half + m[1]) * m[2];
            k[0] = season * v.growth * m[0] * (1 - m[0] / v.room) - grazed;
            k[1] = 0.6 * grazed - hunted - v.hare_deaths * m[1];
            k[2] = 0.5 * hunted - v.lynx_deaths * m[2];
            for (int c = 0; c < 3; c++)
                sum[c] += share[stage] * k[c];
        }
        for (int c = 0; c < 3; c++)
            n[c] += h / 6 * sum[c];
        *fewest = std::min(*fewest, n[2]);
        *mean += n[1] / steps;
    }
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "lynxes");
    int count = p.small ? 132 * BLOCK : 132 * 8 * BLOCK - 77, steps = p.small ? 40 : 240;
    float h = 0.05f;
    std::vector<float> r = random_floats((size_t)count * 8, 0.7f, 1.3f, 1);
    std::vector<Valley> valleys(count);
    for (int i = 0; i < count; i++) {
        const float *q = &r[(size_t)i * 8];
        valleys[i] = {1.2f * q[0], 3 * q[1], 1.5f * q[2], q[3], 0.9f * q[4], 0.8f * q[5], 0.2f * q[6], 0.1f * q[7]};
    }
    Valley *d_valleys = device_copy_of(valleys.data(), count);
    History *d_histories = device_array<History>(count);
    int blocks = (count + BLOCK - 1) / BLOCK;
    pair_time(&p, [&] { lynxes<<<blocks, BLOCK>>>(d_valleys, d_histories, count, steps, 20, h); });
    std::vector<History> histories = host_copy_of(d_histories, count);
    for (int i = 0; i < count; i += count / 89) {
        double fewest, mean;
        expected_history(valleys[i], steps, 20, h, &fewest, &mean);
        pair_near(&p, "fewest", i, fewest, histories[i].fewest, 1e-3);
        pair_near(&p, "mean", i, mean, histories[i].mean, 1e-3);
    }
    return pair_end(&p);
}
