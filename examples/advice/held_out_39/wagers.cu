// SPDX-License-Identifier: Apache-2.0
//
// Rule: divergence
// Change: the wagers are sorted by kind before they go to the device.
// Why: in the order in which they were placed, a warp has all four kinds and goes through the four formulas one after
//      the other with a quarter of its lanes.
#include "../common.h"

enum { BLOCK = 256, KINDS = 4, MOST_GOALS = 10, MOST_HALF = 6 };
enum Kind { RESULT, TOTAL, HANDICAP, HALF_FULL };

// What a wager on a football match says: kind, goals expected of both sides, the line or pick, the odds offered.
struct Wager {
    int kind;
    float home, away, line, odds;
};

// A constant where the loop around is unrolled.
__host__ __device__ inline float inverse(int n) {
    return 1.0f / n;
}

// The chance that the home side wins (pick > 0), draws (0) or loses; goals are Poisson.
__host__ __device__ inline float result_chance(float home, float away, float pick) {
    float mine = expf(-home), theirs = expf(-away), below = 0, win = 0, draw = 0;
    for (int g = 0; g <= MOST_GOALS; g++) {
        win += mine * below;
        draw += mine * theirs;
        below += theirs;
        mine *= home * inverse(g + 1);
        theirs *= away * inverse(g + 1);
    }
    return pick > 0 ? win : pick < 0 ? 1 - win - draw : draw;
}

// The chance of more goals than the line; scoring is faster in the last quarter, so the rate is mixed.
__host__ __device__ inline float total_chance(float home, float away, float line) {
    float calm = home + away, wild = 1.3f * calm, p = expf(-calm), q = expf(-wild), under = 0;
    for (int g = 0; g <= 2 * MOST_GOALS; g++) {
        under += g <= line ? 0.7f * p + 0.3f * q : 0;
        p *= calm * inverse(g + 1);
        q *= wild * inverse(g + 1);
    }
    return 1 - under;
}

// Asian handicap: the stake comes back when the line is met exactly.
__host__ __device__ inline float handicap_chance(float home, float away, float line) {
    float won = 0, back = 0, mine = expf(-home), first = expf(-away);
    for (int i = 0; i < MOST_GOALS; i++) {
        float theirs = mine * first;
        for (int j = 0; j < MOST_GOALS; j++) {
            float margin = i - j + line;
            won += margin > 0.1f ? theirs : 0;
            back += fabsf(margin) <= 0.1f ? theirs : 0;
            theirs *= away * inverse(j + 1);
        }
        mine *= home * inverse(i + 1);
    }
    return won / fmaxf(1 - back, 0.01f);
}

// Ahead at half time and at the end.
__host__ __device__ inline float half_full_chance(float home, float away, float pick) {
    float chance = 0, mine = expf(-0.45f * home), first = expf(-0.45f * away);
    for (int i = 0; i < MOST_HALF; i++) {
        float theirs = mine * first;
        for (int j = 0; j < MOST_HALF; j++) {
            float lead = pick * (i - j), drift = 0.55f * pick * (home - away);
            float kept = fminf(fmaxf(0.5f + 0.2f * (lead + drift), 0.05f), 0.95f);
            chance += lead > 0 ? theirs * kept : 0;
            theirs *= 0.45f * away * inverse(j + 1);
        }
        mine *= 0.45f * home * inverse(i + 1);
    }
    return chance;
}

__host__ __device__ inline float expected_profit(int kind, float home, float away, float line, float odds) {
    float chance = 0;
    switch (kind) {
    case RESULT: chance = result_chance(home, away, line); break;
    case TOTAL: chance = total_chance(home, away, line); break;
    case HANDICAP: chance = handicap_chance(home, away, line); break;
    case HALF_FULL: chance = half_full_chance(home, away, line < 0 ? -1.0f : 1.0f); break;
    }
    return chance * odds - 1;
}

__global__ void settle(const int *__restrict__ kind, const float2 *__restrict__ rates, const float2 *__restrict__ terms,
                       int wagers, float *profit) {
    int i = blockIdx.x * BLOCK + threadIdx.x;
    if (i >= wagers)
        return;
    float2 rate = rates[i], term = terms[i];
    profit[i] = expected_profit(kind[i], rate.x, rate.y, term.x, term.y);
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "wagers");
    int wagers = p.small ? 8192 : 4000000;
    std::vector<Wager> book;
    unsigned seed = 1;
    for (int i = 0; i < wagers; i++) {
        float home = 0.6f + lcg_next(&seed, 1000) / 450.0f, away = 0.4f + lcg_next(&seed, 1000) / 500.0f;
        int kind = lcg_next(&seed, KINDS), pick = (int)lcg_next(&seed, 3) - 1;
        float line = kind == TOTAL ? 0.5f + lcg_next(&seed, 5) : kind == HANDICAP ? 0.5f * pick : pick;
        book.push_back({kind, home, away, line, 1.2f + lcg_next(&seed, 100) / 20.0f});
    }
#ifdef AFTER
    std::stable_sort(book.begin(), book.end(), [](const Wager &a, const Wager &b) { return a.kind < b.kind; });
#endif
    std::vector<int> kind;
    std::vector<float2> rates, terms;
    for (const Wager &w : book) {
        kind.push_back(w.kind);
        rates.push_back(make_float2(w.home, w.away));
        terms.push_back(make_float2(w.line, w.odds));
    }
    int *d_kind = device_copy_of(kind.data(), wagers);
    float2 *d_rates = device_copy_of(rates.data(), wagers), *d_terms = device_copy_of(terms.data(), wagers);
    float *d_profit = device_array<float>(wagers);
    pair_time(&p, [&] {
        settle<<<(wagers + BLOCK - 1) / BLOCK, BLOCK>>>(d_kind, d_rates, d_terms, wagers, d_profit);
    });
    std::vector<float> profit = host_copy_of(d_profit, wagers);
    for (int i = 0; i < wagers; i += 13)
        pair_near(&p, "profit", i,
                  expected_profit(kind[i], rates[i].x, rates[i].y, terms[i].x, terms[i].y), profit[i], 1e-4);
    return pair_end(&p);
}
