// SPDX-License-Identifier: Apache-2.0
//
// Rule: spills
// Change: the launch bounds no longer ask for five CTAs on an SM.
// Why: five CTAs leave 48 registers to a thread, but a Runge-Kutta step keeps the state and several slopes of seventeen
// species; they were written to local memory and read back at every stage, more than the L1 cache holds.
#include "../common.h"

constexpr int THREADS = 256;
#ifdef AFTER
#define BOUNDS __launch_bounds__(THREADS)
#else
#define BOUNDS __launch_bounds__(THREADS, 5)
#endif

// A three-step signalling cascade by mass action. E switches A on, P switches it off; A that is on switches B on, Q
// switches it off; likewise B that is on, C and R. C that is on takes E away (the feedback). The pairs are the
// complexes in between.
enum Species { E, A, EA, AON, P, AONP, B, AONB, BON, Q, BONQ, C, BONC, CON, R, CONR, ECON, SPECIES };

// Binding, falling apart and catalysis of a reaction; per uM and second, per second.
struct Rate {
    float on, off, turn;
};
struct Kinetics {
    Rate activate_a, reset_a, activate_b, reset_b, activate_c, reset_c, feedback;
};

// Cash and Karp's stages, of fifth order.
__device__ constexpr float STAGE[6][5] = {
    {0, 0, 0, 0, 0},
    {1.f / 5, 0, 0, 0, 0},
    {3.f / 40, 9.f / 40, 0, 0, 0},
    {3.f / 10, -9.f / 10, 6.f / 5, 0, 0},
    {-11.f / 54, 5.f / 2, -70.f / 27, 35.f / 27, 0},
    {1631.f / 55296, 175.f / 512, 575.f / 13824, 44275.f / 110592, 253.f / 4096},
};
__device__ constexpr float WEIGHT[6] = {37.f / 378, 0, 250.f / 621, 125.f / 594, 0, 512.f / 1771};

template <typename Real> __host__ __device__ inline void slopes(const Real *c, const Kinetics &k, Real *slope) {
    const Real bind_a = k.activate_a.on * c[E] * c[A] - k.activate_a.off * c[EA], make_a = k.activate_a.turn * c[EA];
    const Real bind_p = k.reset_a.on * c[AON] * c[P] - k.reset_a.off * c[AONP], lose_a = k.reset_a.turn * c[AONP];
    const Real bind_b = k.activate_b.on * c[AON] * c[B] - k.activate_b.off * c[AONB],
               make_b = k.activate_b.turn * c[AONB];
    const Real bind_q = k.reset_b.on * c[BON] * c[Q] - k.reset_b.off * c[BONQ], lose_b = k.reset_b.turn * c[BONQ];
    const Real bind_c = k.activate_c.on * c[BON] * c[C] - k.activate_c.off * c[BONC],
               make_c = k.activate_c.turn * c[BONC];
    const Real bind_r = k.reset_c.on * c[CON] * c[R] - k.reset_c.off * c[CONR], lose_c = k.reset_c.turn * c[CONR];
    const Real bind_e = k.feedback.on * c[E] * c[CON] - k.feedback.off * c[ECON];
    slope[E] = make_a - bind_a - bind_e;
    slope[A] = lose_a - bind_a;
    slope[EA] = bind_a - make_a;
    slope[AON] = make_a - bind_p - bind_b + make_b;
    slope[P] = lose_a - bind_p;
    slope[AONP] = bind_p - lose_a;
    slope[B] = lose_b - bind_b;
    slope[AONB] = bind_b - make_b;
    slope[BON] = make_b - bind_q - bind_c + make_c;
    slope[Q] = lose_b - bind_q;
    slope[BONQ] = bind_q - lose_b;
    slope[C] = lose_c - bind_c;
    slope[BONC] = bind_c - make_c;
    slope[CON] = make_c - bind_r - bind_e;
    slope[R] = lose_c - bind_r;
    slope[CONR] = bind_r - lose_c;
    slope[ECON] = bind_e;
}

// A population of cells that differ in how much of each protein they have made. start[species * cells + cell] in uM.
// response: C that is on at the end; signal: its integral over the time.
__global__ void BOUNDS respond(const float *__restrict__ start, int cells, Kinetics kinetics, int steps, float dt,
                               float *__restrict__ response, float *__restrict__ signal) {
    const int cell = blockIdx.x * THREADS + threadIdx.x;
    if (cell >= cells)
        return;
    float c[SPECIES], k[6][SPECIES], stage[SPECIES], total = 0;
#pragma unroll
    for (int i = 0; i < SPECIES; i++)
        c[i] = start[(size_t)i * cells + cell];
#pragma unroll 1
    for (int step = 0; step < steps; step++) {
#pragma unroll
        for (int s = 0; s < 6; s++) {
#pragma unroll
            for (int i = 0; i < SPECIES; i++) {
                float add = 0;
#pragma unroll
                for (int j = 0; j < s; j++)
                    add += STAGE[s][j] * k[j][i];
                stage[i] = c[i] + dt * add;
            }
            slopes(stage, kinetics, k[s]);
        }
#pragma unroll
        for (int i = 0; i < SPECIES; i++)
            c[i] += dt * (WEIGHT[0] * k[0][i] + WEIGHT[2] * k[2][i] + WEIGHT[3] * k[3][i] + WEIGHT[5] * k[5][i]);
        total += dt * c[CON];
    }
    response[cell] = c[CON];
    signal[cell] = total;
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "enzymes");
    const int cells = p.small ? 4096 : 337920, steps = p.small ? 2 : 60;
    const float dt = 0.02f;
    const Kinetics kinetics = {{8, 1, 3}, {6, 1, 1.5f}, {5, 1, 4}, {7, 0.5f, 2}, {6, 1, 3}, {5, 1, 2}, {2, 0.3f, 0}};

    // How much of a protein a cell has is roughly log-normal.
    const float usual[SPECIES] = {0.3f, 1.5f, 0, 0, 0.4f, 0, 2, 0, 0, 0.5f, 0, 2.5f, 0, 0, 0.6f, 0, 0};
    std::vector<float> start((size_t)SPECIES * cells), spread = random_floats(start.size(), -0.7f, 0.7f, 1913);
    for (size_t i = 0; i < start.size(); i++)
        start[i] = usual[i / cells] * expf(spread[i]);

    float *d_start = device_copy_of(start.data(), start.size());
    float *d_response = device_array<float>(cells), *d_signal = device_array<float>(cells);
    pair_time(&p, [&] {
        respond<<<(cells + THREADS - 1) / THREADS, THREADS>>>(d_start, cells, kinetics, steps, dt, d_response,
                                                              d_signal);
    });

    // The reference takes the classical steps of fourth order, eight times as many.
    std::vector<float> response = host_copy_of(d_response, cells), signal = host_copy_of(d_signal, cells);
    for (int cell = 0; cell < cells; cell += p.small ? 97 : 2503) {
        double c[SPECIES], k[4][SPECIES], stage[SPECIES], total = 0, h = dt / 8.0;
        for (int i = 0; i < SPECIES; i++)
            c[i] = start[(size_t)i * cells + cell];
        for (int step = 1; step <= 8 * steps; step++) {
            for (int s = 0; s < 4; s++) {
                for (int i = 0; i < SPECIES; i++)
                    stage[i] = c[i] + (s == 0 ? 0 : s == 3 ? h : h / 2) * k[s ? s - 1 : 0][i] * (s > 0);
                slopes(stage, kinetics, k[s]);
            }
            for (int i = 0; i < SPECIES; i++)
                c[i] += h / 6 * (k[0][i] + 2 * k[1][i] + 2 * k[2][i] + k[3][i]);
            if (step % 8 == 0)
                total += dt * c[CON];
        }
        pair_near(&p, "response", cell, c[CON], response[cell], 2e-4);
        pair_near(&p, "signal", cell, total, signal[cell], 2e-4);
    }
    return pair_end(&p);
}
