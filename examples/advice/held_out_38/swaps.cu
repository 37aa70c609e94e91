// SPDX-License-Identifier: Apache-2.0
//
// Rule: async-copy
// Change: the cash flows of the next date are copied to shared memory by cp.async while those of this date are valued.
// Why: every date begins with a load that all warps of the CTA wait for at the barrier, and an SM has too few warps to
// do other work meanwhile; copied a date ahead, the cash flows are there when they are needed.
#include "../common.h"

#include <cuda_pipeline.h>

// Credit value adjustment of a book of interest-rate swaps with one counterparty: a thread follows one path of the
// short rate (Vasicek) and values at every date all flows that are still to come, by the affine bond formula.
constexpr int THREADS = 128;
constexpr int FLOWS = 64;  // dates on which the book pays

struct __align__(16) Flow {
    float amount;
    float log_price, slope;  // bond price = exp(log_price - slope * rate)
    float accrued;           // coupon of the running period for each unit of rate
};

struct Market {
    float start, speed, level, volatility;  // of the short rate
    float hazard;                           // of the counterparty, a year
    float step;                             // years
};

__host__ __device__ inline float normal(unsigned path, unsigned date) {  // the sum of twelve bytes, nearly
    unsigned x = path * 0x9E3779B1u ^ date * 0x85EBCA77u, sum = 0;
    for (int i = 0; i < 3; i++) {
        x = (x ^ (x >> 16)) * 0x7FEB352Du;
        x ^= x >> 15;
        sum += (x & 255) + (x >> 8 & 255) + (x >> 16 & 255) + (x >> 24);
    }
    return ((float)sum - 1530.0f) * (1.0f / 256.0f);
}

__host__ __device__ inline float next_rate(float rate, unsigned path, unsigned date, const Market &m) {
    return rate + m.speed * (m.level - rate) * m.step + m.volatility * sqrtf(m.step) * normal(path, date);
}

__device__ inline void fetch_flows(Flow *to, const Flow *__restrict__ table, int date) {
    for (int i = threadIdx.x; i < FLOWS; i += THREADS) {
#ifdef AFTER
        __pipeline_memcpy_async(&to[i], &table[(size_t)date * FLOWS + i], sizeof(Flow));
#else
        to[i] = table[(size_t)date * FLOWS + i];
#endif
    }
}

// table: [date][FLOWS]; flows of the past have amount 0.
__global__ void __launch_bounds__(THREADS)
    expected_losses(float *__restrict__ losses, const Flow *__restrict__ table, int paths, int dates, Market market) {
    __shared__ Flow book[2][FLOWS];
    int path = blockIdx.x * THREADS + threadIdx.x;
    float rate = market.start, discount = 1, survival = 1, loss = 0;
    float survived = __expf(-market.hazard * market.step);
#ifdef AFTER
    fetch_flows(book[0], table, 0);
    __pipeline_commit();
#endif
    for (int date = 0; date < dates; date++) {
        const Flow *flows = book[date & 1];
#ifdef AFTER
        if (date + 1 < dates)
            fetch_flows(book[(date + 1) & 1], table, date + 1);
        __pipeline_commit();
        __pipeline_wait_prior(1);
#else
        fetch_flows(book[date & 1], table, date);
#endif
        __syncthreads();
        discount *= __expf(-rate * market.step);
        rate = next_rate(rate, path, date, market);
        float value = 0;
#pragma unroll 8
        for (int f = 0; f < FLOWS; f++) {
            float price = __expf(flows[f].log_price - flows[f].slope * rate);
            value += (flows[f].amount + flows[f].accrued * rate) * price;
        }
        float alive = survival * survived;
        loss += fmaxf(value, 0.0f) * discount * (survival - alive);
        survival = alive;
        __syncthreads();
    }
    if (path < paths)
        losses[path] = loss;
}

static float loss_on_cpu(const std::vector<Flow> &table, int path, int dates, const Market &m) {
    float rate = m.start, discount = 1, survival = 1, loss = 0;
    for (int date = 0; date < dates; date++) {
        discount *= expf(-rate * m.step);
        rate = next_rate(rate, path, date, m);
        float value = 0;
        for (int f = 0; f < FLOWS; f++) {
            const Flow &flow = table[(size_t)date * FLOWS + f];
            value += (flow.amount + flow.accrued * rate) * expf(flow.log_price - flow.slope * rate);
        }
        float alive = survival * expf(-m.hazard * m.step);
        loss += std::max(value, 0.0f) * discount * (survival - alive);
        survival = alive;
    }
    return loss;
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "swaps");
    int paths = p.small ? 250 : 132 * 2 * THREADS, dates = p.small ? 12 : 520;
    Market market = {0.03f, 0.4f, 0.035f, 0.012f, 0.02f, 16.0f / dates};
    std::vector<Flow> table((size_t)dates * FLOWS);
    std::vector<float> net = random_floats(FLOWS, -0.6f, 0.65f, 35);
    for (int date = 0; date < dates; date++)
        for (int f = 0; f < FLOWS; f++) {
            float wait = 0.25f * (f + 1) - (date + 1) * market.step;  // years to the payment
            Flow flow = {0, 0, 0, 0};
            if (wait > 0) {
                float b = (1 - expf(-market.speed * wait)) / market.speed, v = market.volatility;
                float limit = market.level - v * v / (2 * market.speed * market.speed);
                flow = {net[f], limit * (b - wait) - v * v * b * b / (4 * market.speed), b, wait < 0.25f ? 0.3f : 0.0f};
            }
            table[(size_t)date * FLOWS + f] = flow;
        }

    Flow *d_table = device_copy_of(table.data(), table.size());
    float *d_losses = device_array<float>(paths);
    int blocks = (paths + THREADS - 1) / THREADS;
    pair_time(&p, [&] { expected_losses<<<blocks, THREADS>>>(d_losses, d_table, paths, dates, market); });

    std::vector<float> losses = host_copy_of(d_losses, paths);
    for (int i = 0; i < paths; i += p.small ? 1 : 211)
        pair_near(&p, "loss", i, loss_on_cpu(table, i, dates, market), losses[i], 1e-3);
    CUDA_CHECK(cudaFree(d_table));
    CUDA_CHECK(cudaFree(d_losses));
    return pair_end(&p);
}
