// SPDX-License-Identifier: Apache-2.0
//
// Rule: spills
// Change: the launch bounds no longer ask for 10 blocks on an SM.
// Why: 10 blocks of 128 threads leave 48 registers to a thread; a filter has 54 floats of state, so many of them are
// spilled to local memory and read back in every scan.
#include "../common.h"

enum { BLOCK = 128, STATES = 9, PACKED = STATES * (STATES + 1) / 2 };

#ifdef AFTER
#define BOUNDS __launch_bounds__(BLOCK)
#else
#define BOUNDS __launch_bounds__(BLOCK, 10)
#endif

struct Radar {
    float dt;         // seconds between two scans
    float noise;      // variance of a measured coordinate
    float manoeuvre;  // variance that a scan adds to the acceleration
    float start[3];   // variance of position, speed, acceleration before the first scan
};

// Where the element (i, j) of a symmetric matrix is, of which only the lower triangle is kept.
static __host__ __device__ constexpr int packed(int i, int j) {
    return i >= j ? i * (i + 1) / 2 + j : j * (j + 1) / 2 + i;
}

// State r += t * state s, and what that does to the covariance.
static __device__ __forceinline__ void advance(float *x, float *cov, int r, int s, float t) {
    x[r] += t * x[s];
    cov[packed(r, r)] += t * (2.0f * cov[packed(r, s)] + t * cov[packed(s, s)]);
#pragma unroll
    for (int k = 0; k < STATES; k++)
        if (k != r)
            cov[packed(r, k)] += t * cov[packed(s, k)];
}

// State r was measured.
static __device__ __forceinline__ void update(float *x, float *cov, int r, float measured, float noise) {
    float inverse = 1.0f / (cov[packed(r, r)] + noise), innovation = (measured - x[r]) * inverse, column[STATES];
#pragma unroll
    for (int k = 0; k < STATES; k++)
        column[k] = cov[packed(r, k)];
#pragma unroll
    for (int i = 0; i < STATES; i++) {
        x[i] += column[i] * innovation;
#pragma unroll
        for (int j = 0; j <= i; j++)
            cov[packed(i, j)] -= column[i] * inverse * column[j];
    }
}

// Kalman filter of one track per thread: positions (states 0 to 2), speeds (3 to 5), accelerations (6 to 8).
__global__ void BOUNDS aeroplanes(const float *__restrict__ plots, float *__restrict__ estimate, Radar radar,
                                  int tracks, int scans) {
    int track = blockIdx.x * BLOCK + threadIdx.x;
    if (track >= tracks)
        return;
    float x[STATES], cov[PACKED];
#pragma unroll
    for (int i = 0; i < STATES; i++) {
        x[i] = 0;
#pragma unroll
        for (int j = 0; j <= i; j++)
            cov[packed(i, j)] = i == j ? radar.start[i / 3] : 0.0f;
    }
    for (int scan = 0; scan < scans; scan++) {
#pragma unroll
        for (int a = 0; a < 3; a++) {
            advance(x, cov, a, a + 3, radar.dt);
            advance(x, cov, a, a + 6, 0.5f * radar.dt * radar.dt);
            advance(x, cov, a + 3, a + 6, radar.dt);
            cov[packed(a + 6, a + 6)] += radar.manoeuvre;
        }
        // The error of the height grows with the distance on the ground, which couples the three axes.
        float coupling = 1e-3f * (x[3] + x[4]);
        cov[packed(2, 0)] += coupling;
        cov[packed(2, 1)] += coupling;
#pragma unroll
        for (int a = 0; a < 3; a++)
            update(x, cov, a, plots[((size_t)scan * 3 + a) * tracks + track], radar.noise);
    }
#pragma unroll
    for (int i = 0; i < STATES; i++)
        estimate[(size_t)i * tracks + track] = x[i];
}

// The same with whole matrices.
static void reference(const std::vector<float> &plots, const Radar &radar, int tracks, int scans, int track,
                      double *x) {
    double p[STATES][STATES] = {}, f[STATES][STATES] = {}, fp[STATES][STATES], dt = radar.dt;
    for (int i = 0; i < STATES; i++) {
        x[i] = 0;
        p[i][i] = radar.start[i / 3];
        f[i][i] = 1;
        if (i < 6)
            f[i][i + 3] = dt;
        if (i < 3)
            f[i][i + 6] = 0.5 * dt * dt;
    }
    for (int scan = 0; scan < scans; scan++) {
        for (int i = 0; i < STATES; i++) {
            for (int k = i + 1; k < STATES; k++)
                x[i] += f[i][k] * x[k];
            for (int j = 0; j < STATES; j++) {
                fp[i][j] = 0;
                for (int k = 0; k < STATES; k++)
                    fp[i][j] += f[i][k] * p[k][j];
            }
        }
        for (int i = 0; i < STATES; i++)
            for (int j = 0; j < STATES; j++) {
                p[i][j] = i == j && i >= 6 ? radar.manoeuvre : 0;
                for (int k = 0; k < STATES; k++)
                    p[i][j] += fp[i][k] * f[j][k];
            }
        for (int a = 0; a < 2; a++) {
            p[2][a] += 1e-3 * (x[3] + x[4]);
            p[a][2] = p[2][a];
        }
        for (int a = 0; a < 3; a++) {
            double s = p[a][a] + radar.noise, v = plots[((size_t)scan * 3 + a) * tracks + track] - x[a], c[STATES];
            for (int i = 0; i < STATES; i++)
                c[i] = p[i][a];
            for (int i = 0; i < STATES; i++) {
                x[i] += c[i] * v / s;
                for (int j = 0; j < STATES; j++)
                    p[i][j] -= c[i] * c[j] / s;
            }
        }
    }
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "aeroplanes");
    int tracks = p.small ? 132 * 256 : 132 * 30 * BLOCK, scans = p.small ? 6 : 24;
    Radar radar = {1.0f, 25.0f, 0.05f, {100.0f, 40.0f, 1.0f}};
    std::vector<float> plots = random_floats((size_t)scans * 3 * tracks, -8, 8, 1);
    for (int scan = 0; scan < scans; scan++)
        for (int i = 0; i < tracks; i++)
            plots[(size_t)scan * 3 * tracks + i] += (float)scan * (i % 7);
    float *d_plots = device_copy_of(plots.data(), plots.size()), *d_estimate = device_array<float>(STATES * tracks);
    int grid = (tracks + BLOCK - 1) / BLOCK;
    pair_time(&p, [&] { aeroplanes<<<grid, BLOCK>>>(d_plots, d_estimate, radar, tracks, scans); });
    std::vector<float> estimate = host_copy_of(d_estimate, (size_t)STATES * tracks);
    for (int i = 0; i < tracks; i += 509) {
        double x[STATES];
        reference(plots, radar, tracks, scans, i, x);
        for (int s = 0; s < STATES; s++)
            pair_near(&p, "estimate", (size_t)s * tracks + i, x[s], estimate[(size_t)s * tracks + i], 2e-3);
    }
    return pair_end(&p);
}
