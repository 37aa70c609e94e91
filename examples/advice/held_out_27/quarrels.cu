// SPDX-License-Identifier: Apache-2.0
//
// Rule: warp-balance
// Change: the people of a village are dealt out to the warps one by one, not in sixteens of the same age.
// Why: a person listens to all older ones; the warp with the youngest has thirty times the work of the first one, and
// all others wait for it at the barrier.
#include "../common.h"

enum { PEOPLE = 512, BLOCK = 1024, WARPS = BLOCK / 32, EACH = PEOPLE / WARPS };

struct Person {
    float x, y, mood;
};

__device__ float sum_of_warp(float value) {
    for (int offset = 16; offset > 0; offset /= 2)
        value += __shfl_xor_sync(0xffffffffu, value, offset);
    return value;
}

// How moods change in quarrels: one block for each village, whose people are sorted by age, the oldest first.
__global__ void __launch_bounds__(BLOCK, 2) quarrel(const Person *people, float *moods, int days) {
    __shared__ float x[PEOPLE], y[PEOPLE], mood[PEOPLE], anger[PEOPLE];
    int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    if (threadIdx.x < PEOPLE) {
        Person person = people[blockIdx.x * PEOPLE + threadIdx.x];
        x[threadIdx.x] = person.x;
        y[threadIdx.x] = person.y;
        mood[threadIdx.x] = person.mood;
    }
    __syncthreads();
    for (int day = 0; day < days; day++) {
        for (int k = 0; k < EACH; k++) {
#ifdef AFTER
            int i = k * WARPS + warp;
#else
            int i = warp * EACH + k;
#endif
            float my_x = x[i], my_y = y[i], my_mood = mood[i], sum = 0;
            for (int j = lane; j < i; j += 32) {
                float dx = x[j] - my_x, dy = y[j] - my_y;
                sum += (mood[j] - my_mood) * rsqrtf(1 + dx * dx + dy * dy);
            }
            sum = sum_of_warp(sum);
            if (lane == 0)
                anger[i] = sum / (i + 1);
        }
        __syncthreads();
        if (threadIdx.x < PEOPLE)
            mood[threadIdx.x] += 0.5f * anger[threadIdx.x];
        __syncthreads();
    }
    if (threadIdx.x < PEOPLE)
        moods[blockIdx.x * PEOPLE + threadIdx.x] = mood[threadIdx.x];
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "quarrels");
    int villages = p.small ? 1 : 132 * 8, n = villages * PEOPLE, days = p.small ? 2 : 6;
    std::vector<float> random = random_floats(3 * (size_t)n, 0, 1, 9);
    std::vector<Person> people(n);
    for (int i = 0; i < n; i++)
        people[i] = {4 * random[3 * i], 4 * random[3 * i + 1], 10 * random[3 * i + 2]};
    Person *d_people = device_copy_of(people.data(), n);
    float *d_moods = device_array<float>(n);
    pair_time(&p, [&] { quarrel<<<villages, BLOCK>>>(d_people, d_moods, days); });
    std::vector<float> moods = host_copy_of(d_moods, n);
    for (int v = 0; v < villages; v += 67) {
        const Person *all = &people[v * PEOPLE];
        std::vector<double> mood(PEOPLE), next(PEOPLE);
        for (int i = 0; i < PEOPLE; i++)
            mood[i] = all[i].mood;
        for (int day = 0; day < days; day++) {
            for (int i = 0; i < PEOPLE; i++) {
                double sum = 0;
                for (int j = 0; j < i; j++) {
                    double dx = (double)all[j].x - all[i].x, dy = (double)all[j].y - all[i].y;
                    sum += (mood[j] - mood[i]) / sqrt(1 + dx * dx + dy * dy);
                }
                next[i] = mood[i] + 0.5 * sum / (i + 1);
            }
            mood = next;
        }
        for (int i = 0; i < PEOPLE; i++)
            pair_near(&p, "mood", v * PEOPLE + i, mood[i], moods[v * PEOPLE + i], 1e-4);
    }
    return pair_end(&p);
}
