// SPDX-License-Identifier: Apache-2.0
//
// Rule: vectorised-access
// Change: the structure of a minnow is aligned to 16 bytes.
// Why: it is then read with two loads of 16 bytes instead of eight of 4 bytes, each of which goes to 32 places.
#include "../common.h"

#ifdef AFTER
#define ALIGNED alignas(16)
#else
#define ALIGNED
#endif

struct ALIGNED Minnow {
    float x, y, z;     // place
    float vx, vy, vz;  // speed
    float size, fear;
};
static_assert(sizeof(Minnow) == 32, "no padding in either version");

enum { BLOCK = 192, NEIGHBOURS = 6 };

struct Rules {
    float follow, together, apart, dt;
};

// One step of a school: each minnow looks at its six neighbours, keeps to their speed and among them, but not too near.
static __host__ __device__ Minnow swim(const Minnow &me, const Minnow *school, const int *near, int count,
                                       const Rules &rules) {
    float ax = 0, ay = 0, az = 0, fear = me.fear;
    for (int k = 0; k < NEIGHBOURS; k++) {
        Minnow other = school[near[(size_t)k * count]];
        float dx = other.x - me.x, dy = other.y - me.y, dz = other.z - me.z;
        float pull = other.size * rules.together - rules.apart / (dx * dx + dy * dy + dz * dz + me.size);
        ax += pull * dx + rules.follow * (other.vx - me.vx);
        ay += pull * dy + rules.follow * (other.vy - me.vy);
        az += pull * dz + rules.follow * (other.vz - me.vz);
        fear += 0.05f * other.fear;
    }
    Minnow next = me;
    next.fear = 0.75f * fear;
    next.vx += rules.dt * (1 + fear) * ax;
    next.vy += rules.dt * (1 + fear) * ay;
    next.vz += rules.dt * (1 + fear) * az;
    next.x += rules.dt * next.vx;
    next.y += rules.dt * next.vy;
    next.z += rules.dt * next.vz;
    return next;
}

__global__ void swim_on(const Minnow *school, const int *near, Minnow *next, int count, Rules rules) {
    int i = blockIdx.x * BLOCK + threadIdx.x;
    if (i < count)
        next[i] = swim(school[i], school, near + i, count, rules);
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "minnows");
    int count = p.small ? 3000 : 1000000;
    Rules rules = {0.1f, 0.05f, 0.2f, 0.05f};
    unsigned seed = 11;
    std::vector<float> values = random_floats(8 * (size_t)count, 0, 1, 3);
    std::vector<Minnow> school(count);
    memcpy((void *)school.data(), values.data(), count * sizeof(Minnow));
    for (Minnow &m : school)
        m.size += 0.5f;
    std::vector<int> near((size_t)NEIGHBOURS * count);
    for (size_t i = 0; i < near.size(); i++) {  // minnows that are near each other are near each other in memory, too
        int other = (int)(i % count) + (int)lcg_next(&seed, 401) - 200;
        near[i] = std::min(std::max(other, 0), count - 1);
    }
    Minnow *d_school = device_copy_of(school.data(), count), *d_next = device_array<Minnow>(count);
    int *d_near = device_copy_of(near.data(), near.size());
    pair_time(&p, [&] {
        swim_on<<<(count + BLOCK - 1) / BLOCK, BLOCK>>>(d_school, d_near, d_next, count, rules);
    });
    std::vector<Minnow> next = host_copy_of(d_next, count);
    for (int i = 0; i < count; i += p.small ? 1 : 13) {
        Minnow want = swim(school[i], school.data(), &near[i], count, rules);
        pair_near(&p, "x", i, want.x, next[i].x, 1e-4);
        pair_near(&p, "y", i, want.y, next[i].y, 1e-4);
        pair_near(&p, "z", i, want.z, next[i].z, 1e-4);
        pair_near(&p, "vx", i, want.vx, next[i].vx, 1e-4);
        pair_near(&p, "vy", i, want.vy, next[i].vy, 1e-4);
        pair_near(&p, "vz", i, want.vz, next[i].vz, 1e-4);
        pair_near(&p, "size", i, want.size, next[i].size, 0);
        pair_near(&p, "fear", i, want.fear, next[i].fear, 1e-4);
    }
    return pair_end(&p);
}
