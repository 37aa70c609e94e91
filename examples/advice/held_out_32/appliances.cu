// SPDX-License-Identifier: Apache-2.0
//
// Rule: divergence
// Change: the threads are numbered kind by kind (all heat pumps, then all tanks, ...) instead of house by house.
// Why: house by house, every warp has lanes of all four kinds, and runs through the four models one after another.
#include "../common.h"

enum { KINDS = 4, BLOCK = 128 };
enum Kind { HEAT_PUMP, WATER_TANK, BATTERY, CAR };

// What makes one appliance differ from the next of its kind; what a..d are depends on the kind.
struct __align__(16) Traits {
    float a, b, c, d;
};

struct Hour {
    float outdoor, price, sun, use;  // degrees, money a kWh, 0 to 1, 0 to 1
};

static __host__ __device__ float clamp_to(float x, float low, float high) { return fminf(fmaxf(x, low), high); }

// One step of `h` hours; `state` is a temperature or a charge. Returns the power in kW.
static __host__ __device__ float heat_pump(Traits t, Hour now, float h, float *state) {
    float lift = fmaxf(*state + 15.0f - now.outdoor, 5.0f);
    float efficiency = 0.45f * (*state + 288.0f) / lift * (1.0f - expf(-lift / t.d));
    float heat = clamp_to(t.b * (21.0f - *state), 0.0f, t.c);
    *state += h * (heat + 0.8f * now.sun - t.a * (*state - now.outdoor)) * 0.2f;
    return heat / fmaxf(efficiency, 1.0f);
}

static __host__ __device__ float water_tank(Traits t, Hour now, float h, float *state) {
    float drawn = t.a * now.use, mixed = expf(-h * drawn / t.b);
    float cooled = 10.0f + (*state - 10.0f) * mixed, loss = t.c * (cooled - 18.0f);
    float power = clamp_to((60.0f - cooled) * 0.5f, 0.0f, t.d) / (1.0f + expf(8.0f * (now.price - 0.3f)));
    *state = cooled + h * (power - loss) * 0.86f;
    return power;
}

static __host__ __device__ float battery(Traits t, Hour now, float h, float *state) {
    float wish = t.a * tanhf(6.0f * (0.28f - now.price)) + t.b * now.sun;
    float full = *state / t.c, inner = wish > 0 ? 1.0f - full : full;
    float power = wish * sqrtf(fmaxf(inner, 0.0f));
    float wear = 1.0f - t.d * power * power;
    *state = clamp_to(*state + h * power * wear, 0.0f, t.c);
    return power;
}

static __host__ __device__ float car(Traits t, Hour now, float h, float *state) {
    float home = 1.0f / (1.0f + expf(10.0f * (now.use - t.a)));
    float taper = 1.0f - expf(-(1.0f - *state / t.b) * 9.0f);
    float cold = clamp_to(0.7f + 0.015f * now.outdoor, 0.4f, 1.0f);
    float power = t.c * home * fmaxf(taper, 0.0f) * cold;
    *state = clamp_to(*state + h * (power - (1.0f - home) * t.d), 0.0f, t.b);
    return power;
}

static __host__ __device__ float2 simulate(int kind, Traits t, const Hour *hours, int steps, float h) {
    float state = kind == HEAT_PUMP ? 18.0f : kind == WATER_TANK ? 45.0f : 4.0f;
    float2 sum = {0, 0};  // kWh, money
    for (int s = 0; s < steps; s++) {
        Hour now = hours[s];
        float power;
        switch (kind) {
        case HEAT_PUMP: power = heat_pump(t, now, h, &state); break;
        case WATER_TANK: power = water_tank(t, now, h, &state); break;
        case BATTERY: power = battery(t, now, h, &state); break;
        default: power = car(t, now, h, &state); break;
        }
        sum.x += h * power;
        sum.y += h * power * now.price;
    }
    return sum;
}

// What the appliances of a town use in a week and what that costs. Traits and results are stored kind by kind.
__global__ void appliances(const Traits *__restrict__ traits, const Hour *__restrict__ hours, float2 *__restrict__ bill,
                           int houses, int steps, float h) {
    int i = blockIdx.x * BLOCK + threadIdx.x;
    if (i >= houses * KINDS)
        return;
#ifdef AFTER
    int kind = i / houses, house = i % houses;
#else
    int kind = i % KINDS, house = i / KINDS;
#endif
    size_t where = (size_t)kind * houses + house;
    bill[where] = simulate(kind, traits[where], hours, steps, h);
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "appliances");
    int houses = p.small ? 132 * 32 : 132 * 512, steps = p.small ? 42 : 336;
    float h = 0.5f;
    const Traits low[KINDS] = {{0.1f, 1, 4, 3}, {0.5f, 3, 0.01f, 2}, {1, 0.5f, 6, 0.002f}, {0.3f, 30, 3, 1}};
    const Traits high[KINDS] = {{0.3f, 3, 9, 6}, {2, 6, 0.03f, 4}, {4, 3, 14, 0.01f}, {0.7f, 80, 11, 4}};
    std::vector<Traits> traits((size_t)KINDS * houses);
    std::vector<float> mix = random_floats(traits.size() * 4, 0, 1, 1);
    for (size_t i = 0; i < traits.size(); i++) {
        const Traits &l = low[i / houses], &u = high[i / houses];
        const float *m = &mix[4 * i];
        traits[i] = {l.a + m[0] * (u.a - l.a), l.b + m[1] * (u.b - l.b), l.c + m[2] * (u.c - l.c),
                     l.d + m[3] * (u.d - l.d)};
    }
    std::vector<Hour> hours(steps);
    for (int s = 0; s < steps; s++) {
        float day = sinf((s * h - 8) * 0.2618f), evening = sinf((s * h - 14) * 0.2618f);
        hours[s] = {4 + 5 * day, 0.28f + 0.1f * evening, fmaxf(day, 0.0f), 0.5f + 0.4f * evening};
    }
    Traits *d_traits = device_copy_of(traits.data(), traits.size());
    Hour *d_hours = device_copy_of(hours.data(), steps);
    float2 *d_bill = device_array<float2>(traits.size());
    int blocks = (KINDS * houses + BLOCK - 1) / BLOCK;
    pair_time(&p, [&] { appliances<<<blocks, BLOCK>>>(d_traits, d_hours, d_bill, houses, steps, h); });
    std::vector<float2> bill = host_copy_of(d_bill, traits.size());
    for (size_t i = 0; i < traits.size(); i += 53) {
        float2 expected = simulate((int)(i / houses), traits[i], hours.data(), steps, h);
        pair_near(&p, "energy", i, expected.x, bill[i].x, 1e-3);
        pair_near(&p, "money", i, expected.y, bill[i].y, 1e-3);
    }
    return pair_end(&p);
}
