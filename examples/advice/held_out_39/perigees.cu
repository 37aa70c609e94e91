// SPDX-License-Identifier: Apache-2.0
//
// Rule: code-reordering
// Change: the next observation is fetched before the present one is worked on, instead of when its turn comes.
// Why: with a thread for each satellite there are only a few warps on an SM, so that a fetch from memory at the head
//      of the loop is waited for in full; moved forward it is under way while Kepler's equation is solved.
#include "../common.h"

enum { BLOCK = 128, MOST_STEPS = 8 };

#define TURN 6.283185307f

// Semi-major axis in 1000 km, mean motion in radians a minute; p and q span the plane of the orbit.
struct Orbit {
    float axis, eccentricity, motion, anomaly;
    float px, py, pz, qx, qy, qz;
};

// What a least-squares fit of the range bias and the timing error needs.
struct Sums {
    float count, residual, square, rate, rate_square;
};

__host__ __device__ static inline float eccentric_anomaly(float mean, float eccentricity) {
    float e = mean + eccentricity * sinf(mean);
    for (int step = 0; step < MOST_STEPS; step++) {
        float change = (e - eccentricity * sinf(e) - mean) / (1 - eccentricity * cosf(e));
        e -= change;
        if (fabsf(change) < 2e-6f) break;
    }
    return e;
}

// site: position of the ground station at that time and, in w, minutes since the epoch; range: measured.
__host__ __device__ static inline void observe(const Orbit &o, float4 site, float range, Sums *sums) {
    float turns = (o.anomaly + o.motion * site.w) / TURN;
    float e = eccentric_anomaly((turns - floorf(turns)) * TURN, o.eccentricity);
    float c = cosf(e), s = sinf(e), root = sqrtf(1 - o.eccentricity * o.eccentricity);
    float along = o.axis * (c - o.eccentricity), across = o.axis * root * s;
    float swing = o.motion / (1 - o.eccentricity * c);
    float along_rate = -o.axis * s * swing, across_rate = o.axis * root * c * swing;
    float dx = along * o.px + across * o.qx - site.x;
    float dy = along * o.py + across * o.qy - site.y;
    float dz = along * o.pz + across * o.qz - site.z;
    float distance = sqrtf(dx * dx + dy * dy + dz * dz);
    float rate = (dx * (along_rate * o.px + across_rate * o.qx) + dy * (along_rate * o.py + across_rate * o.qy) +
                  dz * (along_rate * o.pz + across_rate * o.qz)) /
                 distance;
    float residual = range - distance;
    if (fabsf(residual) > 3.f)  // an outlier: another object, or a wrong station
        return;
    sums->count += 1;
    sums->residual += residual;
    sums->square += residual * residual;
    sums->rate += residual * rate;
    sums->rate_square += rate * rate;
}

// Observations lie time by time: those of satellite s at s, s + satellites, ...
__global__ void fit_orbits(const Orbit *orbits, const float4 *sites, const float *ranges, Sums *fits, int satellites,
                           int observations) {
    int s = blockIdx.x * BLOCK + threadIdx.x;
    if (s >= satellites) return;
    Orbit orbit = orbits[s];
    Sums sums = {0, 0, 0, 0, 0};
#ifdef AFTER
    float4 next_site = sites[s];
    float next_range = ranges[s];
#endif
    for (int k = 0; k < observations; k++) {
#ifdef AFTER
        float4 site = next_site;
        float range = next_range;
        if (k + 1 < observations) {
            next_site = sites[(size_t)(k + 1) * satellites + s];
            next_range = ranges[(size_t)(k + 1) * satellites + s];
        }
#else
        float4 site = sites[(size_t)k * satellites + s];
        float range = ranges[(size_t)k * satellites + s];
#endif
        observe(orbit, site, range, &sums);
    }
    fits[s] = sums;
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "perigees");
    int satellites = p.small ? 256 : 132 * BLOCK, observations = p.small ? 16 : 256;
    size_t total = (size_t)satellites * observations;
    std::vector<float> odds = random_floats((size_t)satellites * 6, 0, 1, 57), minute = random_floats(total, 0, 5, 58),
                       angle = random_floats(total, 0, TURN, 59), error = random_floats(total, -2, 2, 60);
    std::vector<Orbit> orbits(satellites);
    for (int s = 0; s < satellites; s++) {
        const float *o = &odds[(size_t)s * 6];
        float axis = 6.9f + 12 * o[0], node = TURN * o[1], tilt = 1.7f * o[2], turn = TURN * o[3];
        float cn = cosf(node), sn = sinf(node), ci = cosf(tilt), si = sinf(tilt), ct = cosf(turn), st = sinf(turn);
        orbits[s] = {axis,        0.01f + 0.3f * o[4],     sqrtf(1434.96f / (axis * axis * axis)),
                     TURN * o[5], cn * ct - sn * st * ci,  sn * ct + cn * st * ci,
                     st * si,     -cn * st - sn * ct * ci, -sn * st + cn * ct * ci,
                     ct * si};
    }
    std::vector<float4> sites(total);
    std::vector<float> ranges(total);
    for (size_t i = 0; i < total; i++) {
        float latitude = 1.4f * sinf(3 * angle[i]);
        sites[i] = make_float4(6.371f * cosf(latitude) * cosf(angle[i]), 6.371f * cosf(latitude) * sinf(angle[i]),
                               6.371f * sinf(latitude), i / satellites * 5 + minute[i]);
        const Orbit &o = orbits[i % satellites];  // about the distance, by the same model, and an error
        float turns = (o.anomaly + o.motion * sites[i].w) / TURN;
        float e = eccentric_anomaly((turns - floorf(turns)) * TURN, o.eccentricity);
        float along = o.axis * (cosf(e) - o.eccentricity);
        float across = o.axis * sqrtf(1 - o.eccentricity * o.eccentricity) * sinf(e);
        float dx = along * o.px + across * o.qx - sites[i].x, dy = along * o.py + across * o.qy - sites[i].y,
              dz = along * o.pz + across * o.qz - sites[i].z;
        ranges[i] = sqrtf(dx * dx + dy * dy + dz * dz) + error[i] + (i % 19 == 0 ? 30 : 0);
    }
    Orbit *d_orbits = device_copy_of(orbits.data(), satellites);
    float4 *d_sites = device_copy_of(sites.data(), total);
    float *d_ranges = device_copy_of(ranges.data(), total);
    Sums *d_fits = device_array<Sums>(satellites);
    int blocks = (satellites + BLOCK - 1) / BLOCK;
    pair_time(&p,
              [&] { fit_orbits<<<blocks, BLOCK>>>(d_orbits, d_sites, d_ranges, d_fits, satellites, observations); });
    std::vector<Sums> fits = host_copy_of(d_fits, satellites);
    for (int s = 0; s < satellites; s += p.small ? 1 : 29) {
        Sums sums = {0, 0, 0, 0, 0};
        for (int k = 0; k < observations; k++)
            observe(orbits[s], sites[(size_t)k * satellites + s], ranges[(size_t)k * satellites + s], &sums);
        pair_near(&p, "count", s, sums.count, fits[s].count, 0);
        float rounding = 2e-2f * (1 + sqrtf(sums.square));  // of sums whose terms cancel each other
        pair_near(&p, "residual", s, sums.residual, fits[s].residual, rounding);
        pair_near(&p, "square", s, sums.square, fits[s].square, 1e-2);
        pair_near(&p, "rate", s, sums.rate, fits[s].rate, rounding);
        pair_near(&p, "rate_square", s, sums.rate_square, fits[s].rate_square, 1e-2);
    }
    return pair_end(&p);
}
