// SPDX-License-Identifier: Apache-2.0
//
// Rule: vectorised-access
// Change: the structures of readings and fields are aligned to their 16 bytes.
// Why: with the alignment of a float, each structure is loaded and stored as four single floats, 16 bytes apart
// between neighbouring threads; aligned, it is one access of 16 bytes.
#include "../common.h"

enum { BLOCK = 256 };

#ifdef AFTER
#define ALIGNED __align__(16)
#else
#define ALIGNED
#endif

struct ALIGNED Reading {
    float x, y, z, celsius;  // raw magnetometer axes, temperature of the sensor
};

struct ALIGNED Field {
    float forward, right, down, strength;  // microtesla
};

// Soft iron (matrix), hard iron (offset) and how the offset drifts with the temperature.
struct Calibration {
    float soft[3][3], hard[3], drift[3], reference;
};

template <typename Real>
__host__ __device__ inline Real axis(const Calibration &c, int row, Real dx, Real dy, Real dz) {
    return c.soft[row][0] * dx + c.soft[row][1] * dy + c.soft[row][2] * dz;
}

// One thread per reading.
__global__ void calibrate(const Reading *readings, Field *fields, Calibration c, int n) {
    int i = blockIdx.x * BLOCK + threadIdx.x;
    if (i >= n)
        return;
    Reading r = readings[i];
    float warmer = r.celsius - c.reference;
    float dx = r.x - (c.hard[0] + warmer * c.drift[0]);
    float dy = r.y - (c.hard[1] + warmer * c.drift[1]);
    float dz = r.z - (c.hard[2] + warmer * c.drift[2]);
    Field f;
    f.forward = axis(c, 0, dx, dy, dz);
    f.right = axis(c, 1, dx, dy, dz);
    f.down = axis(c, 2, dx, dy, dz);
    f.strength = sqrtf(f.forward * f.forward + f.right * f.right + f.down * f.down);
    fields[i] = f;
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "compasses");
    int n = p.small ? 8000 : 132 * 40000 + 77;
    Calibration c = {{{0.151f, 0.004f, -0.003f}, {0.004f, 0.147f, 0.002f}, {-0.003f, 0.002f, 0.158f}},
                     {31.5f, -12.25f, 8.0f},
                     {0.21f, -0.08f, 0.15f},
                     25.0f};
    std::vector<float> raw = random_floats((size_t)3 * n, -350, 350, 1), celsius = random_floats(n, -10, 60, 2);
    std::vector<Reading> readings(n);
    for (int i = 0; i < n; i++) {
        readings[i].x = raw[3 * (size_t)i];
        readings[i].y = raw[3 * (size_t)i + 1];
        readings[i].z = raw[3 * (size_t)i + 2];
        readings[i].celsius = celsius[i];
    }
    Reading *d_readings = device_copy_of(readings.data(), n);
    Field *d_fields = device_array<Field>(n);
    pair_time(&p, [&] { calibrate<<<(n + BLOCK - 1) / BLOCK, BLOCK>>>(d_readings, d_fields, c, n); });
    std::vector<Field> fields = host_copy_of(d_fields, n);
    for (int i = 0; i < n; i += p.small ? 1 : 11) {
        const Reading &r = readings[i];
        double warmer = (double)r.celsius - c.reference, d[3] = {r.x, r.y, r.z}, want[3];
        for (int k = 0; k < 3; k++)
            d[k] -= c.hard[k] + warmer * c.drift[k];
        for (int k = 0; k < 3; k++)
            want[k] = axis<double>(c, k, d[0], d[1], d[2]);
        pair_near(&p, "forward", i, want[0], fields[i].forward, 1e-4);
        pair_near(&p, "right", i, want[1], fields[i].right, 1e-4);
        pair_near(&p, "down", i, want[2], fields[i].down, 1e-4);
        pair_near(&p, "strength", i, sqrt(want[0] * want[0] + want[1] * want[1] + want[2] * want[2]),
                  fields[i].strength, 1e-4);
    }
    return pair_end(&p);
}
