// SPDX-License-Identifier: Apache-2.0
//
// Rule: occupancy-up
// Change: the stacks in shared memory are as deep as a walk can make them, 10 entries instead of 48.
// Why: the stacks fill the shared memory with four blocks per SM, too few to hide the wait for the next passage.
#include "../common.h"

enum { BLOCK = 128, DEEPEST = 8 };
#ifdef AFTER
enum { STACK = DEEPEST + 2 };
#else
enum { STACK = 48 };
#endif

struct __align__(16) Passage {
    int left, right;  // where it forks to; 0: a dead end
    float volume, draught;
};

// How much air of a cave system each entrance breathes: all passages within eight forks, each with its share of the
// draught. One entrance per thread.
__global__ void breathe(const Passage *passages, const int *entrances, float2 *breaths, int count) {
    __shared__ int place[STACK][BLOCK];
    __shared__ float share[STACK][BLOCK];
    int t = threadIdx.x, i = blockIdx.x * BLOCK + t;
    if (i >= count)
        return;
    int top = 1, visited = 0;
    place[0][t] = entrances[i] << 4;
    share[0][t] = 1;
    float air = 0;
    while (top > 0) {
        top--;
        int packed = place[top][t], depth = packed & 15;
        float part = share[top][t];
        Passage here = passages[packed >> 4];
        air += part * here.volume;
        visited++;
        part *= here.draught;
        if (depth < DEEPEST) {
            if (here.right) {
                place[top][t] = here.right << 4 | (depth + 1);
                share[top++][t] = 0.4f * part;
            }
            if (here.left) {
                place[top][t] = here.left << 4 | (depth + 1);
                share[top++][t] = 0.6f * part;
            }
        }
    }
    breaths[i] = make_float2(air, visited);
}

static void breathe_on_host(const std::vector<Passage> &passages, int at, int depth, double part, double *air,
                            int *visited) {
    const Passage &here = passages[at];
    *air += part * here.volume;
    ++*visited;
    part *= here.draught;
    if (depth < DEEPEST && here.left)
        breathe_on_host(passages, here.left, depth + 1, 0.6 * part, air, visited);
    if (depth < DEEPEST && here.right)
        breathe_on_host(passages, here.right, depth + 1, 0.4 * part, air, visited);
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "caves");
    int count = p.small ? 128 : 270336, n = p.small ? 5000 : 1 << 20;
    std::vector<float> volumes = random_floats(n, 1, 50, 1), draughts = random_floats(n, 0.5f, 1, 2);
    std::vector<Passage> passages(n);
    std::vector<int> entrances(count);
    unsigned seed = 3;
    for (int k = 0; k < n; k++) {
        int left = 1 + (int)lcg_next(&seed, n - 1), right = 1 + (int)lcg_next(&seed, n - 1);
        passages[k] = {lcg_next(&seed, 100) < 80 ? left : 0, lcg_next(&seed, 100) < 70 ? right : 0, volumes[k],
                       draughts[k]};
    }
    for (int &entrance : entrances)
        entrance = 1 + (int)lcg_next(&seed, n - 1);
    Passage *d_passages = device_copy_of(passages.data(), n);
    int *d_entrances = device_copy_of(entrances.data(), count);
    float2 *d_breaths = device_array<float2>(count);
    pair_time(&p, [&] {
        breathe<<<(count + BLOCK - 1) / BLOCK, BLOCK>>>(d_passages, d_entrances, d_breaths, count);
    });
    std::vector<float2> breaths = host_copy_of(d_breaths, count);
    for (int i = 0; i < count; i += p.small ? 1 : 29) {
        double air = 0;
        int visited = 0;
        breathe_on_host(passages, entrances[i], 0, 1, &air, &visited);
        pair_near(&p, "air", i, air, breaths[i].x, 1e-4);
        pair_near(&p, "visited", i, visited, breaths[i].y, 0);
    }
    return pair_end(&p);
}
