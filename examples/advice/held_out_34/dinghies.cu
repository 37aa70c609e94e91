// SPDX-License-Identifier: Apache-2.0
//
// Rule: code-reordering
// Change: the fix of the next second is loaded before the filter works on the fix of this one.
// Why: a turn begins with a load and everything in it waits for the load; few boats are on an SM, so that nothing else
// hides the wait. The compiler cannot start the load earlier since the turn before ends with a store.
#include "../common.h"

enum { THREADS = 128 };

// What the filter knows of a boat: place (m) and velocity (m/s), and how sure it is of them; the same for x and y.
struct Estimate {
    float x, y, vx, vy;
    float place_variance, covariance, velocity_variance;
};

struct Settings {
    float gusts, noise, gate;  // variances of the acceleration and of a fix; how many variances are an outlier
    float2 mark;               // the windward mark
};

// One second: where the boat must be by now, then what the fix says.
__host__ __device__ inline void follow(Estimate *e, float2 fix, const Settings &s) {
    e->x += e->vx;
    e->y += e->vy;
    e->place_variance += 2 * e->covariance + e->velocity_variance + 0.25f * s.gusts;
    e->covariance += e->velocity_variance + 0.5f * s.gusts;
    e->velocity_variance += s.gusts;
    const float rx = fix.x - e->x, ry = fix.y - e->y, variance = e->place_variance + s.noise;
    const float surprise = (rx * rx + ry * ry) / variance;
    // A fix that was thrown off by a sail or a wave counts for less, the further the less.
    const float trust = surprise > s.gate ? s.gate / surprise : 1;
    const float place_gain = trust * e->place_variance / variance, velocity_gain = trust * e->covariance / variance;
    e->x += place_gain * rx;
    e->y += place_gain * ry;
    e->vx += velocity_gain * rx;
    e->vy += velocity_gain * ry;
    e->velocity_variance -= velocity_gain * e->covariance;
    e->covariance -= place_gain * e->covariance;
    e->place_variance -= place_gain * e->place_variance;
}

// Speed, and how much of it is towards the mark.
__host__ __device__ inline float2 progress(const Estimate &e, const Settings &s) {
    const float dx = s.mark.x - e.x, dy = s.mark.y - e.y;
    return {sqrtf(e.vx * e.vx + e.vy * e.vy), (e.vx * dx + e.vy * dy) / sqrtf(dx * dx + dy * dy)};
}

__host__ __device__ inline Estimate first_guess(float2 fix) { return {fix.x, fix.y, 0, 0, 25, 0, 16}; }

// The races of a season, one thread for each boat. fixes: [second][boat].
__global__ void dinghies(const float2 *fixes, float2 *made_good, int boats, int seconds, Settings settings) {
    const int boat = blockIdx.x * THREADS + threadIdx.x;
    if (boat >= boats)
        return;
    Estimate estimate = first_guess(fixes[boat]);
#ifdef AFTER
    float2 fix = fixes[boat];
#endif
    for (int t = 0; t < seconds; t++) {
#ifdef AFTER
        float2 next = fix;
        if (t + 1 < seconds)
            next = fixes[(size_t)(t + 1) * boats + boat];
#else
        const float2 fix = fixes[(size_t)t * boats + boat];
#endif
        follow(&estimate, fix, settings);
        made_good[(size_t)t * boats + boat] = progress(estimate, settings);
#ifdef AFTER
        fix = next;
#endif
    }
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "dinghies");
    const int boats = p.small ? 384 : 2 * 132 * THREADS, seconds = p.small ? 10 : 400;
    const Settings settings = {0.09f, 4, 9, {300, 1500}};

    // Beating to windward: a tack every 20 to 40 seconds, and now and then a fix that is far off.
    std::vector<float2> fixes((size_t)boats * seconds), at(boats);
    std::vector<int> period(boats);
    std::vector<float> speed(boats);
    unsigned seed = 1896;
    for (int b = 0; b < boats; b++) {
        at[b] = {300.0f * lcg_next(&seed, 1000) / 1000, 0};
        period[b] = 20 + lcg_next(&seed, 21);
        speed[b] = 2 + 1.5f * lcg_next(&seed, 1000) / 1000;
    }
    for (int t = 0; t < seconds; t++)
        for (int b = 0; b < boats; b++) {
            at[b].x += (t / period[b] + b) % 2 ? 0.7f * speed[b] : -0.7f * speed[b];
            at[b].y += 0.7f * speed[b];
            const unsigned noise = lcg_next(&seed, 1 << 20);
            const float off = noise % 41 == 0 ? 25 : 4;
            fixes[(size_t)t * boats + b] = {at[b].x + off * ((noise & 1023) / 1024.0f - 0.5f),
                                            at[b].y + off * ((noise >> 10) / 1024.0f - 0.5f)};
        }

    float2 *d_fixes = device_copy_of(fixes.data(), fixes.size()), *d_made = device_array<float2>(fixes.size());
    pair_time(
        &p, [&] { dinghies<<<(boats + THREADS - 1) / THREADS, THREADS>>>(d_fixes, d_made, boats, seconds, settings); });

    std::vector<float2> made = host_copy_of(d_made, fixes.size());
    for (int b = 0; b < boats; b += p.small ? 5 : 797) {
        Estimate estimate = first_guess(fixes[b]);
        for (int t = 0; t < seconds; t++) {
            const size_t i = (size_t)t * boats + b;
            follow(&estimate, fixes[i], settings);
            const float2 expected = progress(estimate, settings);
            pair_near(&p, "speed", i, expected.x, made[i].x, 2e-3);
            pair_near(&p, "to the mark", i, expected.y, made[i].y, 2e-3);
        }
    }
    return pair_end(&p);
}
