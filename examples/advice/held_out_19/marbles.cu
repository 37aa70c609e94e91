// SPDX-License-Identifier: Apache-2.0
//
// Rule: branch-elimination
// Change: the force of a contact is computed for every pair; where there is no contact the overlap counts as zero.
// Why: some lane of nearly every warp has a contact, so that the branch around the force is hardly ever skipped, yet
// it keeps the compiler from working on several pairs at a time.
#include "../common.h"

enum { MARBLES = 256 };  // at most, in a bag
static const float STIFF = 40, DAMPING = 3, RUBBING = 2;

// The forces between the marbles in a bag (springs with damping and rubbing); one block per bag.
__global__ void contacts(const float4 *places, const float4 *speeds, float4 *forces) {
    __shared__ float4 place[MARBLES], speed[MARBLES];  // place: x, y, z and the radius
    int marbles = blockDim.x;
    size_t at = (size_t)blockIdx.x * marbles + threadIdx.x;
    float4 me = places[at], v = speeds[at], force = make_float4(0, 0, 0, 0);
    place[threadIdx.x] = me;
    speed[threadIdx.x] = v;
    __syncthreads();
    for (int j = 0; j < marbles; j++) {
        float4 other = place[j];
        float x = me.x - other.x, y = me.y - other.y, z = me.z - other.z, reach = me.w + other.w;
        float square = x * x + y * y + z * z + 1e-6f;
#ifdef AFTER
        {
#else
        if (square < reach * reach) {
#endif
            float4 w = speed[j];
            float inverse = rsqrtf(square);
            float overlap = fmaxf(reach - square * inverse, 0.0f);
            x *= inverse;
            y *= inverse;
            z *= inverse;
            float a = v.x - w.x, b = v.y - w.y, c = v.z - w.z;
            float parting = a * x + b * y + c * z;
            float push = overlap * fmaxf(STIFF - DAMPING * parting, 0.0f), rub = RUBBING * overlap;
            push += rub * parting;
            force.x += push * x - rub * a;
            force.y += push * y - rub * b;
            force.z += push * z - rub * c;
            force.w += overlap;
        }
    }
    forces[at] = force;
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "marbles");
    int bags = p.small ? 1 : 1056, marbles = p.small ? 64 : MARBLES;
    size_t n = (size_t)bags * marbles;
    std::vector<float> at = random_floats(3 * n, 0, p.small ? 2.8f : 4.5f, 1), radii = random_floats(n, 0.4f, 0.8f, 2),
                       v = random_floats(3 * n, -1, 1, 3);
    std::vector<float4> places(n), speeds(n);
    for (size_t i = 0; i < n; i++) {
        places[i] = make_float4(at[3 * i], at[3 * i + 1], at[3 * i + 2], radii[i]);
        speeds[i] = make_float4(v[3 * i], v[3 * i + 1], v[3 * i + 2], 0);
    }
    float4 *d_places = device_copy_of(places.data(), n), *d_speeds = device_copy_of(speeds.data(), n),
           *d_forces = device_array<float4>(n);
    pair_time(&p, [&] { contacts<<<bags, marbles>>>(d_places, d_speeds, d_forces); });
    std::vector<float4> forces = host_copy_of(d_forces, n);
    for (int bag = 0; bag < bags; bag += 101)
        for (int i = 0; i < marbles; i++) {
            size_t me = (size_t)bag * marbles + i;
            double fx = 0, fy = 0, fz = 0, overlaps = 0;
            for (int j = 0; j < marbles; j++) {
                size_t o = (size_t)bag * marbles + j;
                double x = (double)places[me].x - places[o].x, y = (double)places[me].y - places[o].y,
                       z = (double)places[me].z - places[o].z, distance = sqrt(x * x + y * y + z * z + 1e-6),
                       overlap = (double)places[me].w + places[o].w - distance;
                if (overlap <= 0)
                    continue;
                x /= distance;
                y /= distance;
                z /= distance;
                double a = (double)speeds[me].x - speeds[o].x, b = (double)speeds[me].y - speeds[o].y,
                       c = (double)speeds[me].z - speeds[o].z, parting = a * x + b * y + c * z,
                       push = overlap * std::max(STIFF - DAMPING * parting, 0.0), rub = RUBBING * overlap;
                fx += push * x - rub * (a - parting * x);
                fy += push * y - rub * (b - parting * y);
                fz += push * z - rub * (c - parting * z);
                overlaps += overlap;
            }
            pair_near(&p, "x", me, fx, forces[me].x, 2e-3);
            pair_near(&p, "y", me, fy, forces[me].y, 2e-3);
            pair_near(&p, "z", me, fz, forces[me].z, 2e-3);
            pair_near(&p, "overlap", me, overlaps, forces[me].w, 1e-3);
        }
    return pair_end(&p);
}
