// SPDX-License-Identifier: Apache-2.0
//
// Rule: wrong-type
// Change: constants have an f, so that all is computed in float.
// Why: constants without f make the compiler compute in double precision.
#include "../common.h"

enum { BLOCK = 128, SECTIONS = 6, SAMPLES = 64 };

#ifdef AFTER
#define REAL(x) x##f
#else
#define REAL(x) x
#endif

// How much the membrane of the inner ear moves at each place: resonators one after the other, each damped as it swings.
__global__ void cochlea(const float *sound, const float *stiffness, float *out, int places) {
    int i = blockIdx.x * BLOCK + threadIdx.x;
    float stiff = stiffness[i], energy = 0, at[SECTIONS] = {0}, speed[SECTIONS] = {0};
#pragma unroll 1
    for (int s = 0; s < SAMPLES; s++) {
        float force = sound[s * places + i];
#pragma unroll
        for (int k = 0; k < SECTIONS; k++) {
            speed[k] += REAL(0.05) * (force - stiff * at[k] - (REAL(0.2) + REAL(0.9) * at[k] * at[k]) * speed[k]);
            at[k] += REAL(0.05) * speed[k];
            force = at[k];
        }
        energy += force * force;
    }
    out[i] = energy;
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "cochlea");
    int places = p.small ? 1 << 12 : 1 << 17;
    std::vector<float> sound = random_floats((size_t)places * SAMPLES, -1, 2, 1),
                       stiffness = random_floats(places, 0.5f, 4, 2);
    float *d_sound = device_copy_of(sound.data(), sound.size()),
          *d_stiffness = device_copy_of(stiffness.data(), places), *d_out = device_array<float>(places);
    pair_time(&p, [&] { cochlea<<<places / BLOCK, BLOCK>>>(d_sound, d_stiffness, d_out, places); });
    std::vector<float> out = host_copy_of(d_out, places);
    for (int i = 0; i < places; i += 61) {
        double energy = 0, at[SECTIONS] = {0}, speed[SECTIONS] = {0};
        for (int s = 0; s < SAMPLES; s++) {
            double force = sound[(size_t)s * places + i];
            for (int k = 0; k < SECTIONS; k++) {
                speed[k] += 0.05 * (force - stiffness[i] * at[k] - (0.2 + 0.9 * at[k] * at[k]) * speed[k]);
                force = at[k] += 0.05 * speed[k];
            }
            energy += force * force;
        }
        pair_near(&p, "energy", i, energy, out[i], 1e-3);
    }
    return pair_end(&p);
}
