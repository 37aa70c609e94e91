// SPDX-License-Identifier: Apache-2.0
//
// Rule: memory-transactions
// Change: a joint is aligned to 16 bytes (and so padded from 24 to 32).
// Why: bars gather their joints from all over the structure; unaligned, a joint comes in six loads of four bytes and
// half of the joints lie across two sectors; aligned, it comes in two loads from one sector.
#include "../common.h"

enum { BLOCK = 192 };

#ifdef AFTER
#define JOINT_ALIGNMENT __align__(16)
#else
#define JOINT_ALIGNMENT
#endif

struct JOINT_ALIGNMENT Joint {
    float x, y, z;     // where it was built, m
    float ux, uy, uz;  // how far it has moved, m
};

struct Bars {
    const int2 *ends;
    const float *stiffness;  // kN
    const float *strength;   // kN in tension; a third of it in compression
    int count;
};

struct Result {
    float force, use;  // kN, of what the bar can bear
};

static __host__ __device__ Result load_of(const Joint &a, const Joint &b, float stiffness, float strength) {
    float dx = b.x - a.x, dy = b.y - a.y, dz = b.z - a.z;
    float ex = dx + b.ux - a.ux, ey = dy + b.uy - a.uy, ez = dz + b.uz - a.uz;
    float built = sqrtf(dx * dx + dy * dy + dz * dz), loaded = sqrtf(ex * ex + ey * ey + ez * ez);
    float force = built > 0 ? stiffness * (loaded - built) / built : 0.0f;
    Result r = {force, force > 0 ? force / strength : -3.0f * force / strength};
    return r;
}

// The force in every bar of a scaffold, and the share of its strength that is used up.
__global__ void scaffolds(const Joint *__restrict__ joints, Bars bars, float *__restrict__ force,
                          float *__restrict__ use) {
    int i = blockIdx.x * BLOCK + threadIdx.x;
    if (i >= bars.count)
        return;
    int2 ends = bars.ends[i];
    Joint a = joints[ends.x], b = joints[ends.y];
    Result r = load_of(a, b, bars.stiffness[i], bars.strength[i]);
    force[i] = r.force;
    use[i] = r.use;
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "scaffolds");
    int side = p.small ? 24 : 84, joint_count = side * side * side, bar_count = 4 * joint_count - 11;
    // The joints of a cubic grid, numbered in the order in which they were drawn: none in particular.
    std::vector<int> number(joint_count);
    unsigned seed = 1;
    for (int i = 0; i < joint_count; i++) {
        int j = (int)(((unsigned long long)lcg_next(&seed, 1 << 24) * (i + 1)) >> 24);
        number[i] = number[j];
        number[j] = i;
    }
    std::vector<float> moved = random_floats((size_t)3 * joint_count, -0.01f, 0.01f, 2);
    std::vector<Joint> joints(joint_count);
    for (int i = 0; i < joint_count; i++) {
        Joint j = {2.0f * (i % side), 2.0f * (i / side % side), 2.0f * (i / side / side)};
        j.ux = moved[3 * (size_t)i];
        j.uy = moved[3 * (size_t)i + 1];
        j.uz = moved[3 * (size_t)i + 2] - 1e-3f * j.z;
        joints[number[i]] = j;
    }
    // From every joint a bar along each axis and a brace, in random order; at the far faces they wrap to the first.
    std::vector<int2> ends(bar_count);
    const int step[4] = {1, side, side * side, side * side + 1};
    for (int b = 0; b < bar_count; b++) {
        int from = (int)lcg_next(&seed, joint_count);
        ends[b] = make_int2(number[from], number[(from + step[b & 3]) % joint_count]);
    }
    std::vector<float> stiffness = random_floats(bar_count, 5e4f, 2e5f, 3),
                       strength = random_floats(bar_count, 50, 200, 4);
    Joint *d_joints = device_copy_of(joints.data(), joint_count);
    Bars bars = {device_copy_of(ends.data(), bar_count), device_copy_of(stiffness.data(), bar_count),
                 device_copy_of(strength.data(), bar_count), bar_count};
    float *d_force = device_array<float>(bar_count), *d_use = device_array<float>(bar_count);
    pair_time(&p, [&] { scaffolds<<<(bar_count + BLOCK - 1) / BLOCK, BLOCK>>>(d_joints, bars, d_force, d_use); });
    std::vector<float> force = host_copy_of(d_force, bar_count), use = host_copy_of(d_use, bar_count);
    for (int b = 0; b < bar_count; b += 37) {
        Result r = load_of(joints[ends[b].x], joints[ends[b].y], stiffness[b], strength[b]);
        // The length differs from the built one in the last digits only: allow for their rounding.
        float allowed = 2e-6f * stiffness[b];
        pair_near(&p, "force", b, 0, fmaxf(fabsf(force[b] - r.force) - allowed, 0), 1e-2);
        pair_near(&p, "use", b, 0, fmaxf(fabsf(use[b] - r.use) - 3 * allowed / strength[b], 0), 1e-2);
    }
    return pair_end(&p);
}
