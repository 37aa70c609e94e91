// SPDX-License-Identifier: Apache-2.0
//
// Rule: warp-balance
// Change: a hospital's patients are dealt out to all threads of its CTA, instead of one ward to one warp.
// Why: a ward's work grows with the square of its patients, so that at each day's barrier the other warps wait for the
// one that has the largest ward.
#include "../common.h"

// Spread of an infection in hospitals: the chance that a patient is infected, day by day, by patients of the same ward.
constexpr int WARDS = 8;
constexpr int THREADS = WARDS * 32;
constexpr int MAX_PATIENTS = 1024;
constexpr int DAYS = 10;
constexpr float TRANSMISSION = 0.02f, RECOVERY = 0.15f;

struct Patient {
    float x, y;      // bed, m
    float infected;  // probability
    int ward;
};

__device__ void spend_day(float *tomorrow, const float *today, const float2 *beds, int i, int first, int last) {
    float2 bed = beds[i];
    float exposure = 0;
    for (int j = first; j < last; j++) {
        float dx = beds[j].x - bed.x, dy = beds[j].y - bed.y;
        exposure += __fdividef(today[j], 1.0f + dx * dx + dy * dy);
    }
    float healthy = 1.0f - today[i];
    tomorrow[i] = today[i] * (1.0f - RECOVERY) + healthy * (1.0f - __expf(-TRANSMISSION * exposure));
}

// One CTA a hospital; ward_starts: [hospital][WARDS + 1], into patients.
__global__ void __launch_bounds__(THREADS) simulate_hospitals(float *__restrict__ infected,
                                                              const Patient *__restrict__ patients,
                                                              const int *__restrict__ ward_starts) {
    __shared__ float2 beds[MAX_PATIENTS];
    __shared__ float chance[2][MAX_PATIENTS];
    [[maybe_unused]] __shared__ unsigned char ward_of[MAX_PATIENTS];
    __shared__ int starts[WARDS + 1];
    const int *mine = ward_starts + blockIdx.x * (WARDS + 1);
    int base = mine[0], count = mine[WARDS] - base;
    if (threadIdx.x <= WARDS)
        starts[threadIdx.x] = mine[threadIdx.x] - base;
    for (int i = threadIdx.x; i < count; i += THREADS) {
        Patient patient = patients[base + i];
        beds[i] = make_float2(patient.x, patient.y);
        chance[0][i] = patient.infected;
        ward_of[i] = patient.ward;
    }
    __syncthreads();
    for (int day = 0; day < DAYS; day++) {
        const float *today = chance[day % 2];
        float *tomorrow = chance[1 - day % 2];
#ifdef AFTER
        for (int i = threadIdx.x; i < count; i += THREADS) {
            int ward = ward_of[i];
#else
        int ward = threadIdx.x / 32;
        for (int i = starts[ward] + threadIdx.x % 32; i < starts[ward + 1]; i += 32) {
#endif
            spend_day(tomorrow, today, beds, i, starts[ward], starts[ward + 1]);
        }
        __syncthreads();
    }
    for (int i = threadIdx.x; i < count; i += THREADS)
        infected[base + i] = chance[DAYS % 2][i];
}

static std::vector<float> simulate_on_cpu(const std::vector<Patient> &patients, const int *starts) {
    std::vector<float> today, tomorrow(starts[WARDS] - starts[0]);
    for (int i = starts[0]; i < starts[WARDS]; i++)
        today.push_back(patients[i].infected);
    for (int day = 0; day < DAYS; day++, today.swap(tomorrow))
        for (int w = 0; w < WARDS; w++)
            for (int i = starts[w]; i < starts[w + 1]; i++) {
                float exposure = 0, now = today[i - starts[0]];
                for (int j = starts[w]; j < starts[w + 1]; j++) {
                    float dx = patients[j].x - patients[i].x, dy = patients[j].y - patients[i].y;
                    exposure += today[j - starts[0]] / (1.0f + dx * dx + dy * dy);
                }
                tomorrow[i - starts[0]] = now * (1 - RECOVERY) + (1 - now) * (1 - expf(-TRANSMISSION * exposure));
            }
    return today;
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "wards");
    int hospitals = p.small ? 3 : 1000;
    const int usual[WARDS] = {280, 150, 96, 64, 48, 30, 24, 12};  // medicine, surgery, ..., intensive care
    unsigned seed = 61;
    std::vector<Patient> patients;
    std::vector<int> starts;
    for (int h = 0; h < hospitals; h++) {
        int shift = lcg_next(&seed, WARDS);
        for (int w = 0; w < WARDS; w++) {
            starts.push_back((int)patients.size());
            int size = usual[(w + shift) % WARDS] / (p.small ? 4 : 1);
            size = size * (90 + lcg_next(&seed, 21)) / 100;
            for (int i = 0; i < size; i++) {
                float x = 3.0f * (i % 20), y = 4.0f * (i / 20);
                patients.push_back({x, y, lcg_next(&seed, 100) < 5 ? 1.0f : 0.0f, w});
            }
        }
        starts.push_back((int)patients.size());
    }

    Patient *d_patients = device_copy_of(patients.data(), patients.size());
    int *d_starts = device_copy_of(starts.data(), starts.size());
    float *d_infected = device_array<float>(patients.size());

    pair_time(&p, [&] { simulate_hospitals<<<hospitals, THREADS>>>(d_infected, d_patients, d_starts); });

    std::vector<float> infected = host_copy_of(d_infected, patients.size());
    for (int h = 0; h < hospitals; h += p.small ? 1 : 97) {
        std::vector<float> expected = simulate_on_cpu(patients, &starts[h * (WARDS + 1)]);
        for (size_t i = 0; i < expected.size(); i++)
            pair_near(&p, "infected", i, expected[i], infected[starts[h * (WARDS + 1)] + i], 1e-3);
    }
    CUDA_CHECK(cudaFree(d_patients));
    CUDA_CHECK(cudaFree(d_starts));
    CUDA_CHECK(cudaFree(d_infected));
    return pair_end(&p);
}
