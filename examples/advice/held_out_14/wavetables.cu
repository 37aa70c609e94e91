// SPDX-License-Identifier: Apache-2.0
//
// Rule: indirect-addressing
// Change: all tables lie one after the other in one array, and where one begins is computed.
// Why: for every voice a pointer is loaded before the first sample of its table can be.
#include "../common.h"

enum { BLOCK = 256, VOICES = 64, SIZE = 1024, TABLES = 24 };

struct Voice {
    unsigned step, start;
    float volume;
    int table;
};

// The samples of a synthesiser: each voice goes through a period of its wave, which lies in a table.
#ifdef AFTER
__global__ void wavetables(const Voice *voices, const float *tables, float *sound) {
#else
__global__ void wavetables(const Voice *voices, const float *const *tables, float *sound) {
#endif
    int t = blockIdx.x * BLOCK + threadIdx.x;
    float sum = 0;
    for (int v = 0; v < VOICES; v++) {
        Voice voice = voices[v];
        unsigned phase = voice.start + voice.step * (unsigned)t, at = phase >> 22;
        float between = (float)(phase & 0x3fffffu) * (1.0f / 4194304.0f);
#ifdef AFTER
        const float *table = tables + voice.table * (SIZE + 1);
#else
        const float *table = tables[voice.table];
#endif
        sum += voice.volume * (table[at] + between * (table[at + 1] - table[at]));
    }
    sound[t] = sum;
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "wavetables");
    int n = p.small ? 1 << 12 : 1 << 18;
    std::vector<float> waves = random_floats(TABLES * (SIZE + 1), -1, 1, 1);
    std::vector<unsigned> numbers(VOICES * 4);
    lcg_fill(numbers.data(), numbers.size(), 2, 1 << 24);
    std::vector<Voice> voices(VOICES);
    for (int v = 0; v < VOICES; v++) {
        const unsigned *u = &numbers[4 * v];
        voices[v] = {(u[0] << 3) + (1u << 23), u[1] << 8, (float)u[2] / (1 << 24), (int)(u[3] % TABLES)};
    }
    Voice *d_voices = device_copy_of(voices.data(), VOICES);
    float *d_waves = device_copy_of(waves.data(), waves.size()), *d_sound = device_array<float>(n);
#ifdef AFTER
    pair_time(&p, [&] { wavetables<<<n / BLOCK, BLOCK>>>(d_voices, d_waves, d_sound); });
#else
    std::vector<const float *> tables(TABLES);
    for (int k = 0; k < TABLES; k++)
        tables[k] = d_waves + k * (SIZE + 1);
    const float **d_tables = device_copy_of(tables.data(), TABLES);
    pair_time(&p, [&] { wavetables<<<n / BLOCK, BLOCK>>>(d_voices, d_tables, d_sound); });
#endif
    std::vector<float> sound = host_copy_of(d_sound, n);
    for (int t = 0; t < n; t += 127) {
        double sum = 0;
        for (const Voice &voice : voices) {
            unsigned phase = voice.start + voice.step * (unsigned)t;
            const float *table = &waves[voice.table * (SIZE + 1) + (phase >> 22)];
            sum += voice.volume * (table[0] + (phase & 0x3fffffu) / 4194304.0 * ((double)table[1] - table[0]));
        }
        pair_near(&p, "sound", t, sum, sound[t], 1e-4);
    }
    return pair_end(&p);
}
