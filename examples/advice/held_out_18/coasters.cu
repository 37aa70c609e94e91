// SPDX-License-Identifier: Apache-2.0
//
// Rule: function-inlining
// Change: the function that gives a point of the track is inlined.
// Why: it is called three times per step; each call moves registers, waits for its own loads and returns.
#include "../common.h"

#ifdef AFTER
#define HOW __forceinline__
#else
#define HOW __noinline__
#endif

enum { BLOCK = 256, KNOTS = 20 };

// A point of a Catmull-Rom spline; the knots of the designs alternate in memory.
__device__ HOW float3 point_at(const float4 *knots, int designs, float along) {
    int k = min((int)along, KNOTS - 4);
    float u = along - k;
    float4 a = knots[k * designs], b = knots[(k + 1) * designs], c = knots[(k + 2) * designs],
           d = knots[(k + 3) * designs];
    float wa = u * (-0.5f + u * (1 - 0.5f * u)), wb = 1 + u * u * (-2.5f + 1.5f * u),
          wc = u * (0.5f + u * (2 - 1.5f * u)), wd = u * u * (-0.5f + 0.5f * u);
    return make_float3(wa * a.x + wb * b.x + wc * c.x + wd * d.x, wa * a.y + wb * b.y + wc * c.y + wd * d.y,
                       wa * a.z + wb * b.z + wc * c.z + wd * d.z);
}

// Length, strongest force and time of the ride of variants of a roller coaster; a thread rides one.
__global__ void ride(const float4 *knots, float4 *rides, int designs, int steps) {
    int i = blockIdx.x * BLOCK + threadIdx.x;
    const float4 *mine = knots + i;
    const float gap = 0.25f;
    float step = (KNOTS - 3 - 2 * gap) / steps, length = 0, time = 0, strongest = 0, sum = 0;
    float top = point_at(mine, designs, 0).z + 1;
    for (int s = 0; s < steps; s++) {
        float along = gap + (s + 0.5f) * step;
        float3 behind = point_at(mine, designs, along - gap), here = point_at(mine, designs, along),
               ahead = point_at(mine, designs, along + gap);
        float vx = (ahead.x - behind.x) / (2 * gap), vy = (ahead.y - behind.y) / (2 * gap),
              vz = (ahead.z - behind.z) / (2 * gap);
        float ax = (ahead.x - 2 * here.x + behind.x) / (gap * gap),
              ay = (ahead.y - 2 * here.y + behind.y) / (gap * gap),
              az = (ahead.z - 2 * here.z + behind.z) / (gap * gap);
        float square = vx * vx + vy * vy + vz * vz + 0.01f, stretch = sqrtf(square);
        float speed2 = 2 * 9.81f * fmaxf(top - here.z, 0.2f);
        float factor = speed2 / square;
        float fx = factor * ax, fy = factor * ay, fz = factor * az + 9.81f;
        float force = sqrtf(fx * fx + fy * fy + fz * fz) / 9.81f;
        length += stretch * step;
        time += stretch * step * rsqrtf(speed2);
        strongest = fmaxf(strongest, force);
        sum += force;
    }
    rides[i] = make_float4(length, time, strongest, sum / steps);
}

struct Point {
    double x, y, z;
};

static Point point_on_host(const float4 *knots, int designs, double along) {
    int k = std::min((int)along, KNOTS - 4);
    double u = along - k;
    double w[4] = {u * (-0.5 + u * (1 - 0.5 * u)), 1 + u * u * (-2.5 + 1.5 * u), u * (0.5 + u * (2 - 1.5 * u)),
                   u * u * (-0.5 + 0.5 * u)};
    Point out = {0, 0, 0};
    for (int q = 0; q < 4; q++) {
        const float4 &knot = knots[(size_t)(k + q) * designs];
        out.x += w[q] * knot.x;
        out.y += w[q] * knot.y;
        out.z += w[q] * knot.z;
    }
    return out;
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "coasters");
    int blocks = p.small ? 1 : 528, steps = p.small ? 4 : 128, designs = blocks * BLOCK;
    std::vector<float> raw = random_floats((size_t)designs * KNOTS * 3, 0, 4, 1);
    std::vector<float4> knots((size_t)designs * KNOTS);
    for (int k = 0; k < KNOTS; k++)
        for (int i = 0; i < designs; i++) {
            size_t at = (size_t)k * designs + i;
            knots[at] = make_float4(6 * k + raw[3 * at], 2 * raw[3 * at + 1], 20 - 0.8f * k + raw[3 * at + 2], 0);
        }
    float4 *d_knots = device_copy_of(knots.data(), knots.size()), *d_rides = device_array<float4>(designs);
    pair_time(&p, [&] { ride<<<blocks, BLOCK>>>(d_knots, d_rides, designs, steps); });
    std::vector<float4> rides = host_copy_of(d_rides, designs);
    for (int i = 0; i < designs; i += p.small ? 1 : 41) {
        const float4 *mine = &knots[i];
        const double gap = 0.25, step = (KNOTS - 3 - 2 * gap) / steps;
        double length = 0, time = 0, strongest = 0, sum = 0, top = point_on_host(mine, designs, 0).z + 1;
        for (int s = 0; s < steps; s++) {
            double along = gap + (s + 0.5) * step;
            Point behind = point_on_host(mine, designs, along - gap), here = point_on_host(mine, designs, along),
                  ahead = point_on_host(mine, designs, along + gap);
            double vx = (ahead.x - behind.x) / (2 * gap), vy = (ahead.y - behind.y) / (2 * gap),
                   vz = (ahead.z - behind.z) / (2 * gap);
            double ax = (ahead.x - 2 * here.x + behind.x) / (gap * gap),
                   ay = (ahead.y - 2 * here.y + behind.y) / (gap * gap),
                   az = (ahead.z - 2 * here.z + behind.z) / (gap * gap);
            double square = vx * vx + vy * vy + vz * vz + 0.01, speed2 = 2 * 9.81 * std::max(top - here.z, 0.2);
            double factor = speed2 / square, fz = factor * az + 9.81;
            double force = sqrt(factor * factor * (ax * ax + ay * ay) + fz * fz) / 9.81;
            length += sqrt(square) * step;
            time += sqrt(square / speed2) * step;
            strongest = std::max(strongest, force);
            sum += force;
        }
        pair_near(&p, "length", i, length, rides[i].x, 1e-3);
        pair_near(&p, "time", i, time, rides[i].y, 1e-3);
        pair_near(&p, "strongest", i, strongest, rides[i].z, 5e-3);
        pair_near(&p, "mean", i, sum / steps, rides[i].w, 1e-3);
    }
    return pair_end(&p);
}
