// SPDX-License-Identifier: Apache-2.0
//
// Rule: async-copy
// Change: the next frame's tile goes to shared memory by asynchronous copies, not through registers.
// Why: a value that passes through a register must have come before it can be stored, so that each block waits for
//      the memory once for every frame; the asynchronous copy comes while the present frame is worked on.
#include "../common.h"

#include <cuda_pipeline.h>

enum { ACROSS = 32, DOWN = 8, BLOCK = ACROSS * DOWN, WIDE = ACROSS + 2, HIGH = DOWN + 2 };

// A place of the picture: temperature and how it drifts, the flicker, and the frames in which it burned.
struct Place {
    float level, drift, flicker;
    int burning;
};

struct Watch {
    float gain, drift_gain, decay, hot, restless;
};

// What one frame, of which there are the nine values around the place, tells about it.
__host__ __device__ static inline void update(Place *place, const float *around, int pitch, const Watch &watch) {
    float sum = 0, low = around[0], high = around[0];
    for (int y = -1; y <= 1; y++)
        for (int x = -1; x <= 1; x++) {
            float value = around[y * pitch + x];
            sum += value * (x ? 1 : 2) * (y ? 1 : 2);
            low = fminf(low, value), high = fmaxf(high, value);
        }
    float smooth = fminf(fmaxf(sum * 0.0625f, low + 0.1f * (high - low)), high - 0.1f * (high - low));
    float expected = place->level + place->drift, surprise = smooth - expected;
    place->level = expected + watch.gain * surprise;
    place->drift += watch.drift_gain * surprise;
    place->flicker = watch.decay * place->flicker + surprise * surprise * (1 + 0.5f * (high - low));
    place->burning += place->level > watch.hot && place->flicker > watch.restless;
}

// Brings a tile with a margin of one pixel; frames are that much larger than the picture.
__device__ static inline void fetch(float (*tile)[WIDE], const float *corner, int pitch) {
    for (int i = threadIdx.y * ACROSS + threadIdx.x; i < HIGH * WIDE; i += BLOCK) {
        const float *from = corner + i / WIDE * pitch + i % WIDE;
#ifdef AFTER
        __pipeline_memcpy_async(&tile[i / WIDE][i % WIDE], from, sizeof(float));
#else
        tile[i / WIDE][i % WIDE] = *from;
#endif
    }
#ifdef AFTER
    __pipeline_commit();
#endif
}

// Looks for fires in the film of a thermal camera.
__global__ void __launch_bounds__(BLOCK)
    watch_film(const float *film, Place *places, int width, int height, int frames, Watch watch) {
    __shared__ float tile[2][HIGH][WIDE];
    int pitch = width + 2, x = blockIdx.x * ACROSS + threadIdx.x, y = blockIdx.y * DOWN + threadIdx.y;
    size_t frame_size = (size_t)pitch * (height + 2);
    const float *corner = film + blockIdx.y * DOWN * pitch + blockIdx.x * ACROSS;
    fetch(tile[0], corner, pitch);
    Place place = {20, 0, 0, 0};
    for (int f = 0; f < frames; f++) {
#ifdef AFTER
        __pipeline_wait_prior(0);
#endif
        __syncthreads();
        if (f + 1 < frames)
            fetch(tile[(f + 1) % 2], corner + (f + 1) * frame_size, pitch);
        update(&place, &tile[f % 2][threadIdx.y + 1][threadIdx.x + 1], WIDE, watch);
    }
    places[(size_t)y * width + x] = place;
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "campfires");
    int width = p.small ? 64 : 512, height = p.small ? 24 : 264, frames = p.small ? 20 : 400, pitch = width + 2;
    size_t frame_size = (size_t)pitch * (height + 2);
    Watch watch = {0.3f, 0.02f, 0.9f, 24, 2};
    std::vector<float> film = random_floats(frame_size * frames, 18, 22, 5);
    for (int f = 0; f < frames; f++)
        for (size_t i = 0; i < frame_size; i++)  // some flames
            if (i / 16 % 37 == 0)
                film[f * frame_size + i] += 9 + 5 * ((f * 7 + i / 16) % 5);
    float *d_film = device_copy_of(film.data(), film.size());
    Place *d_places = device_array<Place>((size_t)width * height);
    dim3 grid(width / ACROSS, height / DOWN), block(ACROSS, DOWN);
    pair_time(&p, [&] { watch_film<<<grid, block>>>(d_film, d_places, width, height, frames, watch); });
    std::vector<Place> places = host_copy_of(d_places, (size_t)width * height);
    for (int at = 0; at < width * height; at += p.small ? 1 : 11) {
        Place place = {20, 0, 0, 0};
        int sure = 0, possible = 0;
        for (int f = 0; f < frames; f++) {
            update(&place, &film[f * frame_size + (at / width + 1) * pitch + at % width + 1], pitch, watch);
            sure += place.level > watch.hot + 1e-2f && place.flicker > watch.restless + 1e-2f;
            possible += place.level > watch.hot - 1e-2f && place.flicker > watch.restless - 1e-2f;
        }
        pair_near(&p, "level", at, place.level, places[at].level, 1e-4);
        pair_near(&p, "flicker", at, place.flicker, places[at].flicker, 1e-3);
        pair_near(&p, "burning", at, std::min(std::max(places[at].burning, sure), possible), places[at].burning, 0);
    }
    return pair_end(&p);
}
