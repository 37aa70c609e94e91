// SPDX-License-Identifier: Apache-2.0
//
// Rule: thread-increase
// Change: a CTA has 256 threads instead of 32.
// Why: every CTA keeps the weather of eight years in shared memory, so that six of them fill an SM; with one warp each
// that is six warps, too few to hide how long a day's chain of operations takes.
#include "../common.h"

#ifdef AFTER
enum { THREADS = 256 };
#else
enum { THREADS = 32 };
#endif

// A guess at a catchment: how much water its soil holds (mm), how the runoff grows as it fills, below which filling
// plants get less than they want, and what of the runoff leaves quickly.
struct Catchment {
    float capacity, shape, wilting, quick_share;
    float quick, slow;  // what part of either store leaves in a day
};

// Rainfall-runoff model in the manner of HBV, a thread for each member of the ensemble; `misfit` is how far the flow is
// from the gauge's. series: rain, demand of the plants, flow at the gauge, `days` of each.
__global__ void ensembles(const Catchment *__restrict__ members, const float *__restrict__ series,
                          float *__restrict__ misfit, int count, int days) {
    extern __shared__ float weather[];
    for (int i = threadIdx.x; i < 3 * days; i += blockDim.x)
        weather[i] = series[i];
    __syncthreads();
    const int member = blockIdx.x * blockDim.x + threadIdx.x;
    if (member >= count)
        return;
    const float *rain = weather, *demand = weather + days, *gauge = weather + 2 * days;
    const Catchment c = members[member];
    float soil = 0.5f * c.capacity, upper = 0, lower = 20, squares = 0;
    for (int day = 0; day < days; day++) {
        // Snow does not fall here: all rain meets the soil at once, and the wetter it is the more runs off.
        float runoff = rain[day] * powf(soil / c.capacity, c.shape);
        soil += rain[day] - runoff;
        if (soil > c.capacity) {
            runoff += soil - c.capacity;
            soil = c.capacity;
        }
        soil -= fminf(demand[day] * fminf(1.0f, soil / (c.wilting * c.capacity)), soil);
        upper += c.quick_share * runoff;
        lower += (1 - c.quick_share) * runoff;
        const float flow = c.quick * upper + c.slow * lower, error = flow - gauge[day];
        upper -= c.quick * upper;
        lower -= c.slow * lower;
        squares += error * error;
    }
    misfit[member] = sqrtf(squares / days);
}

static double host_misfit(const Catchment &c, const std::vector<float> &series, int days) {
    double soil = 0.5 * c.capacity, upper = 0, lower = 20, squares = 0;
    for (int day = 0; day < days; day++) {
        double rain = series[day], demand = series[days + day], runoff = rain * pow(soil / c.capacity, c.shape);
        soil += rain - runoff;
        runoff += fmax(0, soil - c.capacity);
        soil = fmin(soil, c.capacity);
        soil -= fmin(demand * fmin(1, soil / ((double)c.wilting * c.capacity)), soil);
        upper += c.quick_share * runoff;
        lower += (1 - (double)c.quick_share) * runoff;
        double error = c.quick * upper + c.slow * lower - series[2 * days + day];
        upper *= 1 - (double)c.quick;
        lower *= 1 - (double)c.slow;
        squares += error * error;
    }
    return sqrt(squares / days);
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "ensembles");
    const int days = p.small ? 20 : 2922, count = p.small ? 640 : 6 * 132 * 256;

    // A wet winter and a dry summer; it rains on two days of five.
    std::vector<float> series(3 * days);
    unsigned seed = 1976;
    float flow = 2;
    for (int day = 0; day < days; day++) {
        const float season = cosf(2 * 3.14159265f * day / 365.25f);
        const float rain = lcg_next(&seed, 5) < 2 ? (6 + 3 * season) * -logf((1 + lcg_next(&seed, 999)) / 1000.0f) : 0;
        flow += 0.12f * (0.4f * rain * (1.2f + season) - flow);
        series[day] = rain;
        series[days + day] = 2.2f - 1.8f * season;
        series[2 * days + day] = flow;
    }
    std::vector<Catchment> members(count);
    const auto within = [&](float low, float high) { return low + (high - low) * lcg_next(&seed, 4096) / 4096.0f; };
    for (Catchment &c : members)
        c = {within(80, 400),    within(1, 5),       within(0.4f, 0.95f),
             within(0.3f, 0.9f), within(0.1f, 0.6f), within(0.005f, 0.08f)};

    Catchment *d_members = device_copy_of(members.data(), count);
    float *d_series = device_copy_of(series.data(), series.size()), *d_misfit = device_array<float>(count);
    const int blocks = (count + THREADS - 1) / THREADS;
    pair_time(&p, [&] {
        ensembles<<<blocks, THREADS, 3 * days * sizeof(float)>>>(d_members, d_series, d_misfit, count, days);
    });

    std::vector<float> misfit = host_copy_of(d_misfit, count);
    for (int i = 0; i < count; i += p.small ? 3 : 3001)
        pair_near(&p, "misfit", i, host_misfit(members[i], series, days), misfit[i], 1e-3);
    return pair_end(&p);
}
