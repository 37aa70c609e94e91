// SPDX-License-Identifier: Apache-2.0
//
// Rule: memory-transactions
// Change: the fields that the tactics look at come first in a unit's record, in its first 32 bytes.
// Why: the records of neighbours are read in no order, so each sector touched is fetched for itself; the fields lay in
// four sectors of a record, now they are in one.
#include "../common.h"

// The computer's players in a battle game: every unit weighs the units near it (found by the grid search before) and
// gets a threat, a support and a direction in which to move.

constexpr int THREADS = 256;
constexpr int NEIGHBOURS = 12;

#ifdef AFTER
struct Unit {
    float x, y;
    int team;
    float attack, reach, morale;
    float z, heading;
    float joints[4];  // for the animation
    char badge[16];
    unsigned seen_by;
    int inventory[8];
    float health, stamina;
    int orders[3];
    float rest_until;
    int squad;
};
#else
struct Unit {
    float x, y, z, heading;
    float joints[4];  // for the animation
    int team;
    char badge[16];
    unsigned seen_by;
    float attack;
    int inventory[8];
    float reach;
    float health, stamina, morale;
    int orders[3];
    float rest_until;
    int squad;
};
#endif
static_assert(sizeof(Unit) == 128, "four sectors");

struct Decision {
    float threat, support;
    float2 move;
};

struct Tactics {
    float caution;   // how much a threat repels
    float cohesion;  // how much friends attract
    float elbow;     // distance that friends keep
};

__host__ __device__ inline void weigh(Decision *d, float2 here, int team, const Unit &other, const Tactics &t) {
    float dx = other.x - here.x, dy = other.y - here.y;
    float distance = sqrtf(dx * dx + dy * dy) + 1e-3f;
    float power = other.attack * other.morale;
    float falloff = other.reach / (other.reach + distance);
    float pull;
    if (other.team == team) {
        d->support += power * falloff;
        pull = t.cohesion * (distance - t.elbow);
    } else {
        d->threat += power * falloff * falloff;
        pull = -t.caution * power * falloff;
    }
    d->move.x += pull * dx / distance;
    d->move.y += pull * dy / distance;
}

__host__ __device__ inline Decision settle(Decision d, float morale) {
    float nerve = fminf(fmaxf(morale * (1.0f + d.support) / (1.0f + d.threat), 0.0f), 2.0f);
    float length = sqrtf(d.move.x * d.move.x + d.move.y * d.move.y) + 1e-2f;
    d.move.x *= nerve / length;
    d.move.y *= nerve / length;
    return d;
}

// near: [neighbour][unit], -1 where there are fewer
__global__ void __launch_bounds__(THREADS)
decide(const Unit *__restrict__ units, const int *__restrict__ near, int count, Tactics tactics,
       float4 *__restrict__ decisions) {
    int i = blockIdx.x * THREADS + threadIdx.x;
    if (i >= count)
        return;
    const Unit &self = units[i];
    float2 here = make_float2(self.x, self.y);
    int team = self.team;
    Decision d = {0.0f, 0.0f, make_float2(0.0f, 0.0f)};
#pragma unroll 4
    for (int n = 0; n < NEIGHBOURS; n++) {
        int other = near[(size_t)n * count + i];
        if (other >= 0)
            weigh(&d, here, team, units[other], tactics);
    }
    d = settle(d, self.morale);
    decisions[i] = make_float4(d.threat, d.support, d.move.x, d.move.y);
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "combatants");
    const int count = p.small ? 1024 : 1 << 20;

    // Units were created in another order than the one in which they stand.
    unsigned seed = 314;
    std::vector<int> place(count);
    for (int i = 0; i < count; i++)
        place[i] = i;
    for (int i = count - 1; i > 0; i--)
        std::swap(place[i], place[lcg_next(&seed, i + 1)]);
    std::vector<Unit> units(count);
    std::vector<int> near((size_t)NEIGHBOURS * count);
    for (int k = 0; k < count; k++) {
        Unit &u = units[place[k]];
        memset(&u, 0, sizeof u);
        u.x = (k / 16 % 256) * 10.0f + 0.01f * lcg_next(&seed, 1000);
        u.y = (k / 16 / 256) * 10.0f + 0.01f * lcg_next(&seed, 1000);
        u.team = lcg_next(&seed, 8) == 0 ? 1 - k / 64 % 2 : k / 64 % 2;
        u.attack = 0.2f + 0.01f * lcg_next(&seed, 100);
        u.reach = 1.0f + 0.1f * lcg_next(&seed, 60);
        u.morale = 0.3f + 0.01f * lcg_next(&seed, 90);
        u.squad = k / 16;
        for (int n = 0; n < NEIGHBOURS; n++) {
            int other = k + (n < NEIGHBOURS / 2 ? n - NEIGHBOURS / 2 : n - NEIGHBOURS / 2 + 1);
            bool known = other >= 0 && other < count && lcg_next(&seed, 16) > 0;
            near[(size_t)n * count + place[k]] = known ? place[other] : -1;
        }
    }
    const Tactics tactics = {0.8f, 0.15f, 2.5f};

    Unit *d_units = device_copy_of(units.data(), count);
    int *d_near = device_copy_of(near.data(), near.size());
    float4 *d_decisions = device_array<float4>(count);
    int blocks = (count + THREADS - 1) / THREADS;
    pair_time(&p, [&] { decide<<<blocks, THREADS>>>(d_units, d_near, count, tactics, d_decisions); });

    std::vector<float4> decisions = host_copy_of(d_decisions, count);
    for (int i = 0; i < count; i += p.small ? 1 : 53) {
        Decision d = {0.0f, 0.0f, make_float2(0.0f, 0.0f)};
        for (int n = 0; n < NEIGHBOURS; n++) {
            int other = near[(size_t)n * count + i];
            if (other >= 0)
                weigh(&d, make_float2(units[i].x, units[i].y), units[i].team, units[other], tactics);
        }
        d = settle(d, units[i].morale);
        pair_near(&p, "threat", i, d.threat, decisions[i].x, 1e-4);
        pair_near(&p, "support", i, d.support, decisions[i].y, 1e-4);
        pair_near(&p, "move_x", i, d.move.x, decisions[i].z, 2e-3);
        pair_near(&p, "move_y", i, d.move.y, decisions[i].w, 2e-3);
    }
    CUDA_CHECK(cudaFree(d_units));
    CUDA_CHECK(cudaFree(d_near));
    CUDA_CHECK(cudaFree(d_decisions));
    return pair_end(&p);
}
