// SPDX-License-Identifier: Apache-2.0
//
// Rule: kernel-merge
// Change: one kernel computes the heat of each reading and adds it up; there were two, with an array between them.
// Why: the heats went out to memory and came back, as many bytes each way as all the readings have.
#include "../common.h"

enum { BLOCK = 192, WARPS = BLOCK / 32 };

// What a radiator gives off, in watts: its nominal power is meant for 50 degrees above the room, the exponent is 1.25.
static __host__ __device__ float heat_of(short2 reading, float nominal) {  // flow and room, in 1/100 of a degree
    float over = fmaxf(0.0f, 0.01f * (reading.x - reading.y)) * (1 / 50.0f);
    return nominal * over * sqrtf(sqrtf(over));
}

// Sum of the block's values, valid in thread 0.
static __device__ float block_sum(float value) {
    __shared__ float partial[WARPS];
    for (int d = 16; d > 0; d /= 2)
        value += __shfl_down_sync(~0u, value, d);
    if (threadIdx.x % 32 == 0)
        partial[threadIdx.x / 32] = value;
    __syncthreads();
    float sum = 0;
    if (threadIdx.x == 0)
        for (int w = 0; w < WARPS; w++)
            sum += partial[w];
    return sum;
}

#ifdef AFTER
// One block per radiator: kilowatt hours of the month, from a reading every quarter of an hour.
__global__ void meter(const short2 *readings, const float *nominal, float *kwh, int quarters) {
    const short2 *mine = readings + (size_t)blockIdx.x * quarters;
    float power = nominal[blockIdx.x], watts = 0;
    for (int q = threadIdx.x; q < quarters; q += BLOCK)
        watts += heat_of(mine[q], power);
    float sum = block_sum(watts);
    if (threadIdx.x == 0)
        kwh[blockIdx.x] = sum * 0.00025f;
}
#else
__global__ void heats_of_readings(const short2 *readings, const float *nominal, float *heats, int quarters) {
    int q = blockIdx.y * BLOCK + threadIdx.x;
    size_t at = (size_t)blockIdx.x * quarters + q;
    if (q < quarters)
        heats[at] = heat_of(readings[at], nominal[blockIdx.x]);
}

// One block per radiator: kilowatt hours of the month, from the heat in every quarter of an hour.
__global__ void add_up(const float *heats, float *kwh, int quarters) {
    const float *mine = heats + (size_t)blockIdx.x * quarters;
    float watts = 0;
    for (int q = threadIdx.x; q < quarters; q += BLOCK)
        watts += mine[q];
    float sum = block_sum(watts);
    if (threadIdx.x == 0)
        kwh[blockIdx.x] = sum * 0.00025f;
}
#endif

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "radiators");
    int radiators = p.small ? 12 : 9000, quarters = p.small ? 700 : 31 * 96;
    size_t count = (size_t)radiators * quarters;
    unsigned seed = 5;
    std::vector<short2> readings(count);
    for (short2 &r : readings) {
        r.y = (short)(1600 + lcg_next(&seed, 700));
        r.x = (short)(r.y - 200 + lcg_next(&seed, 4500));
    }
    std::vector<float> nominal = random_floats(radiators, 400, 2500, 6);
    short2 *d_readings = device_copy_of(readings.data(), count);
    float *d_nominal = device_copy_of(nominal.data(), radiators), *d_kwh = device_array<float>(radiators);
#ifdef AFTER
    pair_time(&p, [&] { meter<<<radiators, BLOCK>>>(d_readings, d_nominal, d_kwh, quarters); });
#else
    float *d_heats = device_array<float>(count);
    dim3 grid(radiators, (quarters + BLOCK - 1) / BLOCK);
    pair_time(&p, [&] {
        heats_of_readings<<<grid, BLOCK>>>(d_readings, d_nominal, d_heats, quarters);
        add_up<<<radiators, BLOCK>>>(d_heats, d_kwh, quarters);
    });
#endif
    std::vector<float> kwh = host_copy_of(d_kwh, radiators);
    for (int r = 0; r < radiators; r += p.small ? 1 : 23) {
        double watts = 0;
        for (int q = 0; q < quarters; q++)
            watts += heat_of(readings[(size_t)r * quarters + q], nominal[r]);
        pair_near(&p, "kwh", r, watts * 0.00025, kwh[r], 1e-4);
    }
    return pair_end(&p);
}
