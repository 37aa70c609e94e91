// SPDX-License-Identifier: Apache-2.0
//
// Rule: wrong-type
// Change: the species' parameters are handed to the kernel as float, not as the double of the fitting program.
// Why: temperatures, populations and exponentials are float; one double operand makes every expression around it
// double, with a conversion at each end, and the conversions and double operations take most of the time.
#include "../common.h"

// Grain weevils in silos: the growth of the populations at many places of many silos over a season, from the measured
// daily extremes of temperature and the moisture of the grain. Rates after Logan; a population is limited by the food.
constexpr int THREADS = 256;
constexpr int PHASES = 4;  // steps in a day

#ifdef AFTER
typedef float Real;
#else
typedef double Real;
#endif

struct Species {
    Real psi, rho, lethal, width;       // Logan's curve: eggs a day against temperature
    Real death, optimum, tolerance;     // mortality a day
    Real half_moisture, moisture_step;  // how dry grain is shunned
    Real capacity, appetite;            // weevils a litre, share of the grain that one eats in a day
};

struct Colony {
    float adults, eaten;
};

// The share of the day's range by which the temperature is over the day's mean, at dawn, noon, dusk and midnight.
__host__ __device__ inline float swing(int phase) {
    return phase == 0 ? -0.45f : phase == 1 ? 0.40f : phase == 2 ? 0.25f : -0.20f;
}

__host__ __device__ inline float eggs(float celsius, const Species &s) {
    float rise = expf(s.rho * celsius);
    float fall = expf(s.rho * s.lethal - (s.lethal - celsius) / s.width);
    return fmaxf(s.psi * (rise - fall), 0.0f);
}

__host__ __device__ inline void live(Colony *c, float celsius, float moisture, const Species &s) {
    float strain = (celsius - s.optimum) / s.tolerance;
    float deaths = s.death * (1 + strain * strain);
    float wet = 1 / (1 + expf((s.half_moisture - moisture) / s.moisture_step));
    float births = eggs(celsius, s) * wet * (1 - c->adults / s.capacity);
    c->adults += c->adults * (births - deaths) / PHASES;
    c->eaten += (1 - c->eaten) * c->adults * s.appetite / PHASES;
}

// climate: [day][place], of which x is the lowest and y the highest temperature; moisture: [week][place], percent.
__global__ void __launch_bounds__(THREADS)
    infest(Colony *__restrict__ colonies, const float *__restrict__ first, const float2 *__restrict__ climate,
           const float *__restrict__ moisture, int places, int days, Species species) {
    int i = blockIdx.x * THREADS + threadIdx.x;
    if (i >= places)
        return;
    Colony c = {first[i], 0.0f};
    float water = 0.0f;
    for (int day = 0; day < days; day++) {
        if (day % 7 == 0)
            water = moisture[(size_t)(day / 7) * places + i];
        float2 range = climate[(size_t)day * places + i];
        float mean = 0.5f * (range.x + range.y), width = range.y - range.x;
        for (int phase = 0; phase < PHASES; phase++)
            live(&c, mean + width * swing(phase), water, species);
    }
    colonies[i] = c;
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "weevils");
    int places = p.small ? 700 : 1 << 17, days = p.small ? 15 : 150;
    Species species = {0.012, 0.155, 38.5, 5.2, 0.021, 27.5, 9.0, 11.5, 1.1, 40.0, 0.00006};

    int weeks = (days + 6) / 7;
    std::vector<float> first = random_floats(places, 0.05f, 2.0f, 81);
    std::vector<float> moisture = random_floats((size_t)weeks * places, 9.0f, 15.0f, 82);
    std::vector<float2> climate((size_t)days * places);
    unsigned seed = 83;
    for (int day = 0; day < days; day++)
        for (int i = 0; i < places; i++) {
            float season = 8.0f * sinf(3.14159f * day / days), depth = 0.0001f * (i % 50000);
            float noise = 0.01f * lcg_next(&seed, 300);
            climate[(size_t)day * places + i] = make_float2(15 + season + noise, 24 + season + 2 * noise - depth);
        }

    float *d_first = device_copy_of(first.data(), places);
    float *d_moisture = device_copy_of(moisture.data(), moisture.size());
    float2 *d_climate = device_copy_of(climate.data(), climate.size());
    Colony *d_colonies = device_array<Colony>(places);

    int blocks = (places + THREADS - 1) / THREADS;
    pair_time(&p,
              [&] { infest<<<blocks, THREADS>>>(d_colonies, d_first, d_climate, d_moisture, places, days, species); });

    std::vector<Colony> colonies = host_copy_of(d_colonies, places);
    for (int i = 0; i < places; i += p.small ? 1 : 89) {
        Colony c = {first[i], 0.0f};
        for (int day = 0; day < days; day++) {
            float2 range = climate[(size_t)day * places + i];
            float mean = 0.5f * (range.x + range.y), width = range.y - range.x;
            for (int phase = 0; phase < PHASES; phase++)
                live(&c, mean + width * swing(phase), moisture[(size_t)(day / 7) * places + i], species);
        }
        pair_near(&p, "adults", i, c.adults, colonies[i].adults, 2e-3);
        pair_near(&p, "eaten", i, c.eaten, colonies[i].eaten, 2e-3);
    }
    CUDA_CHECK(cudaFree(d_first));
    CUDA_CHECK(cudaFree(d_moisture));
    CUDA_CHECK(cudaFree(d_climate));
    CUDA_CHECK(cudaFree(d_colonies));
    return pair_end(&p);
}
