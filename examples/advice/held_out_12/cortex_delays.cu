// SPDX-License-Identifier: Apache-2.0
//
// Rule: shared-conflicts
// Change: the history of each neuron is padded by one float.
// Why: lanes read the same slot of histories that lie 32 floats apart, so all of them want one bank.
#include "../common.h"

enum { BLOCK = 128, SLOTS = 32, REACH = 4 };

#ifdef AFTER
enum { ROW = SLOTS + 1 };
#else
enum { ROW = SLOTS };
#endif

static __host__ __device__ inline float rate_of(float v) { return v / (1.0f + fabsf(v)); }

// Columns of rate neurons on a ring; what a neuron fires reaches the k-th neighbour 5k + 1 steps later.
__global__ void cortex_delays(const float *start, const float *drive, const float *weights, float *potential,
                              int steps) {
    __shared__ float history[BLOCK * ROW];
    int me = threadIdx.x, i = blockIdx.x * BLOCK + me;
    float v = start[i], own_drive = drive[i], weight[REACH];
    for (int k = 0; k < REACH; k++)
        weight[k] = weights[k];
    for (int s = 0; s < SLOTS; s++)
        history[me * ROW + s] = 0;
    __syncthreads();
    for (int t = 0; t < steps; t++) {
        float input = own_drive;
        for (int k = 0; k < REACH; k++) {
            int left = (me - k - 1) & (BLOCK - 1), right = (me + k + 1) & (BLOCK - 1);
            int slot = (t - 5 * k - 6) & (SLOTS - 1);
            input += weight[k] * (history[left * ROW + slot] + history[right * ROW + slot]);
        }
        v += 0.1f * (input - v);
        history[me * ROW + (t & (SLOTS - 1))] = rate_of(v);
        __syncthreads();
    }
    potential[i] = v;
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "cortex_delays");
    int columns = p.small ? 4 : 528, steps = p.small ? 16 : 256, n = columns * BLOCK;
    std::vector<float> start = random_floats(n, -1, 1, 1), drive = random_floats(n, 0, 1, 2);
    float weights[REACH] = {0.4f, 0.2f, -0.3f, -0.1f};
    float *d_start = device_copy_of(start.data(), n), *d_drive = device_copy_of(drive.data(), n),
          *d_weights = device_copy_of(weights, REACH), *d_potential = device_array<float>(n);
    pair_time(&p, [&] { cortex_delays<<<columns, BLOCK>>>(d_start, d_drive, d_weights, d_potential, steps); });
    std::vector<float> potential = host_copy_of(d_potential, n);
    for (int column = 0; column < columns; column += 97) {
        const float *own = &drive[column * BLOCK];
        std::vector<double> v(&start[column * BLOCK], &start[column * BLOCK] + BLOCK), rates(BLOCK * (size_t)steps);
        for (int t = 0; t < steps; t++)
            for (int me = 0; me < BLOCK; me++) {
                double input = own[me];
                for (int k = 0; k < REACH; k++) {
                    int then = t - 5 * k - 6;
                    if (then >= 0)
                        input += weights[k] * (rates[then * BLOCK + ((me - k - 1) & (BLOCK - 1))] +
                                               rates[then * BLOCK + ((me + k + 1) & (BLOCK - 1))]);
                }
                v[me] += 0.1 * (input - v[me]);
                rates[t * BLOCK + me] = v[me] / (1 + fabs(v[me]));
            }
        for (int me = 0; me < BLOCK; me++)
            pair_near(&p, "potential", column * BLOCK + me, v[me], potential[column * BLOCK + me], 1e-4);
    }
    return pair_end(&p);
}
