// SPDX-License-Identifier: Apache-2.0
//
// Rule: code-reordering
// Change: the shape of the tract for the next step is loaded at the head of a step, not after its barrier.
// Why: all threads of a block wait for the load in every step, right where the loaded value is used.
#include "../common.h"

enum { SECTIONS = 64 };

// Speech from waves in the throat (Kelly and Lochbaum): a block is a speaker, a thread the joint after one section of
// the tube; `shapes` says how much of a wave each joint throws back, which changes as the tongue moves.
__global__ void vocal_tract(const float *shapes, const float *glottis, float *lips, int steps) {
    __shared__ float forward[SECTIONS + 1], backward[SECTIONS + 1];
    int me = threadIdx.x;
    size_t first = (size_t)blockIdx.x * steps;
    forward[me] = backward[me + 1] = 0;
#ifdef AFTER
    float shape = shapes[first * SECTIONS + me];
#endif
    __syncthreads();
    for (int t = 0; t < steps; t++) {
#ifdef AFTER
        float next = shapes[(first + t + 1) * SECTIONS + me];
#endif
        float in = forward[me], back = backward[me + 1];
        __syncthreads();
#ifndef AFTER
        float shape = shapes[(first + t) * SECTIONS + me];
#endif
        float change = shape * (in - back), on = in + change, out = back + change;
        if (me < SECTIONS - 1)
            forward[me + 1] = on;
        else
            backward[SECTIONS] = -0.85f * on;
        if (me == SECTIONS - 1)
            lips[first + t] = on;
        if (me > 0)
            backward[me] = out;
        else
            forward[0] = 0.75f * out + glottis[t];
        __syncthreads();
#ifdef AFTER
        shape = next;
#endif
    }
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "vocal_tract");
    int speakers = p.small ? 8 : 792, steps = p.small ? 96 : 500;
    std::vector<float> shapes = random_floats(((size_t)speakers * steps + 1) * SECTIONS, -0.01f, 0.01f, 1),
                       usual = random_floats(SECTIONS, -0.3f, 0.3f, 3), glottis = random_floats(steps, 0, 1, 2);
    for (size_t i = 0; i < shapes.size(); i++)
        shapes[i] += usual[i % SECTIONS];
    float *d_shapes = device_copy_of(shapes.data(), shapes.size()), *d_glottis = device_copy_of(glottis.data(), steps),
          *d_lips = device_array<float>((size_t)speakers * steps);
    pair_time(&p, [&] { vocal_tract<<<speakers, SECTIONS>>>(d_shapes, d_glottis, d_lips, steps); });
    std::vector<float> lips = host_copy_of(d_lips, (size_t)speakers * steps);
    for (int s = 0; s < speakers; s += 29) {
        std::vector<double> forward(SECTIONS + 1), backward(SECTIONS + 1);
        for (int t = 0; t < steps; t++) {
            std::vector<double> in = forward, back = backward;
            for (int k = 0; k < SECTIONS; k++) {
                double change = shapes[((size_t)s * steps + t) * SECTIONS + k] * (in[k] - back[k + 1]);
                forward[k + 1] = in[k] + change;
                backward[k] = back[k + 1] + change;
            }
            pair_near(&p, "lips", (size_t)s * steps + t, forward[SECTIONS], lips[(size_t)s * steps + t], 1e-4);
            backward[SECTIONS] = -0.85 * forward[SECTIONS];
            forward[0] = 0.75 * backward[0] + glottis[t];
        }
    }
    return pair_end(&p);
}
