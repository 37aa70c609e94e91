// SPDX-License-Identifier: Apache-2.0
//
// Rule: spills
// Change: __launch_bounds__ asks for two blocks on an SM instead of eight.
// Why: eight blocks of 256 threads leave a thread 32 registers; the sums over the plies and the 6 x 6 system do not
// fit, and are stored to local memory and loaded back.
#include "../common.h"

enum { BLOCK = 256, MATERIALS = 3, SIZE = 6, TRIANGLE = SIZE * (SIZE + 1) / 2 };

#ifdef AFTER
enum { BLOCKS_ON_SM = 2 };
#else
enum { BLOCKS_ON_SM = 8 };
#endif

// Reduced stiffness of a ply along its fibres in GPa, its thickness in mm, its expansion along and across them in
// thousandths per 100 K.
struct Material {
    float q11, q12, q22, q66, thickness, along, across;
};

struct Layup {
    Material material[MATERIALS];
    int plies;
};

template <typename T> struct Stiffness {
    T xx, xy, yy, ss, xs, ys;
};

static __host__ __device__ int at(int row, int column) {
    return row >= column ? row * (row + 1) / 2 + column : column * (column + 1) / 2 + row;
}

// The ply's stiffness in the axes of the panel.
template <typename T> static __host__ __device__ Stiffness<T> rotated(const Material &m, T c, T s) {
    T c2 = c * c, s2 = s * s, c4 = c2 * c2, s4 = s2 * s2, cs = c * s, both = c2 * s2;
    T mixed = (T)m.q12 + 2 * (T)m.q66, a = m.q11 - mixed, b = (T)m.q22 - mixed;
    Stiffness<T> q;
    q.xx = m.q11 * c4 + 2 * mixed * both + m.q22 * s4;
    q.yy = m.q11 * s4 + 2 * mixed * both + m.q22 * c4;
    q.xy = ((T)m.q11 + m.q22 - 4 * (T)m.q66) * both + m.q12 * (c4 + s4);
    q.ss = ((T)m.q11 + m.q22 - 2 * (T)m.q12 - 2 * (T)m.q66) * both + m.q66 * (c4 + s4);
    q.xs = cs * (a * c2 - b * s2);
    q.ys = cs * (a * s2 - b * c2);
    return q;
}

// Adds weight times the 3 x 3 stiffness to the block of the symmetric matrix that starts at (row, column).
template <typename T>
static __host__ __device__ void add_block(T *matrix, int row, int column, T weight, const Stiffness<T> &q) {
    const T full[3][3] = {{q.xx, q.xy, q.xs}, {q.xy, q.yy, q.ys}, {q.xs, q.ys, q.ss}};
#pragma unroll
    for (int i = 0; i < 3; i++)
#pragma unroll
        for (int j = 0; j < (row == column ? i + 1 : 3); j++)
            matrix[at(row + i, column + j)] += weight * full[i][j];
}

// L D L^T in place, then the solution in x.
template <typename T> static __host__ __device__ void solve(T *m, T *x) {
#pragma unroll
    for (int k = 0; k < SIZE; k++) {
        T pivot = 1 / m[at(k, k)];
#pragma unroll
        for (int i = k + 1; i < SIZE; i++) {
            T factor = m[at(i, k)] * pivot;
#pragma unroll
            for (int j = k + 1; j <= i; j++)
                m[at(i, j)] -= factor * m[at(j, k)];
            x[i] -= factor * x[k];
        }
        m[at(k, k)] = pivot;
    }
#pragma unroll
    for (int k = SIZE - 1; k >= 0; k--) {
#pragma unroll
        for (int i = k + 1; i < SIZE; i++)
            x[k] -= m[at(i, k)] * x[i];
        x[k] *= m[at(k, k)];
    }
}

// Adds the forces (or moments) of the hindered expansion.
template <typename T>
static __host__ __device__ void add_expansion(T *x, T weight, const Stiffness<T> &q, const T *free) {
    x[0] += weight * (q.xx * free[0] + q.xy * free[1] + q.xs * free[2]);
    x[1] += weight * (q.xy * free[0] + q.yy * free[1] + q.ys * free[2]);
    x[2] += weight * (q.xs * free[0] + q.ys * free[1] + q.ss * free[2]);
}

// Classical laminate theory at one place of the panel: its strains and curvatures under the six loads in x and heat.
template <typename T>
static __host__ __device__ void laminate(const Layup &layup, const float2 *angle, const unsigned char *kind,
                                         size_t stride, T heat, T *x) {
    T matrix[TRIANGLE] = {0}, bottom = 0;
    for (int ply = 0; ply < layup.plies; ply++)
        bottom -= (T)0.5 * layup.material[ply % MATERIALS].thickness;
    for (int ply = 0; ply < layup.plies; ply++) {
        const Material &m = layup.material[ply % MATERIALS];
        float2 turn = angle[kind[ply * stride]];
        Stiffness<T> q = rotated<T>(m, turn.x, turn.y);
        T h = m.thickness, middle = bottom + h / 2;
        add_block(matrix, 0, 0, h, q);
        add_block(matrix, 3, 0, h * middle, q);
        add_block(matrix, 3, 3, h * (middle * middle + h * h / 12), q);
        T c = turn.x, s = turn.y, along = m.along * heat, across = m.across * heat;
        const T free[3] = {along * c * c + across * s * s, along * s * s + across * c * c,
                           2 * c * s * (along - across)};
        add_expansion(x, h, q, free);
        add_expansion(x + 3, h * middle, q, free);
        bottom += h;
    }
    solve(matrix, x);
}

__global__ void __launch_bounds__(BLOCK, BLOCKS_ON_SM)
    panel_strains(const __grid_constant__ Layup layup, const float2 *__restrict__ angle,
                  const unsigned char *__restrict__ kind, const float *__restrict__ load,
                  const float *__restrict__ heat, float *__restrict__ strain, int places) {
    int place = blockIdx.x * BLOCK + threadIdx.x;
    if (place >= places)
        return;
    float x[SIZE];
#pragma unroll
    for (int i = 0; i < SIZE; i++)
        x[i] = load[(size_t)i * places + place];
    laminate(layup, angle, kind + place, places, heat[place], x);
#pragma unroll
    for (int i = 0; i < SIZE; i++)
        strain[(size_t)i * places + place] = x[i];
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "laminates");
    int places = 132 * BLOCK * (p.small ? 1 : 32) - 77, kinds = 24;
    Layup layup = {{{142, 2.9f, 9.1f, 5.2f, 0.13f, -0.05f, 3.0f},
                     {39, 2.2f, 8.4f, 4.1f, 0.2f, 0.7f, 2.2f},
                     {77, 1.9f, 5.6f, 2.3f, 0.15f, -0.4f, 6.0f}},
                    p.small ? 12 : 24};
    std::vector<float2> angle(kinds);
    for (int k = 0; k < kinds; k++)
        angle[k] = make_float2(cosf(3.14159265f * k / kinds), sinf(3.14159265f * k / kinds));
    std::vector<unsigned char> kind((size_t)layup.plies * places);
    lcg_fill(kind.data(), kind.size(), 3, kinds);
    std::vector<float> load = random_floats((size_t)SIZE * places, -1, 1, 4),
                       heat = random_floats(places, -1, 1, 5);
    float2 *d_angle = device_copy_of(angle.data(), kinds);
    unsigned char *d_kind = device_copy_of(kind.data(), kind.size());
    float *d_load = device_copy_of(load.data(), load.size()), *d_heat = device_copy_of(heat.data(), places),
          *d_strain = device_array<float>(load.size());
    pair_time(&p, [&] {
        panel_strains<<<(places + BLOCK - 1) / BLOCK, BLOCK>>>(layup, d_angle, d_kind, d_load, d_heat, d_strain,
                                                               places);
    });
    std::vector<float> strain = host_copy_of(d_strain, load.size());
    for (int place = 0; place < places; place += 307) {
        double x[SIZE];
        for (int i = 0; i < SIZE; i++)
            x[i] = load[(size_t)i * places + place];
        laminate(layup, angle.data(), kind.data() + place, places, (double)heat[place], x);
        for (int i = 0; i < SIZE; i++)
            pair_near(&p, "strain", (size_t)i * places + place, x[i], strain[(size_t)i * places + place], 1e-3);
    }
    return pair_end(&p);
}
