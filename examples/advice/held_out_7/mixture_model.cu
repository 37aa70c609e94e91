// SPDX-License-Identifier: Apache-2.0
//
// Rule: memory-transactions
// Change: the components, which all threads share, are read from constant memory instead of global memory.
// Why: seven loads for each component fetch one word for a whole warp.
#include "../common.h"

enum { BLOCK = 256, COMPONENTS = 32 };

struct Component {
    float x, y, z, ax, ay, az, log_weight;
};

__constant__ Component c_component[COMPONENTS];

// Which component of a mixture of Gaussians each point most likely comes from.
__global__ void mixture_model(const float *x, const float *y, const float *z, const Component *component, int *best) {
    int i = blockIdx.x * BLOCK + threadIdx.x, which = 0;
    float px = x[i], py = y[i], pz = z[i], most = -1e30f;
    for (int k = 0; k < COMPONENTS; k++) {
#ifdef AFTER
        const Component &c = c_component[k];
#else
        const Component &c = component[k];
#endif
        float dx = px - c.x, dy = py - c.y, dz = pz - c.z;
        float score = c.log_weight - c.ax * dx * dx - c.ay * dy * dy - c.az * dz * dz;
        if (score > most) {
            most = score;
            which = k;
        }
    }
    best[i] = which;
}

static double score_of(const Component &c, double x, double y, double z) {
    return c.log_weight - c.ax * (x - c.x) * (x - c.x) - c.ay * (y - c.y) * (y - c.y) - c.az * (z - c.z) * (z - c.z);
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "mixture_model");
    int n = p.small ? 1 << 14 : 1 << 23;
    std::vector<float> x = random_floats(n, 0, 1, 1), y = random_floats(n, 0, 1, 2), z = random_floats(n, 0, 1, 3),
                       u = random_floats(7 * COMPONENTS, 0, 1, 4);
    std::vector<Component> all(COMPONENTS);
    for (int k = 0; k < COMPONENTS; k++)
        all[k] = {u[7 * k],         u[7 * k + 1],     u[7 * k + 2], 5 + u[7 * k + 3],
                  5 + u[7 * k + 4], 5 + u[7 * k + 5], -u[7 * k + 6]};
    float *d_x = device_copy_of(x.data(), n), *d_y = device_copy_of(y.data(), n), *d_z = device_copy_of(z.data(), n);
    Component *d_component = device_copy_of(all.data(), COMPONENTS);
    int *d_best = device_array<int>(n);
    CUDA_CHECK(cudaMemcpyToSymbol(c_component, all.data(), sizeof c_component));
    pair_time(&p, [&] { mixture_model<<<n / BLOCK, BLOCK>>>(d_x, d_y, d_z, d_component, d_best); });
    std::vector<int> best = host_copy_of(d_best, n);
    for (int i = 0; i < n; i += 1009) {
        double most = -1e30;
        for (const Component &c : all)
            most = std::max(most, score_of(c, x[i], y[i], z[i]));
        pair_near(&p, "score", i, most, score_of(all[best[i] % COMPONENTS], x[i], y[i], z[i]), 1e-4);
    }
    return pair_end(&p);
}
