// SPDX-License-Identifier: Apache-2.0
//
// Rule: loop-unrolling
// Change: the loop over the terms of the series is unrolled.
// Why: its length is fixed and its body short: the counting, the addresses and the waits for each coefficient go.
#include "../common.h"

enum { TERMS = 14, BLOCK = 256 };

struct Segment {
    float x[TERMS], y[TERMS], z[TERMS];
};

template <int N> static __device__ float3 chebyshev(const Segment *s, float t) {
    float3 b1 = make_float3(0, 0, 0), b2 = b1;
#ifdef AFTER
#pragma unroll
#else
#pragma unroll 1
#endif
    for (int k = N - 1; k > 0; k--) {  // after Clenshaw
        float3 b =
            make_float3(2 * t * b1.x - b2.x + s->x[k], 2 * t * b1.y - b2.y + s->y[k], 2 * t * b1.z - b2.z + s->z[k]);
        b2 = b1;
        b1 = b;
    }
    return make_float3(t * b1.x - b2.x + s->x[0], t * b1.y - b2.y + s->y[0], t * b1.z - b2.z + s->z[0]);
}

// Which planet is nearest to a spacecraft at the times of its measurements, and how far.
__global__ void nearest(const Segment *segments, int segment_count, int bodies, const float *times,
                        const float3 *crafts, float *far, int *which, int count) {
    for (int i = blockIdx.x * BLOCK + threadIdx.x; i < count; i += gridDim.x * BLOCK) {
        float at = times[i], least = 1e30f;  // in segments
        float3 craft = crafts[i];
        int s = min((int)at, segment_count - 1), best = 0;
        for (int body = 0; body < bodies; body++) {
            float3 planet = chebyshev<TERMS>(segments + s * bodies + body, 2 * (at - s) - 1);
            float dx = planet.x - craft.x, dy = planet.y - craft.y, dz = planet.z - craft.z;
            float squared = dx * dx + dy * dy + dz * dz;
            if (squared < least) {
                least = squared;
                best = body;
            }
        }
        far[i] = sqrtf(least);
        which[i] = best;
    }
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "ephemeris");
    int n = p.small ? 2000 : 1 << 22, segments = p.small ? 8 : 512, bodies = 8;
    std::vector<float> r = random_floats((size_t)bodies * segments * 3 * TERMS, -1, 1, 1),
                       c = random_floats((size_t)n * 3, -2, 2, 2);
    std::vector<Segment> series((size_t)bodies * segments);
    for (size_t s = 0; s < series.size(); s++)
        for (int k = 0; k < TERMS; k++) {
            float *to[3] = {&series[s].x[k], &series[s].y[k], &series[s].z[k]};
            for (int j = 0; j < 3; j++)
                *to[j] = 5.0f * r[(s * 3 + j) * TERMS + k] / (1 + k * k);
        }
    std::vector<float> times(n);
    std::vector<float3> crafts(n);
    for (int i = 0; i < n; i++) {
        times[i] = (float)(i * (double)segments / n);
        crafts[i] = make_float3(c[(size_t)i * 3], c[(size_t)i * 3 + 1], c[(size_t)i * 3 + 2]);
    }
    Segment *d_series = device_copy_of(series.data(), series.size());
    float *d_times = device_copy_of(times.data(), n), *d_far = device_array<float>(n);
    float3 *d_crafts = device_copy_of(crafts.data(), n);
    int *d_which = device_array<int>(n), blocks = p.small ? 4 : 4096;
    pair_time(&p,
              [&] { nearest<<<blocks, BLOCK>>>(d_series, segments, bodies, d_times, d_crafts, d_far, d_which, n); });
    std::vector<float> far = host_copy_of(d_far, n);
    std::vector<int> which = host_copy_of(d_which, n);
    for (int i = 0; i < n; i += p.small ? 7 : 997) {
        int s = std::min((int)times[i], segments - 1);
        double angle = acos(std::min(1.0, std::max(-1.0, 2 * ((double)times[i] - s) - 1))), least = 1e30, own = 0;
        for (int body = 0; body < bodies; body++) {
            const Segment &q = series[(size_t)s * bodies + body];
            double x = -(double)crafts[i].x, y = -(double)crafts[i].y, z = -(double)crafts[i].z;
            for (int k = 0; k < TERMS; k++) {
                double term = cos(k * angle);
                x += q.x[k] * term;
                y += q.y[k] * term;
                z += q.z[k] * term;
            }
            double distance = sqrt(x * x + y * y + z * z);
            least = std::min(least, distance);
            if (body == which[i])
                own = distance;
        }
        pair_near(&p, "distance", i, least, far[i], 1e-4);
        pair_near(&p, "its planet's", i, own, far[i], 1e-4);
    }
    return pair_end(&p);
}
