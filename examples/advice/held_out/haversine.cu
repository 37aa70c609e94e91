// SPDX-License-Identifier: Apache-2.0
//
// Rule: wrong-type
// Change: the constants of the angle's conversion and of the half are written with f.
// Why: constants without f are double, and widen the expressions that they are in.
#include "../common.h"

enum { BLOCK = 256, PLACES = 64 };

#ifdef AFTER
#define RADIANS (3.14159265358979f / 180.0f)
#define HALF 0.5f
#define EARTH 6371.0f
#else
#define RADIANS (3.14159265358979 / 180.0)
#define HALF 0.5
#define EARTH 6371.0
#endif

// Distance on the globe of each point to the nearest of 64 places, by a polynomial for the sine of half the angle.
__global__ void haversine(const float2 *points, const float2 *places, float *distance, int n) {
    __shared__ float2 near[PLACES];
    int i = blockIdx.x * BLOCK + threadIdx.x;
    if (threadIdx.x < PLACES)
        near[threadIdx.x] = places[threadIdx.x];
    __syncthreads();
    if (i >= n)
        return;
    float2 at = points[i];
    float least = 4, shrink = __cosf(at.x * (float)RADIANS);
    for (int k = 0; k < PLACES; k++) {
        float a = (at.x - near[k].x) * RADIANS * HALF, b = (at.y - near[k].y) * RADIANS * HALF;
        float sa = a - a * a * a * (1 / 6.0f), sb = b - b * b * b * (1 / 6.0f);
        least = fminf(least, sa * sa + shrink * sb * sb);
    }
    distance[i] = 2 * EARTH * sqrtf(least);
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "haversine");
    int n = p.small ? 132 * 256 : 1 << 22;
    std::vector<float> points = random_floats(2 * (size_t)n, -60, 60, 1),
                       places = random_floats(2 * PLACES, -60, 60, 2);
    float2 *d_points = (float2 *)device_copy_of(points.data(), points.size()),
           *d_places = (float2 *)device_copy_of(places.data(), places.size());
    float *d_distance = device_array<float>(n);
    pair_time(&p, [&] { haversine<<<(n + BLOCK - 1) / BLOCK, BLOCK>>>(d_points, d_places, d_distance, n); });
    std::vector<float> distance = host_copy_of(d_distance, n);
    double radians = 3.14159265358979 / 180;
    for (int i = 0; i < n; i += 97) {
        double least = 4;
        for (int k = 0; k < PLACES; k++) {
            double a = (points[2 * i] - places[2 * k]) * radians / 2,
                   b = (points[2 * i + 1] - places[2 * k + 1]) * radians / 2;
            a -= a * a * a / 6, b -= b * b * b / 6;
            least = std::min(least, a * a + cos(points[2 * i] * radians) * b * b);
        }
        pair_near(&p, "km", i, 2 * 6371 * sqrt(least), distance[i], 1e-3);
    }
    return pair_end(&p);
}
