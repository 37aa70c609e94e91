// SPDX-License-Identifier: Apache-2.0
//
// Rule: fast-math
// Change: sine, cosine and the root become the fast ones.
// Why: positions on a map do not need the last bits.
#include "../common.h"

enum { BLOCK = 256 };
#ifdef AFTER
#define SIN __sinf
#define COS __cosf
#define ROOT(x) rsqrtf(x)
#else
#define SIN sinf
#define COS cosf
#define ROOT(x) (1 / sqrtf(x))
#endif

// From longitude, latitude (radians) and height to coordinates with the earth's centre as origin.
__global__ void geodesy(const float *longitude, const float *latitude, const float *height, float *x, float *y, float *z) {
    int i = blockIdx.x * BLOCK + threadIdx.x;
    float s = SIN(latitude[i]), c = COS(latitude[i]), h = height[i];
    float radius = 6378.137f * ROOT(1 - 0.00669438f * s * s);
    x[i] = (radius + h) * c * COS(longitude[i]);
    y[i] = (radius + h) * c * SIN(longitude[i]);
    z[i] = (radius * (1 - 0.00669438f) + h) * s;
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "geodesy");
    int n = p.small ? 1 << 15 : 1 << 22;
    std::vector<float> lon = random_floats(n, -3, 3, 1), lat = random_floats(n, -1.5f, 1.5f, 2), high = random_floats(n, 0, 4, 3);
    float *d_lon = device_copy_of(lon.data(), n), *d_lat = device_copy_of(lat.data(), n), *d_high = device_copy_of(high.data(), n);
    float *d_x = device_array<float>(n), *d_y = device_array<float>(n), *d_z = device_array<float>(n);
    pair_time(&p, [&] { geodesy<<<n / BLOCK, BLOCK>>>(d_lon, d_lat, d_high, d_x, d_y, d_z); });
    std::vector<float> z = host_copy_of(d_z, n);
    for (int i = 0; i < n; i += 1009) {
        double s = sin(lat[i]), radius = 6378.137 / sqrt(1 - 0.00669438 * s * s);
        pair_near(&p, "z", i, (radius * (1 - 0.00669438) + high[i]) * s, z[i], 0.02);
    }
    return pair_end(&p);
}
