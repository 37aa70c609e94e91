// SPDX-License-Identifier: Apache-2.0
//
// Rule: function-inlining
// Change: the right side of the equation is inlined.
// Why: it is called four times in each step, for half a dozen instructions.
#include "../common.h"

enum { BLOCK = 256, STEPS = 400 };
#ifdef AFTER
#define SIDE __forceinline__
#else
#define SIDE __noinline__
#endif

struct State {
    float x, v;
};

// x'' = x - x^3 - 0.2 x' + push
static SIDE __device__ State side_of(State s, float push) {
    State d = {s.v, s.x - s.x * s.x * s.x - 0.2f * s.v + push};
    return d;
}

// Duffing oscillators with a push of their own, by the classical method of Runge and Kutta.
__global__ void duffing(const float *pushes, float2 *out, float step) {
    int t = blockIdx.x * BLOCK + threadIdx.x;
    float push = pushes[t], half = 0.5f * step;
    State s = {0.1f, 0};
    for (int k = 0; k < STEPS; k++) {
        State a = side_of(s, push);
        State b = side_of({s.x + half * a.x, s.v + half * a.v}, push);
        State c = side_of({s.x + half * b.x, s.v + half * b.v}, push);
        State d = side_of({s.x + step * c.x, s.v + step * c.v}, push);
        s.x += step / 6 * (a.x + 2 * (b.x + c.x) + d.x);
        s.v += step / 6 * (a.v + 2 * (b.v + c.v) + d.v);
    }
    out[t] = make_float2(s.x, s.v);
}

static double acceleration(double x, double v, double push) { return x - x * x * x - 0.2 * v + push; }

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "duffing");
    int n = p.small ? 1 << 13 : 1 << 20;
    std::vector<float> pushes = random_floats(n, 0.5f, 1, 1);
    float *d_pushes = device_copy_of(pushes.data(), n);
    float2 *d_out = device_array<float2>(n);
    pair_time(&p, [&] { duffing<<<n / BLOCK, BLOCK>>>(d_pushes, d_out, 0.02f); });
    std::vector<float2> out = host_copy_of(d_out, n);
    for (int t = 0; t < n; t += 4001) {
        double x = 0.1, v = 0, h = 0.02, f = pushes[t];
        for (int k = 0; k < STEPS; k++) {
            double a = acceleration(x, v, f), v2 = v + h / 2 * a, b = acceleration(x + h / 2 * v, v2, f);
            double v3 = v + h / 2 * b, c = acceleration(x + h / 2 * v2, v3, f);
            double v4 = v + h * c, d = acceleration(x + h * v3, v4, f);
            x += h / 6 * (v + 2 * (v2 + v3) + v4);
            v += h / 6 * (a + 2 * (b + c) + d);
        }
        pair_near(&p, "x", t, x, out[t].x, 1e-3);
        pair_near(&p, "v", t, v, out[t].y, 1e-3);
    }
    return pair_end(&p);
}
