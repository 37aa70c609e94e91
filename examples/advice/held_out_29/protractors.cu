// SPDX-License-Identifier: Apache-2.0
//
// Rule: loop-unrolling
// Change: the number of rotations is a constant instead of an argument and their loop is unrolled.
// Why: shift counts and table entries become part of the instructions and the loop's own instructions vanish.
#include "../common.h"

enum { BLOCK = 192, ROTATIONS = 24, FRACTION = 29 };

__constant__ int arctangents[ROTATIONS];

// Sine and cosine in fixed point (29 binary places) by CORDIC, bit for bit as the controller of a robot arm has them.
// An angle is from -pi/2 to pi/2.
__global__ void cordic(const int *angles, int2 *sine_cosine, int n, int rotations, int gain) {
    int i = blockIdx.x * BLOCK + threadIdx.x;
    if (i >= n)
        return;
    int x = gain, y = 0, z = angles[i];
#ifdef AFTER
#pragma unroll
    for (int k = 0; k < ROTATIONS; k++) {
#else
    for (int k = 0; k < rotations; k++) {
#endif
        int dx = y >> k, dy = x >> k, dz = arctangents[k];
        bool back = z < 0;
        x = back ? x + dx : x - dx;
        y = back ? y - dy : y + dy;
        z = back ? z + dz : z - dz;
    }
    sine_cosine[i] = make_int2(y, x);
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "protractors");
    int n = p.small ? 20000 : 9000000;
    double one = 1 << FRACTION, product = 1;
    int table[ROTATIONS];
    for (int k = 0; k < ROTATIONS; k++) {
        table[k] = (int)lrint(atan(ldexp(1, -k)) * one);
        product /= sqrt(1 + ldexp(1, -2 * k));
    }
    CUDA_CHECK(cudaMemcpyToSymbol(arctangents, table, sizeof table));
    std::vector<int> angles(n);
    unsigned seed = 3;
    for (int &a : angles)
        a = (int)((lcg_next(&seed, 1 << 24) / (double)(1 << 23) - 1) * 1.5707 * one);
    int *d_angles = device_copy_of(angles.data(), n), gain = (int)lrint(product * one);
    int2 *d_out = device_array<int2>(n);
    pair_time(&p, [&] { cordic<<<(n + BLOCK - 1) / BLOCK, BLOCK>>>(d_angles, d_out, n, ROTATIONS, gain); });
    std::vector<int2> out = host_copy_of(d_out, n);
    for (int i = 0; i < n; i += 977) {
        pair_near(&p, "sine", i, sin(angles[i] / one), out[i].x / one, 1e-6);
        pair_near(&p, "cosine", i, cos(angles[i] / one), out[i].y / one, 1e-6);
    }
    return pair_end(&p);
}
