// SPDX-License-Identifier: Apache-2.0
//
// Rule: tail-effect
// Change: the number of fields a CTA works on is chosen so that all CTAs fit into one full wave, instead of 4096.
// Why: 2 CTAs fit on an SM, 264 on the GPU; 272 CTAs take two waves, and in the second one nearly all SMs are idle.
#include "../common.h"

// Crop yields: a season of daily growth for every field of a country, from the weather of its nearest station.
constexpr int STATIONS = 40;
constexpr int DAYS = 180;
constexpr int THREADS = 256;

struct Weather {
    float temperature, rain, sun;  // degrees, mm, MJ/m2 of one day
};

struct Field {
    float capacity;    // mm of water that the soil holds
    float depth;       // share of it that roots reach
    float efficiency;  // growth per light that the leaves take
    int station;
};

__host__ __device__ inline float grow_day(float *water, float *leaves, const Weather &day, const Field &field) {
    float warmth = fminf(fmaxf((day.temperature - 6.0f) * 0.06f, 0.0f), 1.0f);
    float reach = field.capacity * field.depth;
    float stress = fminf(*water / (0.4f * reach), 1.0f);
#ifdef __CUDA_ARCH__
    float taken = 1.0f - __expf(-0.6f * *leaves);
#else
    float taken = 1.0f - expf(-0.6f * *leaves);
#endif
    float growth = field.efficiency * day.sun * taken * warmth * stress;
    *water = fminf(fmaxf(*water + day.rain - 0.15f * day.sun * (0.3f + taken * stress), 0.0f), reach);
    *leaves += 0.02f * growth - 0.008f * *leaves * (1.5f - stress);
    return growth;
}

__global__ void __launch_bounds__(THREADS) grow_crops(float *__restrict__ yields, const Field *__restrict__ fields,
                                                      const Weather *__restrict__ weather, int count, int per_cta) {
    extern __shared__ Weather season[];  // [STATIONS][DAYS]
    for (int i = threadIdx.x; i < STATIONS * DAYS; i += THREADS)
        season[i] = weather[i];
    __syncthreads();
    int first = blockIdx.x * per_cta, last = min(first + per_cta, count);
    for (int i = first + threadIdx.x; i < last; i += THREADS) {
        Field field = fields[i];
        const Weather *days = season + field.station * DAYS;
        float water = 0.7f * field.capacity * field.depth, leaves = 0.05f, mass = 0.0f;
        for (int d = 0; d < DAYS; d++)
            mass += grow_day(&water, &leaves, days[d], field);
        yields[i] = mass;
    }
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "yields");
    int count = p.small ? 1800 : 1112000;
    std::vector<float> kinds = random_floats(3 * (size_t)count, 0.0f, 1.0f, 71);
    std::vector<Field> fields(count);
    for (int i = 0; i < count; i++) {
        int station = (int)((long long)i * STATIONS / count);
        fields[i] = {80 + 120 * kinds[3 * i], 0.4f + 0.5f * kinds[3 * i + 1], 0.8f + 0.4f * kinds[3 * i + 2], station};
    }
    std::vector<Weather> weather(STATIONS * DAYS);
    unsigned seed = 72;
    for (int i = 0; i < STATIONS * DAYS; i++) {
        float summer = sinf(3.14159265f * (i % DAYS) / DAYS);
        float rain = lcg_next(&seed, 4) == 0 ? lcg_next(&seed, 120) * 0.1f : 0.0f;
        weather[i] = {5 + 15 * summer + lcg_next(&seed, 60) * 0.1f, rain, 6 + 14 * summer + lcg_next(&seed, 40) * 0.1f};
    }

    Field *d_fields = device_copy_of(fields.data(), count);
    Weather *d_weather = device_copy_of(weather.data(), weather.size());
    float *d_yields = device_array<float>(count);

    int shared = STATIONS * DAYS * sizeof(Weather);
    CUDA_CHECK(cudaFuncSetAttribute(grow_crops, cudaFuncAttributeMaxDynamicSharedMemorySize, shared));
    int per_cta = p.small ? 512 : 4096;
#ifdef AFTER
    int sms = 0, resident = 0;
    CUDA_CHECK(cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, 0));
    CUDA_CHECK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&resident, grow_crops, THREADS, shared));
    int wave = sms * resident;
    per_cta = ((count + wave - 1) / wave + THREADS - 1) / THREADS * THREADS;
#endif
    int grid = (count + per_cta - 1) / per_cta;
    pair_time(&p, [&] { grow_crops<<<grid, THREADS, shared>>>(d_yields, d_fields, d_weather, count, per_cta); });

    std::vector<float> yields = host_copy_of(d_yields, count);
    for (int i = 0; i < count; i += p.small ? 1 : 311) {
        const Weather *days = &weather[fields[i].station * DAYS];
        float water = 0.7f * fields[i].capacity * fields[i].depth, leaves = 0.05f, mass = 0.0f;
        for (int d = 0; d < DAYS; d++)
            mass += grow_day(&water, &leaves, days[d], fields[i]);
        pair_near(&p, "yield", i, mass, yields[i], 2e-3);
    }
    CUDA_CHECK(cudaFree(d_fields));
    CUDA_CHECK(cudaFree(d_weather));
    CUDA_CHECK(cudaFree(d_yields));
    return pair_end(&p);
}
