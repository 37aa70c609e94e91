// SPDX-License-Identifier: Apache-2.0
//
// Rule: code-reordering
// Change: the stage of the coming day is loaded before the current day is walked.
// Why: where a stage leads to is known as soon as it is loaded, but the next load waits for the end of the day; with
// few warps its way through the L2 cache is not hidden.
#include "../common.h"

enum { BLOCK = 256, QUARTERS = 4 };

struct __align__(16) Stage {
    float km, slope, heat;
    int next;
};

// Pilgrims on their way through a network of stages: hours walked on every day, and how tired they are in the end.
__global__ void walk(const Stage *stages, const int *starts, const float *fitness, float *diary, float *tired,
                     int days) {
    int i = blockIdx.x * BLOCK + threadIdx.x, count = gridDim.x * BLOCK;
    float fit = fitness[i], fatigue = 0.2f;
#ifdef AFTER
    Stage stage = stages[starts[i]];
#else
    int here = starts[i];
#endif
    for (int day = 0; day < days; day++) {
#ifdef AFTER
        Stage coming = stages[stage.next];
#else
        Stage stage = stages[here];
#endif
        float pace = 6.0f * __expf(-3.5f * fabsf(stage.slope + 0.05f)), hours = 0;
        for (int q = 0; q < QUARTERS; q++) {
            float speed = __fdividef(pace * fit, 1.0f + fatigue + 0.02f * stage.heat);
            float spent = __fdividef(0.25f * stage.km, speed);
            hours += spent;
            fatigue += 0.04f * spent * __expf(-0.5f * fatigue);
        }
        fatigue *= __expf(-0.9f * fit);  // a night's rest
        diary[(size_t)day * count + i] = hours;
#ifdef AFTER
        stage = coming;
#else
        here = stage.next;
#endif
    }
    tired[i] = fatigue;
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "pilgrims");
    int blocks = p.small ? 1 : 132, n = blocks * BLOCK, days = p.small ? 4 : 400, places = p.small ? 2048 : 1 << 20;
    std::vector<float> km = random_floats(places, 12, 32, 1), slope = random_floats(places, -0.1f, 0.1f, 2),
                       heat = random_floats(places, 5, 35, 3), fitness = random_floats(n, 0.7f, 1.2f, 4);
    std::vector<Stage> stages(places);
    std::vector<int> starts(n);
    unsigned seed = 5;
    for (int s = 0; s < places; s++)
        stages[s] = {km[s], slope[s], heat[s], (int)lcg_next(&seed, places)};
    for (int &start : starts)
        start = (int)lcg_next(&seed, places);
    Stage *d_stages = device_copy_of(stages.data(), places);
    int *d_starts = device_copy_of(starts.data(), n);
    float *d_fitness = device_copy_of(fitness.data(), n), *d_diary = device_array<float>((size_t)n * days),
          *d_tired = device_array<float>(n);
    pair_time(&p, [&] { walk<<<blocks, BLOCK>>>(d_stages, d_starts, d_fitness, d_diary, d_tired, days); });
    std::vector<float> diary = host_copy_of(d_diary, (size_t)n * days), tired = host_copy_of(d_tired, n);
    for (int i = 0; i < n; i += p.small ? 3 : 37) {
        int here = starts[i];
        double fatigue = 0.2, fit = fitness[i];
        for (int day = 0; day < days; day++) {
            Stage s = stages[here];
            double pace = 6 * exp(-3.5 * fabs(s.slope + 0.05)), hours = 0;
            for (int q = 0; q < QUARTERS; q++) {
                double spent = 0.25 * s.km * (1 + fatigue + 0.02 * s.heat) / (pace * fit);
                hours += spent;
                fatigue += 0.04 * spent * exp(-0.5 * fatigue);
            }
            fatigue *= exp(-0.9 * fit);
            pair_near(&p, "hours", (size_t)day * n + i, hours, diary[(size_t)day * n + i], 1e-3);
            here = s.next;
        }
        pair_near(&p, "tired", i, fatigue, tired[i], 1e-3);
    }
    return pair_end(&p);
}
