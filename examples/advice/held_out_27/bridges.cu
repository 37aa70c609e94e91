// SPDX-License-Identifier: Apache-2.0
//
// Rule: spills
// Change: the launch bounds no longer ask for 16 blocks on an SM.
// Why: for 16 blocks of 128 threads the compiler has 32 registers a thread, so the matrix, 21 doubles, is spilled to
// local memory; the occupancy that this buys is not worth it.
#include "../common.h"

#define FREEDOMS 6
#define ENTRIES (FREEDOMS * (FREEDOMS + 1) / 2)
#define AT(row, column) ((row) * ((row) + 1) / 2 + (column))

// Deflection of small bridges in each season: their stiffness changes with the temperature, so the matrix of every
// season is factorised (L D L^T) and solved anew. One thread for each bridge, entry e of bridge i at [e * n + i].
__global__ void
#ifdef AFTER
__launch_bounds__(128)
#else
__launch_bounds__(128, 16)
#endif
deflect(const double *stiffness, const double *loads, const double *warmth, double *deflection, int n, int seasons) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    for (int season = 0; season < seasons; season++) {
        double soft = 1.0 - 0.004 * warmth[season], a[ENTRIES], u[FREEDOMS];
#pragma unroll
        for (int e = 0; e < ENTRIES; e++)
            a[e] = soft * stiffness[(size_t)e * n + i];
#pragma unroll
        for (int j = 0; j < FREEDOMS; j++) {
            a[AT(j, j)] += 0.01 * warmth[season];
            u[j] = loads[(size_t)j * n + i];
        }
#pragma unroll
        for (int j = 0; j < FREEDOMS; j++) {  // a[AT(j, j)] becomes 1 / D
            double inverse = 1.0 / a[AT(j, j)];
#pragma unroll
            for (int r = j + 1; r < FREEDOMS; r++) {
                double factor = a[AT(r, j)] * inverse;
#pragma unroll
                for (int c = j + 1; c <= r; c++)
                    a[AT(r, c)] -= factor * a[AT(c, j)];
                u[r] -= factor * u[j];
            }
            a[AT(j, j)] = inverse;
        }
#pragma unroll
        for (int j = FREEDOMS - 1; j >= 0; j--) {
#pragma unroll
            for (int r = j + 1; r < FREEDOMS; r++)
                u[j] -= a[AT(r, j)] * u[r];
            u[j] *= a[AT(j, j)];
        }
        double square = 0;
#pragma unroll
        for (int j = 0; j < FREEDOMS; j++)
            square += u[j] * u[j];
        deflection[(size_t)season * n + i] = sqrt(square);
    }
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "bridges");
    int n = p.small ? 256 : 132 * 2048, seasons = p.small ? 2 : 8;
    std::vector<double> stiffness((size_t)ENTRIES * n), loads((size_t)FREEDOMS * n), warmth(seasons);
    unsigned seed = 1;
    for (int r = 0; r < FREEDOMS; r++)
        for (int c = 0; c <= r; c++)
            for (int i = 0; i < n; i++)
                stiffness[(size_t)AT(r, c) * n + i] = 0.001 * lcg_next(&seed, 1000) + (r == c ? 7.0 : -0.5);
    for (double &load : loads)
        load = 0.01 * lcg_next(&seed, 1000);
    for (int season = 0; season < seasons; season++)
        warmth[season] = 15 + 12 * sin(0.8 * season);
    double *d_stiffness = device_copy_of(stiffness.data(), stiffness.size()),
           *d_loads = device_copy_of(loads.data(), loads.size()), *d_warmth = device_copy_of(warmth.data(), seasons),
           *d_deflection = device_array<double>((size_t)seasons * n);
    pair_time(&p, [&] {
        deflect<<<(n + 127) / 128, 128>>>(d_stiffness, d_loads, d_warmth, d_deflection, n, seasons);
    });
    std::vector<double> deflection = host_copy_of(d_deflection, (size_t)seasons * n);
    for (int i = 0; i < n; i += p.small ? 1 : 53) {
        for (int season = 0; season < seasons; season++) {  // Gauss on the full matrix
            double a[FREEDOMS][FREEDOMS + 1], square = 0;
            for (int r = 0; r < FREEDOMS; r++) {
                for (int c = 0; c < FREEDOMS; c++) {
                    int entry = AT(std::max(r, c), std::min(r, c));
                    a[r][c] = (1 - 0.004 * warmth[season]) * stiffness[(size_t)entry * n + i];
                }
                a[r][r] += 0.01 * warmth[season];
                a[r][FREEDOMS] = loads[(size_t)r * n + i];
            }
            for (int j = 0; j < FREEDOMS; j++)
                for (int r = 0; r < FREEDOMS; r++)
                    for (int c = FREEDOMS; r != j && c >= j; c--)
                        a[r][c] -= a[r][j] / a[j][j] * a[j][c];
            for (int j = 0; j < FREEDOMS; j++)
                square += a[j][FREEDOMS] / a[j][j] * a[j][FREEDOMS] / a[j][j];
            pair_near(&p, "deflection", (size_t)season * n + i, sqrt(square), deflection[(size_t)season * n + i], 1e-9);
        }
    }
    return pair_end(&p);
}
