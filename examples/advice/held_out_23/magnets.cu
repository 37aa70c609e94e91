// SPDX-License-Identifier: Apache-2.0
//
// Rule: kernel-merge
// Change: one kernel finds the field at a cell and turns the cell's moment in it.
// Why: the field that the first kernel writes is read once, by the thread of the same cell; the kernels move 120 bytes
// a cell, of which 72 are not needed when they are one.
#include "../common.h"

enum { WIDE = 64, HIGH = 4 };

struct Moments {
    double *x, *y, *z;
};

struct Vector {
    double x, y, z;
};

struct Material {
    int nx, ny, nz;
    double exchange, easy, applied, damping, step;
};

// The exchange with the six cells round a cell, the anisotropy and what is applied from outside. The magnet goes on
// without end in all directions.
__host__ __device__ inline Vector field_at(const Moments &m, const Material &c, int x, int y, int z, int i) {
    int row = c.nx, layer = c.nx * c.ny;
    int west = x > 0 ? i - 1 : i + row - 1, east = x + 1 < c.nx ? i + 1 : i - row + 1;
    int south = y > 0 ? i - row : i + layer - row, north = y + 1 < c.ny ? i + row : i - layer + row;
    int under = z > 0 ? i - layer : i + (c.nz - 1) * layer, over = z + 1 < c.nz ? i + layer : i - (c.nz - 1) * layer;
    Vector h;
    h.x = c.exchange * (m.x[west] + m.x[east] + m.x[south] + m.x[north] + m.x[under] + m.x[over] - 6 * m.x[i]);
    h.y = c.exchange * (m.y[west] + m.y[east] + m.y[south] + m.y[north] + m.y[under] + m.y[over] - 6 * m.y[i]);
    h.z = c.exchange * (m.z[west] + m.z[east] + m.z[south] + m.z[north] + m.z[under] + m.z[over] - 6 * m.z[i]);
    h.z += c.easy * m.z[i] + c.applied;
    return h;
}

__host__ __device__ inline Vector cross(const Vector &a, const Vector &b) {
    return {a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x};
}

// One step of Landau, Lifshitz and Gilbert.
__host__ __device__ inline Vector turned(const Vector &m, const Vector &h, const Material &c) {
    Vector round = cross(m, h), down = cross(m, round);
    Vector to = {m.x - c.step * (round.x + c.damping * down.x), m.y - c.step * (round.y + c.damping * down.y),
                 m.z - c.step * (round.z + c.damping * down.z)};
    double shrink = 1 / sqrt(to.x * to.x + to.y * to.y + to.z * to.z);
    return {to.x * shrink, to.y * shrink, to.z * shrink};
}

__host__ __device__ inline void put(const Moments &m, int i, const Vector &v) {
    m.x[i] = v.x;
    m.y[i] = v.y;
    m.z[i] = v.z;
}

#ifdef AFTER
__global__ void relax(Moments m, Moments next, Material c) {
    int x = blockIdx.x * WIDE + threadIdx.x, y = blockIdx.y * HIGH + threadIdx.y, z = blockIdx.z;
    int i = (z * c.ny + y) * c.nx + x;
    put(next, i, turned({m.x[i], m.y[i], m.z[i]}, field_at(m, c, x, y, z, i), c));
}
#else
__global__ void find_field(Moments m, Moments field, Material c) {
    int x = blockIdx.x * WIDE + threadIdx.x, y = blockIdx.y * HIGH + threadIdx.y, z = blockIdx.z;
    int i = (z * c.ny + y) * c.nx + x;
    put(field, i, field_at(m, c, x, y, z, i));
}

__global__ void turn(Moments m, Moments field, Moments next, Material c) {
    int x = blockIdx.x * WIDE + threadIdx.x, y = blockIdx.y * HIGH + threadIdx.y, z = blockIdx.z;
    int i = (z * c.ny + y) * c.nx + x;
    put(next, i, turned({m.x[i], m.y[i], m.z[i]}, {field.x[i], field.y[i], field.z[i]}, c));
}
#endif

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "magnets");
    Material c = {p.small ? 64 : 256, p.small ? 16 : 256, p.small ? 6 : 96, 0.8, 0.3, 0.1, 0.05, 0.01};
    size_t n = (size_t)c.nx * c.ny * c.nz;
    std::vector<float> random = random_floats(3 * n, -1, 1, 1);
    std::vector<double> mx(n), my(n), mz(n);
    for (size_t i = 0; i < n; i++) {
        double x = random[3 * i], y = random[3 * i + 1], z = random[3 * i + 2] + 2, size = sqrt(x * x + y * y + z * z);
        mx[i] = x / size, my[i] = y / size, mz[i] = z / size;
    }
    Moments host = {mx.data(), my.data(), mz.data()};
    Moments d_m = {device_copy_of(host.x, n), device_copy_of(host.y, n), device_copy_of(host.z, n)};
    Moments d_next = {device_array<double>(n), device_array<double>(n), device_array<double>(n)};
    dim3 block(WIDE, HIGH), grid(c.nx / WIDE, c.ny / HIGH, c.nz);
#ifdef AFTER
    pair_time(&p, [&] { relax<<<grid, block>>>(d_m, d_next, c); });
#else
    Moments d_field = {device_array<double>(n), device_array<double>(n), device_array<double>(n)};
    pair_time(&p, [&] {
        find_field<<<grid, block>>>(d_m, d_field, c);
        turn<<<grid, block>>>(d_m, d_field, d_next, c);
    });
#endif
    std::vector<double> x = host_copy_of(d_next.x, n), y = host_copy_of(d_next.y, n), z = host_copy_of(d_next.z, n);
    for (int i = 0; i < (int)n; i += p.small ? 1 : 19) {
        Vector h = field_at(host, c, i % c.nx, i / c.nx % c.ny, i / (c.nx * c.ny), i);
        Vector to = turned({mx[i], my[i], mz[i]}, h, c);
        pair_near(&p, "x", i, to.x, x[i], 1e-9);
        pair_near(&p, "y", i, to.y, y[i], 1e-9);
        pair_near(&p, "z", i, to.z, z[i], 1e-9);
    }
    return pair_end(&p);
}
