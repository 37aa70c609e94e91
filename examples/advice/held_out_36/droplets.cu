// SPDX-License-Identifier: Apache-2.0
//
// Rule: loop-unrolling
// Change: the loop over a droplet's neighbours is unrolled four times, with one look for the end of the list for four.
// Why: the loads of four neighbours, each of which waits for an index to arrive first, are on their way together, and
// the loop's counting and branching is paid once for four.
#include "../common.h"

// One step of a spray simulation by smoothed particle hydrodynamics: density and viscous pull of every droplet from
// the neighbours in its list. The list has a margin, so some neighbours are out of reach. It ends with a ghost, a
// droplet far away that has no mass.

constexpr int THREADS = 128;
constexpr int MAX_NEIGHBOURS = 80;
#ifdef AFTER
constexpr int AT_ONCE = 4;
#else
constexpr int AT_ONCE = 1;
#endif
constexpr int LIST_LENGTH = MAX_NEIGHBOURS + 4;  // the rest is ghosts
constexpr float REACH = 2.0f;    // in units of the mean distance
constexpr float MARGIN = 0.25f;  // of the list
constexpr float VISCOSITY = 0.08f;

struct Droplets {
    const float4 *position;  // x, y, z, mass
    const float4 *velocity;  // x, y, z, 1 / density of the step before
    const int *neighbour;    // [k][droplet]
    int count;               // without the ghost, which follows them
};

__global__ void droplet_step(Droplets d, float4 *__restrict__ result) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= d.count)
        return;
    const float4 me = d.position[i], mine = d.velocity[i];
    const int *list = d.neighbour + i;
    float density = me.w;
    float ax = 0, ay = 0, az = 0;
    while (*list != d.count) {
#pragma unroll
        for (int u = 0; u < AT_ONCE; u++, list += d.count) {
            float4 other = d.position[*list], its = d.velocity[*list];
            float dx = me.x - other.x, dy = me.y - other.y, dz = me.z - other.z;
            float near = fmaxf(1.0f - sqrtf(dx * dx + dy * dy + dz * dz) * (1.0f / REACH), 0.0f);
            float near2 = near * near;
            density += other.w * near2 * near2 * (5.0f - 4.0f * near);
            float pull = VISCOSITY * other.w * its.w * near;
            ax += pull * (its.x - mine.x);
            ay += pull * (its.y - mine.y);
            az += pull * (its.z - mine.z);
        }
    }
    result[i] = make_float4(ax * mine.w, ay * mine.w, az * mine.w, density);
}

struct Spray {
    std::vector<float4> position, velocity;
    std::vector<int> neighbour, neighbours;
};

// Droplets near the points of a lattice of side^3, each with the neighbours that are closer than REACH + MARGIN.
static Spray make_spray(int side) {
    int count = side * side * side;
    std::vector<float> jitter = random_floats((size_t)count * 3, -0.3f, 0.3f, 77);
    std::vector<float> speed = random_floats((size_t)count * 3, -1.0f, 1.0f, 78);
    std::vector<float> mass = random_floats(count, 0.5f, 1.5f, 79);
    Spray s;
    s.position.assign(count + 1, make_float4(1e6f, 1e6f, 1e6f, 0));
    s.velocity.assign(count + 1, make_float4(0, 0, 0, 0));
    s.neighbours.resize(count);
    s.neighbour.assign((size_t)count * LIST_LENGTH, count);
    for (int i = 0; i < count; i++) {
        int x = i % side, y = i / side % side, z = i / side / side;
        s.position[i] = make_float4(x + jitter[3 * i], y + jitter[3 * i + 1], z + jitter[3 * i + 2], mass[i]);
        s.velocity[i] = make_float4(speed[3 * i], speed[3 * i + 1], speed[3 * i + 2], 0.5f + 0.2f * mass[i]);
    }
    const float limit = (REACH + MARGIN) * (REACH + MARGIN);
    for (int i = 0; i < count; i++) {
        int x = i % side, y = i / side % side, z = i / side / side, n = 0;
        for (int c = std::max(z - 2, 0); c <= std::min(z + 2, side - 1); c++)
            for (int b = std::max(y - 2, 0); b <= std::min(y + 2, side - 1); b++)
                for (int a = std::max(x - 2, 0); a <= std::min(x + 2, side - 1); a++) {
                    int j = (c * side + b) * side + a;
                    float dx = s.position[i].x - s.position[j].x, dy = s.position[i].y - s.position[j].y,
                          dz = s.position[i].z - s.position[j].z;
                    if (j != i && dx * dx + dy * dy + dz * dz < limit && n < MAX_NEIGHBOURS)
                        s.neighbour[(size_t)n++ * count + i] = j;
                }
        s.neighbours[i] = n;
    }
    return s;
}

static void check(Pair *p, const Spray &s, const std::vector<float4> &got) {
    size_t count = got.size();
    for (size_t i = 0; i < count; i += p->small ? 1 : 101) {
        float4 me = s.position[i], mine = s.velocity[i];
        double density = me.w, ax = 0, az = 0;
        for (int k = 0; k < s.neighbours[i]; k++) {
            float4 other = s.position[s.neighbour[k * count + i]], its = s.velocity[s.neighbour[k * count + i]];
            double dx = me.x - other.x, dy = me.y - other.y, dz = me.z - other.z;
            double r = sqrt(dx * dx + dy * dy + dz * dz);
            if (r >= REACH)
                continue;
            double near = 1 - r / REACH;
            density += other.w * pow(near, 4) * (5 - 4 * near);
            ax += VISCOSITY * other.w * its.w * near * (its.x - mine.x);
            az += VISCOSITY * other.w * its.w * near * (its.z - mine.z);
        }
        pair_near(p, "density", i, density, got[i].w, 1e-4);
        pair_near(p, "pull x", i, ax * mine.w, got[i].x, 1e-4);
        pair_near(p, "pull z", i, az * mine.w, got[i].z, 1e-4);
    }
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "droplets");
    Spray s = make_spray(p.small ? 8 : 64);
    int count = (int)s.neighbours.size();

    float4 *d_position = device_copy_of(s.position.data(), s.position.size());
    float4 *d_velocity = device_copy_of(s.velocity.data(), s.velocity.size());
    int *d_neighbour = device_copy_of(s.neighbour.data(), s.neighbour.size());
    float4 *d_result = device_array<float4>(count);

    Droplets d = {d_position, d_velocity, d_neighbour, count};
    pair_time(&p, [&] { droplet_step<<<(count + THREADS - 1) / THREADS, THREADS>>>(d, d_result); });
    check(&p, s, host_copy_of(d_result, count));

    CUDA_CHECK(cudaFree(d_position));
    CUDA_CHECK(cudaFree(d_velocity));
    CUDA_CHECK(cudaFree(d_neighbour));
    CUDA_CHECK(cudaFree(d_result));
    return pair_end(&p);
}
