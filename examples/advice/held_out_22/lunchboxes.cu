// SPDX-License-Identifier: Apache-2.0
//
// Rule: register-reuse
// Change: each thread compares one plan with four lunchboxes instead of one.
// Why: for each difference two numbers are read from shared memory; with four boxes a plan's number, once read, serves
// four times.
#include "../common.h"

#ifdef AFTER
enum { EACH = 4 };
#else
enum { EACH = 1 };
#endif
enum { WIDE = 32, HIGH = 8, DEEP = 16, BOXES = HIGH * EACH };

// How far each lunchbox is from each diet plan: the weighted sum over the nutrients of what is too much or too little.
__global__ void compare(const float *boxes, const float *plans, float *distance, int plan_count, int nutrients) {
    __shared__ float box[BOXES][DEEP], plan[WIDE][DEEP + 1];
    int x = threadIdx.x, y = threadIdx.y, me = y * WIDE + x;
    size_t first_box = (size_t)blockIdx.y * BOXES, first_plan = (size_t)blockIdx.x * WIDE;
    float sum[EACH] = {0};
    for (int start = 0; start < nutrients; start += DEEP) {
        for (int k = me; k < BOXES * DEEP; k += WIDE * HIGH)
            box[k / DEEP][k % DEEP] = boxes[(first_box + k / DEEP) * nutrients + start + k % DEEP];
        for (int k = me; k < WIDE * DEEP; k += WIDE * HIGH)
            plan[k / DEEP][k % DEEP] = plans[(first_plan + k / DEEP) * nutrients + start + k % DEEP];
        __syncthreads();
        for (int k = 0; k < DEEP; k++) {
            float wanted = plan[x][k];
            for (int e = 0; e < EACH; e++)
                sum[e] += fabsf(box[y + e * HIGH][k] - wanted);
        }
        __syncthreads();
    }
    for (int e = 0; e < EACH; e++)
        distance[(first_box + y + e * HIGH) * plan_count + first_plan + x] = sum[e] / nutrients;
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "lunchboxes");
    int boxes = p.small ? 64 : 4224, plans = p.small ? 64 : 2048, nutrients = p.small ? 32 : 80;
    std::vector<float> box = random_floats((size_t)boxes * nutrients, 0, 1, 1),
                       plan = random_floats((size_t)plans * nutrients, 0, 1, 2);
    float *d_box = device_copy_of(box.data(), box.size()), *d_plan = device_copy_of(plan.data(), plan.size()),
          *d_distance = device_array<float>((size_t)boxes * plans);
    dim3 block(WIDE, HIGH), grid(plans / WIDE, boxes / BOXES);
    pair_time(&p, [&] { compare<<<grid, block>>>(d_box, d_plan, d_distance, plans, nutrients); });
    std::vector<float> distance = host_copy_of(d_distance, (size_t)boxes * plans);
    for (size_t i = 0; i < distance.size(); i += p.small ? 1 : 101) {
        double sum = 0;
        for (int k = 0; k < nutrients; k++)
            sum += fabs((double)box[i / plans * nutrients + k] - plan[i % plans * nutrients + k]);
        pair_near(&p, "distance", i, sum / nutrients, distance[i], 1e-4);
    }
    return pair_end(&p);
}
