// SPDX-License-Identifier: Apache-2.0
//
// Rule: branch-elimination
// Change: the test whether there is a next road is left out; nobody comes on the roads that are missing anyway.
// Why: with the test no road can be read before the one ahead of it is known, so that all their latencies add up.
#include "../common.h"

enum { BLOCK = 128, ROADS = 12, NEAR = 40 };

struct Fair {
    float visitors, most;
};

// How many people would come to a fair in each hamlet along its roads, and how many at most from one place. A road (x:
// how far on in the list of hamlets it leads, y: how many per cent would walk it) is stored as the k-th of all hamlets.
__global__ void visit(const char2 *road, const float *people, Fair *fair, int hamlets) {
    int i = blockIdx.x * BLOCK + threadIdx.x;
    if (i >= hamlets)
        return;
    float visitors = people[i], most = 0;
    for (int k = 0; k < ROADS; k++) {
        char2 r = road[(size_t)k * hamlets + i];
#ifndef AFTER
        if (r.y == 0)  // the end of the list
            break;
#endif
        float come = people[i + r.x] * r.y * 0.01f;
        visitors += come;
        most = fmaxf(most, come);
    }
    fair[i].visitors = visitors;
    fair[i].most = most;
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "hamlets");
    int n = p.small ? 5000 : 132 * 2048 * 20;
    std::vector<float> people = random_floats(n, 10, 500, 1);
    std::vector<char2> road((size_t)ROADS * n, char2{0, 0});
    unsigned seed = 2;
    for (int i = 0; i < n; i++) {
        int roads = ROADS - (int)lcg_next(&seed, 4);
        for (int k = 0; k < roads; k++) {
            int any = (int)lcg_next(&seed, 2 * NEAR * 64);
            int other = std::min(std::max(i + any % (2 * NEAR) - NEAR, 0), n - 1);
            road[(size_t)k * n + i] = char2{(signed char)(other - i), (signed char)(1 + any / (2 * NEAR))};
        }
    }
    char2 *d_road = device_copy_of(road.data(), road.size());
    float *d_people = device_copy_of(people.data(), n);
    Fair *d_fair = device_array<Fair>(n);
    pair_time(&p, [&] { visit<<<(n + BLOCK - 1) / BLOCK, BLOCK>>>(d_road, d_people, d_fair, n); });
    std::vector<Fair> fair = host_copy_of(d_fair, n);
    for (int i = 0; i < n; i += p.small ? 1 : 17) {
        double visitors = people[i], most = 0;
        for (int k = 0; k < ROADS; k++) {
            char2 r = road[(size_t)k * n + i];
            double come = people[i + r.x] * r.y * 0.01;
            visitors += come;
            most = std::max(most, come);
        }
        pair_near(&p, "visitors", i, visitors, fair[i].visitors, 1e-5);
        pair_near(&p, "most", i, most, fair[i].most, 1e-5);
    }
    return pair_end(&p);
}
