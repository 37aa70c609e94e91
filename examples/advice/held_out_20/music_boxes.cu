// SPDX-License-Identifier: Apache-2.0
//
// Rule: strength-reduction
// Change: the places on cylinder and wheel are carried on and brought back by a subtraction; no remainder is taken.
// Why: two remainders by numbers that are known at run time only are most of what a tick costs.
#include "../common.h"

enum { TEETH = 256, ROOM = 1024 };

struct Box {
    int around, speed;  // pins round the cylinder, pins per tick (less than `around`)
    int wheel, gear;    // the same of the wheel that lifts the dampers
};

// How each tooth of the comb of a music box sounds while the cylinder turns; one block per box, one thread per tooth.
__global__ void turn(const Box *boxes, const float *pins, const float *dampers, const int *starts, float *loudest,
                     float *sound, int ticks) {
    Box box = boxes[blockIdx.x];
    int i = blockIdx.x * TEETH + threadIdx.x, start = starts[i] % box.around, lift = starts[i] % box.wheel;
    const float *cylinder = pins + (size_t)blockIdx.x * ROOM, *cloth = dampers + (size_t)blockIdx.x * ROOM;
    float energy = 0, most = 0, total = 0;
#ifdef AFTER
    int pin = start, damper = lift;
#endif
    for (int k = 0; k < ticks; k++) {
#ifndef AFTER
        int pin = (start + k * box.speed) % box.around, damper = (lift + k * box.gear) % box.wheel;
#endif
        energy = energy * (0.99f - cloth[damper]) + cylinder[pin];
        most = fmaxf(most, energy);
        total += energy;
#ifdef AFTER
        pin += box.speed;
        pin -= pin >= box.around ? box.around : 0;
        damper += box.gear;
        damper -= damper >= box.wheel ? box.wheel : 0;
#endif
    }
    loudest[i] = most;
    sound[i] = total;
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "music_boxes");
    int n = p.small ? 1 : 132 * 8, ticks = p.small ? 16 : 192;
    std::vector<Box> boxes(n);
    unsigned seed = 1;
    for (Box &b : boxes) {
        b.around = 700 + lcg_next(&seed, 300);
        b.speed = 3 + lcg_next(&seed, 60);
        b.wheel = 300 + lcg_next(&seed, 200);
        b.gear = 1 + lcg_next(&seed, 40);
    }
    size_t teeth = (size_t)n * TEETH, room = (size_t)n * ROOM;
    std::vector<float> pins = random_floats(room, 0, 1, 2), dampers = random_floats(room, 0, 0.3f, 3);
    std::vector<int> starts(teeth);
    lcg_fill(starts.data(), teeth, 4, 1 << 20);
    Box *d_boxes = device_copy_of(boxes.data(), n);
    float *d_pins = device_copy_of(pins.data(), room), *d_dampers = device_copy_of(dampers.data(), room),
          *d_loudest = device_array<float>(teeth), *d_sound = device_array<float>(teeth);
    int *d_starts = device_copy_of(starts.data(), teeth);
    pair_time(&p,
              [&] { turn<<<n, TEETH>>>(d_boxes, d_pins, d_dampers, d_starts, d_loudest, d_sound, ticks); });
    std::vector<float> loudest = host_copy_of(d_loudest, teeth), sound = host_copy_of(d_sound, teeth);
    for (size_t i = 0; i < teeth; i += p.small ? 1 : 61) {
        const Box &box = boxes[i / TEETH];
        double energy = 0, most = 0, total = 0;
        for (int k = 0; k < ticks; k++) {
            int pin = (starts[i] % box.around + k * box.speed) % box.around,
                damper = (starts[i] % box.wheel + k * box.gear) % box.wheel;
            energy = energy * (0.99 - dampers[i / TEETH * ROOM + damper]) + pins[i / TEETH * ROOM + pin];
            most = std::max(most, energy);
            total += energy;
        }
        pair_near(&p, "loudest", i, most, loudest[i], 1e-3);
        pair_near(&p, "sound", i, total, sound[i], 1e-3);
    }
    return pair_end(&p);
}
