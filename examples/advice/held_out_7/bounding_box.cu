// SPDX-License-Identifier: Apache-2.0
//
// Rule: atomic-contention
// Change: a CTA finds its own box in shared memory first, and six of its threads widen the box of all.
// Why: all points change the same six words of global memory.
#include "../common.h"

enum { BLOCK = 256 };

// The least and the greatest of each coordinate; of numbers that are not negative the bits are in the same order.
__global__ void bounding_box(const float *x, const float *y, const float *z, int *box) {
    int i = blockIdx.x * BLOCK + threadIdx.x;
    int bits[3] = {__float_as_int(x[i]), __float_as_int(y[i]), __float_as_int(z[i])};
#ifdef AFTER
    __shared__ int own[6];
    if (threadIdx.x < 6)
        own[threadIdx.x] = threadIdx.x < 3 ? 0x7f800000 : 0;
    __syncthreads();
    for (int k = 0; k < 3; k++) {
        atomicMin(&own[k], bits[k]);
        atomicMax(&own[3 + k], bits[k]);
    }
    __syncthreads();
    if (threadIdx.x < 3)
        atomicMin(&box[threadIdx.x], own[threadIdx.x]);
    else if (threadIdx.x < 6)
        atomicMax(&box[threadIdx.x], own[threadIdx.x]);
#else
    for (int k = 0; k < 3; k++) {
        atomicMin(&box[k], bits[k]);
        atomicMax(&box[3 + k], bits[k]);
    }
#endif
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "bounding_box");
    int n = p.small ? 1 << 14 : 1 << 22;
    std::vector<float> all[3] = {random_floats(n, 0.25f, 1, 1), random_floats(n, 2, 3, 2), random_floats(n, 0, 7, 3)};
    float *d_x = device_copy_of(all[0].data(), n), *d_y = device_copy_of(all[1].data(), n),
          *d_z = device_copy_of(all[2].data(), n);
    int start[6] = {0x7f800000, 0x7f800000, 0x7f800000, 0, 0, 0}, *d_box = device_copy_of(start, 6);
    pair_time(&p, [&] { bounding_box<<<n / BLOCK, BLOCK>>>(d_x, d_y, d_z, d_box); });
    std::vector<int> box = host_copy_of(d_box, 6);
    for (int k = 0; k < 3; k++) {
        float ends[2] = {*std::min_element(all[k].begin(), all[k].end()),
                         *std::max_element(all[k].begin(), all[k].end())},
              got[2];
        memcpy(&got[0], &box[k], sizeof(float));
        memcpy(&got[1], &box[3 + k], sizeof(float));
        pair_near(&p, "least", k, ends[0], got[0], 0);
        pair_near(&p, "greatest", k, ends[1], got[1], 0);
    }
    return pair_end(&p);
}
