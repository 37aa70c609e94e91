// SPDX-License-Identifier: Apache-2.0
//
// Rule: tail-effect
// Change: a block does two days instead of 16; there are eight times as many blocks.
// Why: two blocks fit on an SM and there are 16 more than that; the device waits for these few almost twice as long.
#include "../common.h"

enum { MOST_POTS = 1024 };
#ifdef AFTER
enum { DAYS_PER_BLOCK = 2 };
#else
enum { DAYS_PER_BLOCK = 16 };
#endif

struct Leaf {
    float capacity, slope, respiration, width;
};

struct Hour {
    float light, air, humidity, carbon;
};

// What the plants of a greenhouse gain on a day of its climate plan: photosynthesis and transpiration hour by hour,
// for the pot in front and the one behind it, which stands in its shade; one thread per pair of pots.
__global__ void __launch_bounds__(MOST_POTS) growth(const Leaf *leaves, const Hour *plan, float2 *gains,
                                                    float2 *losses, int days, int hours) {
    int pot = threadIdx.x, pots = blockDim.x;
    Leaf front = leaves[pot], behind = leaves[pots + pot];
    for (int k = 0; k < DAYS_PER_BLOCK; k++) {
        int day = blockIdx.x * DAYS_PER_BLOCK + k;
        if (day >= days)
            break;
        float gain_front = 0, gain_behind = 0, loss_front = 0, loss_behind = 0, warm_front = 15, warm_behind = 15;
        for (int h = 0; h < hours; h++) {
            Hour now = plan[day * hours + h];
            float shaded = now.light * __expf(-0.5f * front.width);
            warm_front += 0.5f * (now.air + 2.0f * now.light - warm_front);
            warm_behind += 0.5f * (now.air + 2.0f * shaded - warm_behind);
            float rate_front = __expf(0.05f * (warm_front - 25.0f));
            float rate_behind = __expf(0.05f * (warm_behind - 25.0f));
            float top_front = front.capacity * rate_front * now.carbon, use_front = front.slope * now.light;
            float top_behind = behind.capacity * rate_behind * now.carbon, use_behind = behind.slope * shaded;
            float half_front = 0.5f * (top_front + use_front), half_behind = 0.5f * (top_behind + use_behind);
            float got_front = half_front - sqrtf(fmaxf(half_front * half_front - 0.9f * top_front * use_front, 0.0f));
            float got_behind =
                half_behind - sqrtf(fmaxf(half_behind * half_behind - 0.9f * top_behind * use_behind, 0.0f));
            gain_front += got_front - front.respiration * rate_front;
            gain_behind += got_behind - behind.respiration * rate_behind;
            float dry = 1.0f - now.humidity;
            loss_front += (0.1f + got_front) * dry * rate_front * front.width;
            loss_behind += (0.1f + got_behind) * dry * rate_behind * behind.width;
        }
        gains[(size_t)day * pots + pot] = make_float2(gain_front, gain_behind);
        losses[(size_t)day * pots + pot] = make_float2(loss_front, loss_behind);
    }
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "greenhouses");
    int days = p.small ? 20 : 280 * 16, hours = p.small ? 2 : 24, pots = p.small ? 64 : MOST_POTS;
    std::vector<Leaf> leaves(2 * pots);
    std::vector<float> some = random_floats(8 * pots, 0, 1, 1);
    for (int i = 0; i < 2 * pots; i++)
        leaves[i] = {2 + some[4 * i], 1 + some[4 * i + 1], 0.1f + 0.1f * some[4 * i + 2], 0.5f + some[4 * i + 3]};
    std::vector<Hour> plan((size_t)days * hours);
    std::vector<float> weather = random_floats(4 * plan.size(), 0, 1, 2);
    for (size_t i = 0; i < plan.size(); i++)
        plan[i] = {2 * weather[4 * i], 12 + 16 * weather[4 * i + 1], 0.4f + 0.5f * weather[4 * i + 2],
                   0.8f + 0.6f * weather[4 * i + 3]};
    size_t n = (size_t)days * pots;
    Leaf *d_leaves = device_copy_of(leaves.data(), leaves.size());
    Hour *d_plan = device_copy_of(plan.data(), plan.size());
    float2 *d_gains = device_array<float2>(n), *d_losses = device_array<float2>(n);
    int blocks = (days + DAYS_PER_BLOCK - 1) / DAYS_PER_BLOCK;
    pair_time(&p, [&] { growth<<<blocks, pots>>>(d_leaves, d_plan, d_gains, d_losses, days, hours); });
    std::vector<float2> gains = host_copy_of(d_gains, n), losses = host_copy_of(d_losses, n);
    for (size_t at = 0; at < n; at += p.small ? 7 : 1009) {
        size_t day = at / pots, pot = at % pots;
        for (int b = 0; b < 2; b++) {
            const Leaf &leaf = leaves[b * pots + pot];
            double gain = 0, loss = 0, warm = 15;
            for (int h = 0; h < hours; h++) {
                const Hour &now = plan[day * hours + h];
                double light = now.light * (b ? exp(-0.5 * leaves[pot].width) : 1.0);
                warm += 0.5 * (now.air + 2 * light - warm);
                double rate = exp(0.05 * (warm - 25)), top = leaf.capacity * rate * now.carbon,
                       use = leaf.slope * light, half = 0.5 * (top + use),
                       got = half - sqrt(std::max(half * half - 0.9 * top * use, 0.0));
                gain += got - leaf.respiration * rate;
                loss += (0.1 + got) * (1.0 - now.humidity) * rate * leaf.width;
            }
            pair_near(&p, "gain", at, gain, b ? gains[at].y : gains[at].x, 1e-3);
            pair_near(&p, "loss", at, loss, b ? losses[at].y : losses[at].x, 1e-3);
        }
    }
    return pair_end(&p);
}
