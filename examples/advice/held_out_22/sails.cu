// SPDX-License-Identifier: Apache-2.0
//
// Rule: memory-transactions
// Change: the table of the sail's panels is in constant memory.
// Why: all threads read the same panel at the same time; from global memory each of these reads is a load that goes
// through the cache and comes back to all 32 lanes.
#include "../common.h"

#ifdef AFTER
#define TABLE __constant__
#else
#define TABLE __device__
#endif

enum { BLOCK = 128, MOST = 256 };

TABLE float4 places[MOST];  // x y z: the middle of a panel, w: its area
TABLE float2 camber[MOST];  // x: how it is bent, y: how much air it lets through

// The lift and the drag of a sail at each of many trims: heel, sheet and twist.
__global__ void trim(const float *heel, const float *sheet, const float *twist, float2 *force, int count, int panels) {
    int i = blockIdx.x * BLOCK + threadIdx.x;
    if (i >= count)
        return;
    float over = heel[i], in = sheet[i], turn = twist[i], lift = 0, drag = 0;
    for (int k = 0; k < panels; k++) {
        float4 panel = places[k];
        float2 shape = camber[k];
        float wind = 1 + 0.1f * panel.z - over * panel.y;
        float angle = in + turn * panel.z + shape.x * panel.x;
        float push = panel.w * wind * wind * (1 - shape.y);
        lift += push * angle * (1 - angle * angle);
        drag += push * angle * angle;
    }
    force[i] = make_float2(lift, drag);
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "sails");
    int n = p.small ? 4096 : 132 * 2048 * 3, panels = p.small ? 20 : 180;
    std::vector<float> heel = random_floats(n, 0, 0.5f, 1), sheet = random_floats(n, 0, 0.5f, 2),
                       twist = random_floats(n, 0, 0.2f, 3), place = random_floats(4 * MOST, 0, 1, 4),
                       bend = random_floats(2 * MOST, 0, 0.2f, 5);
    CUDA_CHECK(cudaMemcpyToSymbol(places, place.data(), MOST * sizeof(float4)));
    CUDA_CHECK(cudaMemcpyToSymbol(camber, bend.data(), MOST * sizeof(float2)));
    float *d_heel = device_copy_of(heel.data(), n), *d_sheet = device_copy_of(sheet.data(), n),
          *d_twist = device_copy_of(twist.data(), n);
    float2 *d_force = device_array<float2>(n);
    pair_time(&p, [&] { trim<<<(n + BLOCK - 1) / BLOCK, BLOCK>>>(d_heel, d_sheet, d_twist, d_force, n, panels); });
    std::vector<float2> force = host_copy_of(d_force, n);
    for (int i = 0; i < n; i += p.small ? 1 : 67) {
        double lift = 0, drag = 0;
        for (int k = 0; k < panels; k++) {
            const float *q = &place[4 * k];
            double wind = 1 + 0.1 * q[2] - (double)heel[i] * q[1];
            double angle = sheet[i] + (double)twist[i] * q[2] + (double)bend[2 * k] * q[0];
            double push = q[3] * wind * wind * (1 - bend[2 * k + 1]);
            lift += push * angle * (1 - angle * angle);
            drag += push * angle * angle;
        }
        pair_near(&p, "lift", i, lift, force[i].x, 1e-4);
        pair_near(&p, "drag", i, drag, force[i].y, 1e-4);
    }
    return pair_end(&p);
}
