// SPDX-License-Identifier: Apache-2.0
//
// Rule: block-increase
// Change: sixteen blocks share the households of a district instead of one block taking them all.
// Why: there are 48 districts, so with a block for each most multiprocessors have nothing to do.
#include "../common.h"

enum { BLOCK = 512, SIZES = 8 };

#ifdef AFTER
enum { PARTS = 16 };
#else
enum { PARTS = 1 };
#endif

struct District {
    unsigned long long income;
    unsigned people, poor[SIZES];  // households under the poverty line, by number of members less one
};

__host__ __device__ inline bool is_poor(int income, int members) { return income < 9000 + 4500 * (members - 1); }

// Block x, y takes part y of the households of district x. `out` must be zero.
__global__ void census(const int *__restrict__ income, const unsigned char *__restrict__ members,
                       const int *__restrict__ first, District *out) {
    __shared__ unsigned poor[SIZES];
    if (threadIdx.x < SIZES)
        poor[threadIdx.x] = 0;
    __syncthreads();
    int begin = first[blockIdx.x], end = first[blockIdx.x + 1];
    unsigned long long sum = 0;
    unsigned people = 0;
    for (int h = begin + blockIdx.y * BLOCK + threadIdx.x; h < end; h += PARTS * BLOCK) {
        int earned = income[h], size = members[h];
        sum += earned;
        people += size;
        if (is_poor(earned, size))
            atomicAdd(&poor[size - 1], 1u);
    }
    for (int d = 16; d > 0; d /= 2) {
        sum += __shfl_down_sync(0xffffffffu, sum, d);
        people += __shfl_down_sync(0xffffffffu, people, d);
    }
    District *to = out + blockIdx.x;
    if (threadIdx.x % 32 == 0) {
        atomicAdd(&to->income, sum);
        atomicAdd(&to->people, people);
    }
    __syncthreads();
    if (threadIdx.x < SIZES)
        atomicAdd(&to->poor[threadIdx.x], poor[threadIdx.x]);
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "households");
    int districts = p.small ? 2 : 48, least = p.small ? 3000 : 280000, spread = p.small ? 2000 : 60000;
    std::vector<int> first(1, 0);
    unsigned seed = 1;
    for (int d = 0; d < districts; d++)
        first.push_back(first.back() + least + (int)lcg_next(&seed, spread));
    int n = first.back();
    std::vector<int> income(n);
    std::vector<unsigned char> members(n);
    lcg_fill(income.data(), n, 2, 120000);
    lcg_fill(members.data(), n, 3, SIZES);
    for (unsigned char &m : members)
        m++;
    int *d_income = device_copy_of(income.data(), n), *d_first = device_copy_of(first.data(), districts + 1);
    unsigned char *d_members = device_copy_of(members.data(), n);
    District *d_out = device_array<District>(districts);
    pair_time(&p, [&] {
        CUDA_CHECK(cudaMemsetAsync(d_out, 0, districts * sizeof(District)));
        census<<<dim3(districts, PARTS), BLOCK>>>(d_income, d_members, d_first, d_out);
    });
    std::vector<District> out = host_copy_of(d_out, districts);
    for (int d = 0; d < districts; d++) {
        District want = {};
        for (int h = first[d]; h < first[d + 1]; h++) {
            want.income += income[h];
            want.people += members[h];
            want.poor[members[h] - 1] += is_poor(income[h], members[h]);
        }
        pair_near(&p, "income", d, (double)want.income, (double)out[d].income, 0);
        pair_near(&p, "people", d, want.people, out[d].people, 0);
        for (int s = 0; s < SIZES; s++)
            pair_near(&p, "poor", d * SIZES + s, want.poor[s], out[d].poor[s], 0);
    }
    return pair_end(&p);
}
