// SPDX-License-Identifier: Apache-2.0
//
// Rule: redundant-loads
// Change: an element's corners are gathered once into registers, not again at each integration point.
// Why: each point stores its stresses, which the compiler must take to be able to change the corners.
#include "../common.h"

enum { BLOCK = 128, CORNERS = 4, POINTS_MAX = 9, SHUFFLED = 64 };

struct Mesh {
    int elements;
    const int *corners;    // elements * CORNERS, corner by corner
    const float *x, *y;    // of a node, metres
    const float *u, *v;    // its displacement
    const float *modulus;  // of an element
    float poisson;
};

struct Corner {
    float x, y, u, v;
};

// Derivatives of the four shape functions at each integration point.
struct Shape {
    float by_r[CORNERS], by_s[CORNERS];
};
__constant__ Shape shapes[POINTS_MAX];

static __device__ Corner corner_of(const Mesh &m, int element, int c) {
    int node = m.corners[c * m.elements + element];
    Corner corner = {m.x[node], m.y[node], m.u[node], m.v[node]};
    return corner;
}

// Stresses of a steel web in plane stress at all integration points of all elements: bilinear quadrilaterals.
__global__ void girders(Mesh m, int points, float *along, float *across, float *shear) {
    int e = blockIdx.x * BLOCK + threadIdx.x;
    if (e >= m.elements)
        return;
    float stiff = m.modulus[e] / (1 - m.poisson * m.poisson);
#ifdef AFTER
    Corner corners[CORNERS];
#pragma unroll
    for (int c = 0; c < CORNERS; c++)
        corners[c] = corner_of(m, e, c);
#endif
#pragma unroll 1
    for (int q = 0; q < points; q++) {
        const Shape &shape = shapes[q];
        float xr = 0, xs = 0, yr = 0, ys = 0, ur = 0, us = 0, vr = 0, vs = 0;
#pragma unroll
        for (int c = 0; c < CORNERS; c++) {
#ifdef AFTER
            Corner k = corners[c];
#else
            Corner k = corner_of(m, e, c);
#endif
            float r = shape.by_r[c], s = shape.by_s[c];
            xr += r * k.x, xs += s * k.x, yr += r * k.y, ys += s * k.y;
            ur += r * k.u, us += s * k.u, vr += r * k.v, vs += s * k.v;
        }
        float scale = 1 / (xr * ys - xs * yr);
        float exx = (ur * ys - us * yr) * scale, eyy = (vs * xr - vr * xs) * scale,
              exy = (us * xr - ur * xs + vr * ys - vs * yr) * scale;
        size_t at = (size_t)q * m.elements + e;
        along[at] = stiff * (exx + m.poisson * eyy);
        across[at] = stiff * (eyy + m.poisson * exx);
        shear[at] = stiff * 0.5f * (1 - m.poisson) * exy;
    }
}

// Nodes are numbered in rows, but shuffled within groups of SHUFFLED, as a mesh generator leaves them.
static std::vector<int> numbering(int nodes) {
    std::vector<int> number(nodes);
    unsigned seed = 5;
    for (int i = 0; i < nodes; i++)
        number[i] = i;
    for (int i = 0; i < nodes; i++) {
        int first = i / SHUFFLED * SHUFFLED, count = std::min((int)SHUFFLED, nodes - first);
        std::swap(number[i], number[first + lcg_next(&seed, count)]);
    }
    return number;
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "girders");
    int wide = p.small ? 256 : 1600, high = p.small ? 100 : 500, points = 9, nodes = (wide + 1) * (high + 1);
    std::vector<int> number = numbering(nodes), corners((size_t)wide * high * CORNERS);
    std::vector<float> x = random_floats(nodes, -2e-3f, 2e-3f, 1), y = random_floats(nodes, -2e-3f, 2e-3f, 2),
                       u = random_floats(nodes, 0, 1e-5f, 3), v = random_floats(nodes, 0, 1e-5f, 4),
                       modulus = random_floats((size_t)wide * high, 190, 215, 6);
    Mesh m = {wide * high, NULL, NULL, NULL, NULL, NULL, NULL, 0.3f};
    for (int j = 0; j <= high; j++)
        for (int i = 0; i <= wide; i++) {
            int node = number[j * (wide + 1) + i];
            x[node] += 0.01f * i, y[node] += 0.01f * j;
        }
    for (int e = 0; e < m.elements; e++)
        for (int c = 0; c < CORNERS; c++) {
            int i = e % wide + (c == 1 || c == 2), j = e / wide + (c >= 2);
            corners[(size_t)c * m.elements + e] = number[j * (wide + 1) + i];
        }
    Shape table[POINTS_MAX];
    for (int q = 0; q < points; q++)
        for (int c = 0; c < CORNERS; c++) {
            float rc = c == 1 || c == 2 ? 1 : -1, sc = c >= 2 ? 1 : -1;
            table[q].by_r[c] = 0.25f * rc * (1 + sc * 0.7745967f * (q / 3 - 1));
            table[q].by_s[c] = 0.25f * sc * (1 + rc * 0.7745967f * (q % 3 - 1));
        }
    CUDA_CHECK(cudaMemcpyToSymbol(shapes, table, sizeof table));
    m.corners = device_copy_of(corners.data(), corners.size());
    m.x = device_copy_of(x.data(), nodes), m.y = device_copy_of(y.data(), nodes);
    m.u = device_copy_of(u.data(), nodes), m.v = device_copy_of(v.data(), nodes);
    m.modulus = device_copy_of(modulus.data(), modulus.size());
    size_t n = (size_t)m.elements * points;
    float *d_along = device_array<float>(n), *d_across = device_array<float>(n), *d_shear = device_array<float>(n);
    int blocks = (m.elements + BLOCK - 1) / BLOCK;
    pair_time(&p, [&] { girders<<<blocks, BLOCK>>>(m, points, d_along, d_across, d_shear); });
    std::vector<float> along = host_copy_of(d_along, n), across = host_copy_of(d_across, n),
                       shear = host_copy_of(d_shear, n);
    for (size_t at = 0; at < n; at += 997) {
        int e = at % m.elements, q = at / m.elements;
        double d[8] = {0};
        for (int c = 0; c < CORNERS; c++) {
            int node = corners[(size_t)c * m.elements + e];
            const float of[4] = {x[node], y[node], u[node], v[node]};
            for (int k = 0; k < 4; k++) {
                d[2 * k] += (double)table[q].by_r[c] * of[k];
                d[2 * k + 1] += (double)table[q].by_s[c] * of[k];
            }
        }
        double det = d[0] * d[3] - d[1] * d[2], stiff = modulus[e] / (1 - 0.09);
        double exx = (d[4] * d[3] - d[5] * d[2]) / det, eyy = (d[7] * d[0] - d[6] * d[1]) / det;
        double exy = (d[5] * d[0] - d[4] * d[1] + d[6] * d[3] - d[7] * d[2]) / det;
        pair_near(&p, "along", at, stiff * (exx + 0.3 * eyy), along[at], 1e-3);
        pair_near(&p, "across", at, stiff * (eyy + 0.3 * exx), across[at], 1e-3);
        pair_near(&p, "shear", at, stiff * 0.35 * exy, shear[at], 1e-3);
    }
    return pair_end(&p);
}
