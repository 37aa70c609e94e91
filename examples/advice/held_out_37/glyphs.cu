// SPDX-License-Identifier: Apache-2.0
//
// Rule: divergence
// Change: the threads take the segments sorted by kind, through a list made once on the host, instead of as drawn.
// Why: outlines mix lines, curves and arcs, so that a warp ran the code of all four kinds one after the other; sorted,
// almost all warps have one kind.
#include "../common.h"

// Measures the segments of vector outlines, as for dash patterns, text on a path and the winding of glyphs: per
// segment its arc length and its part of the enclosed area (Green's theorem, half the integral of x dy - y dx).
// A segment has 8 numbers: its 2, 3 or 4 control points, or for an elliptic arc the centre, the radii, the start
// angle and the sweep.
constexpr int THREADS = 128;
constexpr int PANELS = 4;      // of a cubic, 5 Gauss points each
constexpr int ARC_STEPS = 12;  // Simpson intervals of an arc

enum Kind : unsigned char { LINE, QUADRATIC, CUBIC, ARC };

struct alignas(16) Segment {
    float v[8];
};

struct Measure {
    float length, area;
};

__host__ __device__ inline Measure measure_line(const Segment &s) {
    float dx = s.v[2] - s.v[0], dy = s.v[3] - s.v[1];
    return {sqrtf(dx * dx + dy * dy), 0.5f * (s.v[0] * s.v[3] - s.v[1] * s.v[2])};
}

// The speed of a quadratic is the root of a polynomial a t^2 + b t + c, whose integral is known.
__host__ __device__ inline Measure measure_quadratic(const Segment &s) {
    float ux = s.v[0] - 2 * s.v[2] + s.v[4], uy = s.v[1] - 2 * s.v[3] + s.v[5];
    float wx = 2 * (s.v[2] - s.v[0]), wy = 2 * (s.v[3] - s.v[1]);
    float a = 4 * (ux * ux + uy * uy) + 1e-6f, b = 4 * (ux * wx + uy * wy), c = wx * wx + wy * wy;
    float end = sqrtf(fmaxf(a + b + c, 0.0f)), root_a = sqrtf(a), root_c = sqrtf(c);
    float straight = (2 * a + b) * end - b * root_c;
    float bend = logf(fmaxf(2 * root_a * end + 2 * a + b, 1e-6f) / fmaxf(2 * root_a * root_c + b, 1e-6f));
    float length = straight / (4 * a) + (4 * a * c - b * b) / (8 * a * root_a) * bend;
    float area = 2 * (s.v[0] * s.v[3] - s.v[1] * s.v[2]) + 2 * (s.v[2] * s.v[5] - s.v[3] * s.v[4]);
    area += s.v[0] * s.v[5] - s.v[1] * s.v[4];
    return {length, area / 6};
}

__host__ __device__ inline Measure measure_cubic(const Segment &s) {
    const float node[5] = {0.04691008f, 0.23076534f, 0.5f, 0.76923466f, 0.95308992f};
    const float weight[5] = {0.11846344f, 0.23931434f, 0.28444444f, 0.23931434f, 0.11846344f};
    Measure m = {0, 0};
    for (int panel = 0; panel < PANELS; panel++) {
        for (int n = 0; n < 5; n++) {
            float t = (panel + node[n]) / PANELS, r = 1 - t;
            float b0 = r * r * r, b1 = 3 * r * r * t, b2 = 3 * r * t * t, b3 = t * t * t;
            float x = b0 * s.v[0] + b1 * s.v[2] + b2 * s.v[4] + b3 * s.v[6];
            float y = b0 * s.v[1] + b1 * s.v[3] + b2 * s.v[5] + b3 * s.v[7];
            float c0 = 3 * r * r, c1 = 6 * r * t, c2 = 3 * t * t;
            float dx = c0 * (s.v[2] - s.v[0]) + c1 * (s.v[4] - s.v[2]) + c2 * (s.v[6] - s.v[4]);
            float dy = c0 * (s.v[3] - s.v[1]) + c1 * (s.v[5] - s.v[3]) + c2 * (s.v[7] - s.v[5]);
            m.length += weight[n] / PANELS * sqrtf(dx * dx + dy * dy);
            m.area += 0.5f * weight[n] / PANELS * (x * dy - y * dx);
        }
    }
    return m;
}

__host__ __device__ inline Measure measure_arc(const Segment &s) {
    float rx = s.v[2], ry = s.v[3], start = s.v[4], sweep = s.v[5];
    Measure m = {0, 0};
    for (int n = 0; n <= ARC_STEPS; n++) {
        float sine, cosine;
        sincosf(start + sweep * n / ARC_STEPS, &sine, &cosine);
        float share = (n == 0 || n == ARC_STEPS ? 1.0f : n % 2 ? 4.0f : 2.0f) / (3 * ARC_STEPS);
        float dx = -rx * sine * sweep, dy = ry * cosine * sweep;
        m.length += share * sqrtf(dx * dx + dy * dy);
        m.area += 0.5f * share * ((s.v[0] + rx * cosine) * dy - (s.v[1] + ry * sine) * dx);
    }
    return m;
}

__host__ __device__ inline Measure measure(Kind kind, const Segment &s) {
    switch (kind) {
    case LINE:
        return measure_line(s);
    case QUADRATIC:
        return measure_quadratic(s);
    case CUBIC:
        return measure_cubic(s);
    default:
        return measure_arc(s);
    }
}

__global__ void __launch_bounds__(THREADS) measure_segments(const Kind *__restrict__ kinds,
                                                            const Segment *__restrict__ segments,
                                                            const int *__restrict__ order,
                                                            Measure *__restrict__ measures, int count) {
    int i = blockIdx.x * THREADS + threadIdx.x;
    if (i >= count)
        return;
#ifdef AFTER
    i = order[i];
#endif
    measures[i] = measure(kinds[i], segments[i]);
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "glyphs");
    int count = p.small ? 1500 : 2000000;
    std::vector<Kind> kinds(count);
    std::vector<Segment> segments(count);
    unsigned seed = 41;
    for (int i = 0; i < count; i++) {
        unsigned draw = lcg_next(&seed, 100);
        kinds[i] = draw < 35 ? LINE : draw < 60 ? QUADRATIC : draw < 88 ? CUBIC : ARC;
        for (float &v : segments[i].v)
            v = 1.0f + 0.01f * lcg_next(&seed, 400);
    }
    std::vector<int> order;
    for (int kind = LINE; kind <= ARC; kind++)
        for (int i = 0; i < count; i++)
            if (kinds[i] == kind)
                order.push_back(i);
    Kind *d_kinds = device_copy_of(kinds.data(), count);
    Segment *d_segments = device_copy_of(segments.data(), count);
    int *d_order = device_copy_of(order.data(), count);
    Measure *d_measures = device_array<Measure>(count);

    int blocks = (count + THREADS - 1) / THREADS;
    pair_time(&p, [&] { measure_segments<<<blocks, THREADS>>>(d_kinds, d_segments, d_order, d_measures, count); });

    std::vector<Measure> measures = host_copy_of(d_measures, count);
    for (int i = 0; i < count; i += p.small ? 1 : 67) {
        Measure m = measure(kinds[i], segments[i]);
        pair_near(&p, "length", i, m.length, measures[i].length, 5e-3);
        pair_near(&p, "area", i, m.area, measures[i].area, 5e-3);
    }
    CUDA_CHECK(cudaFree(d_kinds));
    CUDA_CHECK(cudaFree(d_segments));
    CUDA_CHECK(cudaFree(d_order));
    CUDA_CHECK(cudaFree(d_measures));
    return pair_end(&p);
}
