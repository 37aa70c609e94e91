// SPDX-License-Identifier: Apache-2.0
//
// Rule: vectorised-access
// Change: a record's eight 16-bit channels are read and written as one int4.
// Why: one access of 16 bytes takes the place of eight of 2 bytes, each of which touched all sectors of the warp.
#include "../common.h"

enum { BLOCK = 256, CHANNELS = 8 };

struct alignas(16) Record {
    short channel[CHANNELS];
};

struct Calibration {
    int gain[CHANNELS], offset[CHANNELS];  // gain in 1/1024
};

__host__ __device__ static Record calibrated(const Record &raw, const Calibration &c) {
    Record out;
    for (int k = 0; k < CHANNELS; k++) {
        int value = ((raw.channel[k] * c.gain[k]) >> 10) + c.offset[k];
        out.channel[k] = (short)(value < -32768 ? -32768 : value > 32767 ? 32767 : value);
    }
    return out;
}

// Calibrates the records of a flight recorder: eight instruments of the cockpit at each tick.
__global__ void replay(const short *recorded, short *shown, Calibration c, int ticks) {
    int t = blockIdx.x * BLOCK + threadIdx.x;
    if (t >= ticks)
        return;
    Record raw;
#ifdef AFTER
    *(int4 *)&raw = ((const int4 *)recorded)[t];
#else
    for (int k = 0; k < CHANNELS; k++)
        raw.channel[k] = recorded[t * CHANNELS + k];
#endif
    Record out = calibrated(raw, c);
#ifdef AFTER
    ((int4 *)shown)[t] = *(const int4 *)&out;
#else
    for (int k = 0; k < CHANNELS; k++)
        shown[t * CHANNELS + k] = out.channel[k];
#endif
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "cockpits");
    int ticks = p.small ? 5000 : 7200000;
    std::vector<short> recorded((size_t)ticks * CHANNELS);
    lcg_fill(recorded.data(), recorded.size(), 31, 65536);
    Calibration c;
    for (int k = 0; k < CHANNELS; k++) {
        c.gain[k] = 900 + 50 * k;
        c.offset[k] = 10 * k - 35;
    }
    short *d_recorded = device_copy_of(recorded.data(), recorded.size());
    short *d_shown = device_array<short>(recorded.size());
    pair_time(&p, [&] { replay<<<(ticks + BLOCK - 1) / BLOCK, BLOCK>>>(d_recorded, d_shown, c, ticks); });
    std::vector<short> shown = host_copy_of(d_shown, recorded.size());
    for (int t = 0; t < ticks; t += 13) {
        Record raw;
        memcpy(&raw, &recorded[(size_t)t * CHANNELS], sizeof raw);
        Record expected = calibrated(raw, c);
        for (int k = 0; k < CHANNELS; k++)
            pair_near(&p, "shown", (size_t)t * CHANNELS + k, expected.channel[k], shown[(size_t)t * CHANNELS + k], 0);
    }
    return pair_end(&p);
}
