// SPDX-License-Identifier: Apache-2.0
//
// Rule: code-reordering
// Change: the next frame's pixel is loaded before the current frame is worked on, not after the barrier.
// Why: each frame begins with a wait for its pixels, and two barriers keep the warps together.
#include "../common.h"

enum { SIDE = 16, WIDTH = 960, HEIGHT = 544 };

// A recursive filter in time: each pixel moves towards the frame's, the less so the more its neighbours differ.
__global__ void video_denoise(const float *video, float *out, int frames) {
    __shared__ float tile[SIDE][SIDE];
    int tx = threadIdx.x, ty = threadIdx.y, at = (blockIdx.y * SIDE + ty) * WIDTH + blockIdx.x * SIDE + tx;
    int left = tx ? tx - 1 : 0, right = tx < SIDE - 1 ? tx + 1 : tx, up = ty ? ty - 1 : 0, down = ty < SIDE - 1 ? ty + 1 : ty;
    float state = video[at];
#ifdef AFTER
    float next = state;
#endif
    for (int f = 0; f < frames; f++) {
#ifdef AFTER
        tile[ty][tx] = next;
        if (f + 1 < frames)
            next = video[(size_t)(f + 1) * WIDTH * HEIGHT + at];
#else
        tile[ty][tx] = video[(size_t)f * WIDTH * HEIGHT + at];
#endif
        __syncthreads();
        float x = tile[ty][tx], dx = tile[ty][right] - tile[ty][left], dy = tile[down][tx] - tile[up][tx];
        float step = x - state, weight = __expf(-(step * step + dx * dx + dy * dy));
        state += 0.5f * weight * step;
        __syncthreads();
    }
    out[at] = state;
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "video_denoise");
    int frames = p.small ? 4 : 48, rows = p.small ? 32 : HEIGHT;
    size_t frame = (size_t)WIDTH * HEIGHT;
    std::vector<float> video = random_floats(frame * frames, 0, 1, 1);
    float *d_video = device_copy_of(video.data(), video.size()), *d_out = device_array<float>(frame);
    pair_time(&p, [&] { video_denoise<<<dim3(WIDTH / SIDE, rows / SIDE), dim3(SIDE, SIDE)>>>(d_video, d_out, frames); });
    std::vector<float> out = host_copy_of(d_out, frame);
    for (int i = 0; i < rows * WIDTH; i += 997) {
        int tx = i % WIDTH % SIDE, ty = i / WIDTH % SIDE;
        int left = tx ? i - 1 : i, right = tx < SIDE - 1 ? i + 1 : i, up = ty ? i - WIDTH : i, down = ty < SIDE - 1 ? i + WIDTH : i;
        double state = video[i];
        for (int f = 0; f < frames; f++) {
            const float *v = &video[f * frame];
            double step = v[i] - state, dx = v[right] - v[left], dy = v[down] - v[up];
            state += 0.5 * exp(-(step * step + dx * dx + dy * dy)) * step;
        }
        pair_near(&p, "state", i, state, out[i], 1e-4);
    }
    return pair_end(&p);
}
