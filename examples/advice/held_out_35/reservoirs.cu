// SPDX-License-Identifier: Apache-2.0
//
// Rule: loop-unrolling
// Change: the loop over the weeks is unrolled eight times.
// Why: each week's balance waits for the inflow from memory, and there are few warps to fill the wait; unrolled, the
// inflows of eight weeks are fetched together. The compiler does not unroll a loop of this size by itself.
#include "../common.h"

enum { BLOCK = 128, DAMS = 4 };

// One dam, in million cubic metres, weeks and millimetres.
struct Dam {
    float capacity, per_reserve, dead;  // full; 1 / the storage below which water is rationed; cannot be let out
    float lake, lake_per_storage;       // surface: square kilometres, and how it grows
    float head, head_per_storage;       // metres at the turbine
    float share, returns;               // of the river that enters here; of the release that reaches the next dam
};

struct Cascade {
    Dam dams[DAMS];
};

// What became of the water in one dam.
struct Ledger {
    float storage, shortage, spilled, energy;
};

// One week of one dam; gives what flows on below it. now: the demand and the evaporation of the week.
__device__ inline float operate(const Dam &dam, Ledger &ledger, float inflow, float2 now) {
    const float lake = dam.lake + dam.lake_per_storage * ledger.storage;
    float storage = fmaxf(ledger.storage + inflow - 0.001f * now.y * lake, 0);
    const float over = fmaxf(storage - dam.capacity, 0);
    storage -= over;
    const float wanted = now.x * fminf(storage * dam.per_reserve, 1);
    const float release = fminf(wanted, fmaxf(storage - dam.dead, 0));
    storage -= release;
    ledger.storage = storage;
    ledger.shortage += now.x - release;
    ledger.spilled += over;
    ledger.energy += release * (dam.head + dam.head_per_storage * storage);
    return over + dam.returns * release;
}

// The operation of a cascade of dams through synthetic records of the river's inflow, one record a thread.
// There is a block for each multiprocessor, so registers need not be saved.
__global__ void __launch_bounds__(BLOCK, 1)
    reservoirs(const float *__restrict__ inflow, const float2 *__restrict__ climate, Cascade cascade,
               Ledger *__restrict__ outcome, int records, int weeks) {
    const int record = blockIdx.x * BLOCK + threadIdx.x;
    if (record >= records)
        return;
    Ledger ledgers[DAMS];
    for (int d = 0; d < DAMS; d++)
        ledgers[d] = {0.7f * cascade.dams[d].capacity, 0, 0, 0};
#ifdef AFTER
#pragma unroll 8
#endif
    for (int week = 0; week < weeks; week++) {
        const float2 now = climate[week];
        const float river = inflow[(size_t)week * records + record];
        float onwards = 0;
#pragma unroll
        for (int d = 0; d < DAMS; d++)
            onwards = operate(cascade.dams[d], ledgers[d], cascade.dams[d].share * river + onwards, now);
    }
    for (int d = 0; d < DAMS; d++)
        outcome[d * records + record] = ledgers[d];
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "reservoirs");
    const int records = p.small ? 300 : 16800, weeks = p.small ? 42 : 2080;
    const Cascade cascade = {{{210, 1 / 90.0f, 12, 3.1f, 0.027f, 61, 0.19f, 0.5f, 0.6f},
                              {310, 1 / 120.0f, 18, 4.5f, 0.031f, 42, 0.13f, 0.2f, 0.5f},
                              {140, 1 / 60.0f, 9, 2.7f, 0.036f, 35, 0.15f, 0.1f, 0.7f},
                              {95, 1 / 40.0f, 5, 2.2f, 0.048f, 23, 0.11f, 0.2f, 0}}};

    // A wet and a dry season; every record has its own wetness and its own storms.
    std::vector<float2> climate(weeks);
    std::vector<float> season(weeks), inflow((size_t)weeks * records), wetness = random_floats(records, 0.6f, 1.3f, 3);
    for (int w = 0; w < weeks; w++) {
        const float wave = sinf(w * 6.2831853f / 52);
        season[w] = 12 + 9 * wave;
        climate[w] = {8.5f - 3 * wave, 25 - 14 * wave};
    }
    unsigned seed = 52;
    for (int w = 0; w < weeks; w++)
        for (int r = 0; r < records; r++) {
            const float storm = lcg_next(&seed, 4096) / 4096.0f;
            inflow[(size_t)w * records + r] = season[w] * wetness[r] * (0.3f + 3 * storm * storm * storm);
        }

    float *d_inflow = device_copy_of(inflow.data(), inflow.size());
    float2 *d_climate = device_copy_of(climate.data(), weeks);
    Ledger *d_outcome = device_array<Ledger>((size_t)DAMS * records);
    pair_time(&p, [&] {
        reservoirs<<<(records + BLOCK - 1) / BLOCK, BLOCK>>>(d_inflow, d_climate, cascade, d_outcome, records, weeks);
    });

    std::vector<Ledger> outcome = host_copy_of(d_outcome, (size_t)DAMS * records);
    for (int r = 0; r < records; r += p.small ? 11 : 197) {
        // Dam after dam, each for the whole record; `river` is then what comes down from the one above.
        std::vector<double> river(weeks, 0.0);
        for (int d = 0; d < DAMS; d++) {
            const Dam &dam = cascade.dams[d];
            double storage = 0.7 * dam.capacity, shortage = 0, spilled = 0, energy = 0;
            for (int w = 0; w < weeks; w++) {
                double evaporated = climate[w].y / 1000.0 * (dam.lake + (double)dam.lake_per_storage * storage);
                storage += dam.share * (double)inflow[(size_t)w * records + r] + river[w] - evaporated;
                storage = std::max(storage, 0.0);
                double full = std::min(storage, (double)dam.capacity), over = storage - full;
                double release =
                    std::min(std::min(full * dam.per_reserve, 1.0) * climate[w].x, std::max(full - dam.dead, 0.0));
                storage = full - release;
                shortage += climate[w].x - release;
                spilled += over;
                energy += release * (dam.head + dam.head_per_storage * storage);
                river[w] = over + dam.returns * release;
            }
            const Ledger &got = outcome[d * records + r];
            pair_near(&p, "storage", r, storage, got.storage, 1e-3);
            pair_near(&p, "shortage", r, shortage, got.shortage, 1e-3);
            pair_near(&p, "spilled", r, spilled, got.spilled, 1e-3);
            pair_near(&p, "energy", r, energy, got.energy, 1e-3);
        }
    }
    return pair_end(&p);
}
