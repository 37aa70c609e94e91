// SPDX-License-Identifier: Apache-2.0
//
// Rule: function-inlining
// Change: the function with the rates of change is inlined into the integrator.
// Why: it is called four times a step for a few operations, and its arguments and results go through local memory.
#include "../common.h"

enum { BLOCK = 256 };

#ifdef AFTER
#define INLINING __forceinline__
#else
#define INLINING __noinline__
#endif

struct Kettle {
    float watts, element, body, filled;  // power, heat capacities, grams of water
};

struct State {
    float element, water, body, steam;
};

__device__ INLINING void rates(const Kettle &k, const State &s, float room, State *out) {
    float into_water = 18.0f * (s.element - s.water), into_body = 2.5f * (s.water - s.body);
    float boiling = 40.0f * fmaxf(0.0f, s.water - 99.0f), lost = 0.6f * (s.body - room);
    float left = fmaxf(50.0f, k.filled - s.steam);
    out->element = (k.watts - into_water) * k.element;
    out->water = (into_water - into_body - boiling) * __fdividef(0.239f, left);
    out->body = (into_body - lost) * k.body;
    out->steam = boiling * 0.00044f;
}

__device__ static __forceinline__ State advanced(const State &s, const State &d, float h) {
    State r;
    r.element = s.element + h * d.element;
    r.water = s.water + h * d.water;
    r.body = s.body + h * d.body;
    r.steam = s.steam + h * d.steam;
    return r;
}

// Designs of kettles until the switch trips: Runge-Kutta steps of a quarter of a second; one thread per design.
__global__ void boil(const Kettle *kettles, State *ends, float *hottest, int n, int steps, float room) {
    int i = blockIdx.x * BLOCK + threadIdx.x;
    if (i >= n)
        return;
    Kettle kettle = kettles[i];
    State s = {room, room, room, 0};
    float most = room;
    const float h = 0.25f;
    for (int step = 0; step < steps; step++) {
        State k1, k2, k3, k4;
        rates(kettle, s, room, &k1);
        rates(kettle, advanced(s, k1, 0.5f * h), room, &k2);
        rates(kettle, advanced(s, k2, 0.5f * h), room, &k3);
        rates(kettle, advanced(s, k3, h), room, &k4);
        s.element += h / 6 * (k1.element + 2 * (k2.element + k3.element) + k4.element);
        s.water += h / 6 * (k1.water + 2 * (k2.water + k3.water) + k4.water);
        s.body += h / 6 * (k1.body + 2 * (k2.body + k3.body) + k4.body);
        s.steam += h / 6 * (k1.steam + 2 * (k2.steam + k3.steam) + k4.steam);
        most = fmaxf(most, s.element);
    }
    ends[i] = s;
    hottest[i] = most;
}

struct HostState {
    double v[4];
};

static HostState host_rates(const Kettle &k, const HostState &s, double room) {
    double into_water = 18 * (s.v[0] - s.v[1]), into_body = 2.5 * (s.v[1] - s.v[2]),
           boiling = 40 * std::max(0.0, s.v[1] - 99), lost = 0.6 * (s.v[2] - room),
           left = std::max(50.0, k.filled - s.v[3]);
    return {{(k.watts - into_water) * k.element, (into_water - into_body - boiling) * 0.239 / left,
             (into_body - lost) * k.body, boiling * 0.00044}};
}

static HostState host_advanced(const HostState &s, const HostState &d, double h) {
    HostState r;
    for (int c = 0; c < 4; c++)
        r.v[c] = s.v[c] + h * d.v[c];
    return r;
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "kettles");
    int n = p.small ? 128 : 132 * 1024, steps = p.small ? 6 : 120;
    const float room = 21.0f;
    std::vector<float> watts = random_floats(n, 1500, 3000, 1), element = random_floats(n, 0.004f, 0.01f, 2),
                       body = random_floats(n, 0.002f, 0.006f, 3), filled = random_floats(n, 150, 600, 4);
    std::vector<Kettle> kettles(n);
    for (int i = 0; i < n; i++)
        kettles[i] = {watts[i], element[i], body[i], filled[i]};
    Kettle *d_kettles = device_copy_of(kettles.data(), n);
    State *d_ends = device_array<State>(n);
    float *d_hottest = device_array<float>(n);
    pair_time(&p, [&] { boil<<<(n + BLOCK - 1) / BLOCK, BLOCK>>>(d_kettles, d_ends, d_hottest, n, steps, room); });
    std::vector<State> ends = host_copy_of(d_ends, n);
    std::vector<float> hottest = host_copy_of(d_hottest, n);
    for (int i = 0; i < n; i += p.small ? 1 : 53) {
        HostState s = {{room, room, room, 0}};
        double most = room, h = 0.25;
        for (int step = 0; step < steps; step++) {
            HostState k1 = host_rates(kettles[i], s, room),
                      k2 = host_rates(kettles[i], host_advanced(s, k1, h / 2), room),
                      k3 = host_rates(kettles[i], host_advanced(s, k2, h / 2), room),
                      k4 = host_rates(kettles[i], host_advanced(s, k3, h), room);
            for (int c = 0; c < 4; c++)
                s.v[c] += h / 6 * (k1.v[c] + 2 * (k2.v[c] + k3.v[c]) + k4.v[c]);
            most = std::max(most, s.v[0]);
        }
        pair_near(&p, "element", i, s.v[0], ends[i].element, 1e-3);
        pair_near(&p, "water", i, s.v[1], ends[i].water, 1e-3);
        pair_near(&p, "body", i, s.v[2], ends[i].body, 1e-3);
        pair_near(&p, "steam", i, s.v[3], ends[i].steam, 1e-3);
        pair_near(&p, "hottest", i, most, hottest[i], 1e-3);
    }
    return pair_end(&p);
}
