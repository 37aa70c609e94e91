// SPDX-License-Identifier: Apache-2.0
//
// Rule: kernel-merge
// Change: one kernel goes from the nodes' positions to the elements' forces, not three with arrays between them.
// Why: the deformation gradients and stresses (36 bytes an element each) were written and read again; now they stay in
// registers, and the rest shapes are read once.
#include "../common.h"

// Rubber parts as tetrahedra of a compressible neo-Hookean solid: the elastic force of every element on its corners.

constexpr int THREADS = 256;

struct Matrix {
    float at[3][3];
};

struct Rubber {
    float shear, bulk;
};

// [row * 3 + column][element]
__host__ __device__ inline Matrix load(const float *from, int elements, int e) {
    Matrix m;
#pragma unroll
    for (int k = 0; k < 9; k++)
        m.at[k / 3][k % 3] = from[(size_t)k * elements + e];
    return m;
}

__host__ __device__ inline void store(float *to, int elements, int e, const Matrix &m) {
#pragma unroll
    for (int k = 0; k < 9; k++)
        to[(size_t)k * elements + e] = m.at[k / 3][k % 3];
}

// F = [x1 - x0, x2 - x0, x3 - x0] * rest, where rest is the inverse of the same matrix of the part at rest
__host__ __device__ inline Matrix deformation(const float4 *node, int4 corner, const Matrix &rest) {
    float4 o = node[corner.x], a = node[corner.y], b = node[corner.z], c = node[corner.w];
    const float edge[3][3] = {{a.x - o.x, b.x - o.x, c.x - o.x},
                              {a.y - o.y, b.y - o.y, c.y - o.y},
                              {a.z - o.z, b.z - o.z, c.z - o.z}};
    Matrix f;
#pragma unroll
    for (int i = 0; i < 3; i++)
#pragma unroll
        for (int j = 0; j < 3; j++)
            f.at[i][j] = edge[i][0] * rest.at[0][j] + edge[i][1] * rest.at[1][j] + edge[i][2] * rest.at[2][j];
    return f;
}

// First Piola-Kirchhoff stress: shear (F - F^-T) + bulk ln(det F) F^-T
__host__ __device__ inline Matrix stress(const Matrix &f, const Rubber &rubber) {
    Matrix cofactor;
#pragma unroll
    for (int i = 0; i < 3; i++)
#pragma unroll
        for (int j = 0; j < 3; j++) {
            int i1 = (i + 1) % 3, i2 = (i + 2) % 3, j1 = (j + 1) % 3, j2 = (j + 2) % 3;
            cofactor.at[i][j] = f.at[i1][j1] * f.at[i2][j2] - f.at[i1][j2] * f.at[i2][j1];
        }
    float volume = f.at[0][0] * cofactor.at[0][0] + f.at[0][1] * cofactor.at[0][1] + f.at[0][2] * cofactor.at[0][2];
    volume = fmaxf(volume, 0.05f);  // an element turned inside out still resists
    float factor = (rubber.bulk * logf(volume) - rubber.shear) / volume;
    Matrix p;
#pragma unroll
    for (int i = 0; i < 3; i++)
#pragma unroll
        for (int j = 0; j < 3; j++)
            p.at[i][j] = rubber.shear * f.at[i][j] + factor * cofactor.at[i][j];
    return p;
}

// Column k of -volume * P * rest^T is the force on corner k + 1; the first corner gets what balances them.
__host__ __device__ inline Matrix corner_forces(const Matrix &p, const Matrix &rest, float volume) {
    Matrix h;
#pragma unroll
    for (int i = 0; i < 3; i++)
#pragma unroll
        for (int k = 0; k < 3; k++)
            h.at[i][k] =
                -volume * (p.at[i][0] * rest.at[k][0] + p.at[i][1] * rest.at[k][1] + p.at[i][2] * rest.at[k][2]);
    return h;
}

#ifdef AFTER
__global__ void __launch_bounds__(THREADS)
elastic_forces(const float4 *__restrict__ node, const int4 *__restrict__ corner, const float *__restrict__ rest,
               const float *__restrict__ volume, int elements, Rubber rubber, float *__restrict__ force) {
    int e = blockIdx.x * THREADS + threadIdx.x;
    if (e >= elements)
        return;
    Matrix shape = load(rest, elements, e);
    Matrix p = stress(deformation(node, corner[e], shape), rubber);
    store(force, elements, e, corner_forces(p, shape, volume[e]));
}
#else
__global__ void __launch_bounds__(THREADS)
find_deformations(const float4 *__restrict__ node, const int4 *__restrict__ corner, const float *__restrict__ rest,
                  int elements, float *__restrict__ gradient) {
    int e = blockIdx.x * THREADS + threadIdx.x;
    if (e < elements)
        store(gradient, elements, e, deformation(node, corner[e], load(rest, elements, e)));
}

__global__ void __launch_bounds__(THREADS)
find_stresses(const float *__restrict__ gradient, int elements, Rubber rubber, float *__restrict__ piola) {
    int e = blockIdx.x * THREADS + threadIdx.x;
    if (e < elements)
        store(piola, elements, e, stress(load(gradient, elements, e), rubber));
}

__global__ void __launch_bounds__(THREADS)
find_forces(const float *__restrict__ piola, const float *__restrict__ rest, const float *__restrict__ volume,
            int elements, float *__restrict__ force) {
    int e = blockIdx.x * THREADS + threadIdx.x;
    if (e < elements)
        store(force, elements, e,
              corner_forces(load(piola, elements, e), load(rest, elements, e), volume[e]));
}
#endif

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "elastomers");
    const int n = p.small ? 5 : 64;  // cubes along an edge of the part, six tetrahedra each
    const int elements = 6 * n * n * n, points = n + 1;
    const Rubber rubber = {0.4f, 2.5f};

    std::vector<float4> at_rest(points * points * points), node;
    unsigned seed = 99;
    for (int i = 0; i < (int)at_rest.size(); i++)
        at_rest[i] =
            make_float4(i % points + 0.002f * lcg_next(&seed, 100), i / points % points, i / points / points, 0);
    node = at_rest;
    for (float4 &x : node)  // pulled, twisted
        x = make_float4(1.1f * x.x + 0.05f * x.z, 0.9f * x.y + 0.1f * sinf(0.3f * x.x), x.z + 0.1f * cosf(0.2f * x.y),
                        0);
    const int walk[6][3] = {{0, 1, 2}, {1, 2, 0}, {2, 0, 1}, {0, 2, 1}, {2, 1, 0}, {1, 0, 2}};
    const int stride[3] = {1, points, points * points};
    std::vector<int4> corner(elements);
    std::vector<float> rest((size_t)9 * elements), volume(elements);
    for (int e = 0; e < elements; e++) {
        int cube = e / 6, x = cube % n, y = cube / n % n, z = cube / n / n;
        int c[4] = {x + points * (y + points * z)};
        for (int k = 0; k < 3; k++)
            c[k + 1] = c[k] + stride[walk[e % 6][k]];
        if (e % 6 > 2)  // odd permutations: the other orientation
            std::swap(c[2], c[3]);
        corner[e] = make_int4(c[0], c[1], c[2], c[3]);
        float d[3][3];
        for (int k = 0; k < 3; k++) {
            d[0][k] = at_rest[c[k + 1]].x - at_rest[c[0]].x;
            d[1][k] = at_rest[c[k + 1]].y - at_rest[c[0]].y;
            d[2][k] = at_rest[c[k + 1]].z - at_rest[c[0]].z;
        }
        float det = 0;
        Matrix inverse;
        for (int i = 0; i < 3; i++)
            for (int j = 0; j < 3; j++) {
                int i1 = (i + 1) % 3, i2 = (i + 2) % 3, j1 = (j + 1) % 3, j2 = (j + 2) % 3;
                inverse.at[j][i] = d[i1][j1] * d[i2][j2] - d[i1][j2] * d[i2][j1];
                det += i == 0 ? d[0][j] * inverse.at[j][0] : 0;
            }
        for (int k = 0; k < 9; k++)
            inverse.at[k / 3][k % 3] /= det;
        store(rest.data(), elements, e, inverse);
        volume[e] = det / 6;
    }

    float4 *d_node = device_copy_of(node.data(), node.size());
    int4 *d_corner = device_copy_of(corner.data(), elements);
    float *d_rest = device_copy_of(rest.data(), rest.size()), *d_volume = device_copy_of(volume.data(), elements);
    float *d_force = device_array<float>(rest.size());
    int blocks = (elements + THREADS - 1) / THREADS;
#ifdef AFTER
    pair_time(&p, [&] {
        elastic_forces<<<blocks, THREADS>>>(d_node, d_corner, d_rest, d_volume, elements, rubber, d_force);
    });
#else
    float *d_gradient = device_array<float>(rest.size()), *d_piola = device_array<float>(rest.size());
    pair_time(&p, [&] {
        find_deformations<<<blocks, THREADS>>>(d_node, d_corner, d_rest, elements, d_gradient);
        find_stresses<<<blocks, THREADS>>>(d_gradient, elements, rubber, d_piola);
        find_forces<<<blocks, THREADS>>>(d_piola, d_rest, d_volume, elements, d_force);
    });
    CUDA_CHECK(cudaFree(d_gradient));
    CUDA_CHECK(cudaFree(d_piola));
#endif

    std::vector<float> force = host_copy_of(d_force, rest.size());
    for (int e = 0; e < elements; e += p.small ? 1 : 101) {
        Matrix shape = load(rest.data(), elements, e);
        Matrix expected = corner_forces(stress(deformation(node.data(), corner[e], shape), rubber), shape, volume[e]);
        for (int k = 0; k < 9; k++)
            pair_near(&p, "force", (size_t)k * elements + e, expected.at[k / 3][k % 3], force[(size_t)k * elements + e],
                      1e-4);
    }
    CUDA_CHECK(cudaFree(d_node));
    CUDA_CHECK(cudaFree(d_corner));
    CUDA_CHECK(cudaFree(d_rest));
    CUDA_CHECK(cudaFree(d_volume));
    CUDA_CHECK(cudaFree(d_force));
    return pair_end(&p);
}
