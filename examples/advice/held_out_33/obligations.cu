// SPDX-License-Identifier: Apache-2.0
//
// Rule: warp-balance
// Change: the warps of a block deal the groups of 32 bonds out in turn, instead of each taking a row of neighbours.
// Why: the bonds are sorted by maturity, so the last warp has the long ones, about twice the mean, and the rest wait.
#include "../common.h"

enum { BLOCK = 512, WARPS = BLOCK / 32, RATINGS = 3, DAYS = 30 * 365, PERIOD = 182 };

// Interest-rate risk: every block values a whole portfolio of bonds under its own scenario, which is a daily curve of
// forward rates for each of three ratings. The curves are in shared memory: one block on an SM.
struct Bond {
    float coupon;   // paid every half year, for a face value of 100
    int first_day;  // of the next coupon
    int coupons;
    int rating;
};

// From the last payment back to today.
static __host__ __device__ float present_value(const Bond &bond, const float *curve) {
    int day = bond.first_day + PERIOD * (bond.coupons - 1);
    float value = 100;
    for (int k = bond.coupons; k > 1; k--) {
        value = (value + bond.coupon) / (1 + 0.5f * curve[day]);
        day -= PERIOD;
    }
    return (value + bond.coupon) / (1 + curve[bond.first_day] * bond.first_day * (1 / 365.0f));
}

static __device__ float warp_sum(float x) {
    for (int d = 16; d > 0; d /= 2)
        x += __shfl_down_sync(~0u, x, d);
    return x;
}

// bonds: groups * 32 of them; groups is a multiple of WARPS.
__global__ __launch_bounds__(BLOCK) void revalue(const Bond *bonds, int groups, const float *curves, float *value) {
    extern __shared__ float curve[];  // [rating][day]
    __shared__ float part[WARPS];
    int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    const float *mine = curves + (size_t)blockIdx.x * RATINGS * DAYS;
    for (int i = threadIdx.x; i < RATINGS * DAYS; i += BLOCK)
        curve[i] = mine[i];
    __syncthreads();

    int rounds = groups / WARPS;
    float sum = 0;
    for (int round = 0; round < rounds; round++) {
#ifdef AFTER
        int group = round * WARPS + warp;
#else
        int group = warp * rounds + round;
#endif
        Bond bond = bonds[group * 32 + lane];
        sum += present_value(bond, curve + bond.rating * DAYS);
    }
    sum = warp_sum(sum);
    if (lane == 0)
        part[warp] = sum;
    __syncthreads();
    if (warp == 0) {
        sum = warp_sum(lane < WARPS ? part[lane] : 0);
        if (lane == 0)
            value[blockIdx.x] = sum;
    }
}

// Short and long shifts, and a little noise from day to day.
static std::vector<float> make_curves(int scenarios) {
    std::vector<float> curves((size_t)scenarios * RATINGS * DAYS);
    unsigned seed = 9;
    for (int s = 0; s < scenarios; s++) {
        float low = 0.01f + 1e-5f * lcg_next(&seed, 2000), tilt = 1e-9f * lcg_next(&seed, 3000);
        for (int r = 0; r < RATINGS; r++)
            for (int d = 0; d < DAYS; d++)
                curves[((size_t)s * RATINGS + r) * DAYS + d] =
                    low + 0.007f * r + tilt * d + 1e-6f * lcg_next(&seed, 1024);
    }
    return curves;
}

static std::vector<Bond> make_bonds(int count) {
    std::vector<Bond> bonds(count);
    unsigned seed = 4;
    for (Bond &b : bonds) {
        b.coupon = 0.25f + 0.001f * lcg_next(&seed, 3000);
        b.first_day = 1 + lcg_next(&seed, PERIOD);
        b.coupons = 1 + lcg_next(&seed, 59);
        b.rating = lcg_next(&seed, RATINGS);
    }
    std::stable_sort(bonds.begin(), bonds.end(), [](const Bond &a, const Bond &b) { return a.coupons < b.coupons; });
    return bonds;
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "obligations");
    int scenarios = p.small ? 33 : 528, groups = WARPS * (p.small ? 12 : 24);
    std::vector<Bond> bonds = make_bonds(groups * 32);
    std::vector<float> curves = make_curves(scenarios);
    Bond *d_bonds = device_copy_of(bonds.data(), bonds.size());
    float *d_curves = device_copy_of(curves.data(), curves.size()), *d_value = device_array<float>(scenarios);
    size_t shared = RATINGS * DAYS * sizeof(float);
    CUDA_CHECK(cudaFuncSetAttribute(revalue, cudaFuncAttributeMaxDynamicSharedMemorySize, (int)shared));
    pair_time(&p, [&] { revalue<<<scenarios, BLOCK, shared>>>(d_bonds, groups, d_curves, d_value); });

    std::vector<float> value = host_copy_of(d_value, scenarios);
    for (int s = 0; s < scenarios; s += scenarios / 16) {
        double sum = 0;
        for (const Bond &b : bonds)
            sum += present_value(b, &curves[((size_t)s * RATINGS + b.rating) * DAYS]);
        pair_near(&p, "value", s, sum, value[s], 1e-4);
    }
    CUDA_CHECK(cudaFree(d_bonds));
    CUDA_CHECK(cudaFree(d_curves));
    CUDA_CHECK(cudaFree(d_value));
    return pair_end(&p);
}
