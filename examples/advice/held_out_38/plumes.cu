// SPDX-License-Identifier: Apache-2.0
//
// Rule: register-reuse
// Change: a thread scores four displacements, one below the other, and slides the pixels of the second image through
// four registers, instead of scoring one.
// Why: scoring one displacement takes two loads from shared memory for every multiply-add; with four, each pair of
// loaded pixels serves four of them.
#include "../common.h"

// Particle image velocimetry of smoke plumes: how far did the pattern in every window of the first image travel until
// the second one? One CTA a window: scores all displacements by correlation, takes the best and refines it by a
// parabola in both directions.
constexpr int WINDOW = 32;               // pixels, squared
constexpr int STEP = 16;                 // from a window to the next
constexpr int SPAN = 32;                 // displacements in each direction, from -SPAN / 2
constexpr int AREA = WINDOW + SPAN - 1;  // pixels of the second image that a window can meet
constexpr int AREA_PITCH = 64;
#ifdef AFTER
constexpr int RUN = 4;  // displacements a thread
#else
constexpr int RUN = 1;
#endif
constexpr int THREADS = SPAN * SPAN / RUN;

struct Flow {
    float dx, dy;
    float peak;  // correlation at the peak
};

struct Peak {
    float score;
    int at;
};

__device__ inline Peak better(Peak a, Peak b) {
    return b.score > a.score || (b.score == a.score && b.at < a.at) ? b : a;
}

// Whole CTA; the answer is in the first warp.
__device__ inline Peak best_of_block(Peak peak, Peak *scratch) {
    for (int pass = 0; pass < 2; pass++) {
        for (int distance = 16; distance > 0; distance /= 2)
            peak = better(peak, {__shfl_xor_sync(0xffffffff, peak.score, distance),
                                 __shfl_xor_sync(0xffffffff, peak.at, distance)});
        if (pass == 0) {
            if (threadIdx.x % 32 == 0)
                scratch[threadIdx.x / 32] = peak;
            __syncthreads();
            peak = scratch[threadIdx.x % 32 < THREADS / 32 ? threadIdx.x % 32 : 0];
        }
    }
    return peak;
}

__host__ __device__ inline float parabola(float left, float middle, float right) {
    float curvature = left - 2 * middle + right;
    return curvature < 0 ? 0.5f * (left - right) / curvature : 0.0f;
}

__global__ void __launch_bounds__(THREADS)
    track(Flow *__restrict__ flow, const float *__restrict__ first, const float *__restrict__ second, int width) {
    __shared__ float pattern[WINDOW * WINDOW];
    __shared__ float area[AREA * AREA_PITCH];
    __shared__ float scores[SPAN * SPAN];
    __shared__ Peak scratch[32];
    int left = SPAN / 2 + blockIdx.x * STEP, top = SPAN / 2 + blockIdx.y * STEP;

    for (int i = threadIdx.x; i < WINDOW * WINDOW; i += THREADS)
        pattern[i] = first[(size_t)(top + i / WINDOW) * width + left + i % WINDOW] - 0.5f;
    for (int i = threadIdx.x; i < AREA * AREA_PITCH; i += THREADS)
        area[i] = second[(size_t)(top - SPAN / 2 + i / AREA_PITCH) * width + left - SPAN / 2 + i % AREA_PITCH] - 0.5f;
    __syncthreads();

    int dx = threadIdx.x % SPAN, dy = threadIdx.x / SPAN * RUN;
#ifdef AFTER
    float score[RUN] = {0};
    for (int x = 0; x < WINDOW; x++) {
        const float *column = area + dy * AREA_PITCH + dx + x;
        float pixel[RUN];
#pragma unroll
        for (int r = 0; r < RUN - 1; r++)
            pixel[r + 1] = column[r * AREA_PITCH];
#pragma unroll
        for (int y = 0; y < WINDOW; y++) {
#pragma unroll
            for (int r = 0; r < RUN - 1; r++)
                pixel[r] = pixel[r + 1];
            pixel[RUN - 1] = column[(y + RUN - 1) * AREA_PITCH];
            float sought = pattern[y * WINDOW + x];
#pragma unroll
            for (int r = 0; r < RUN; r++)
                score[r] += sought * pixel[r];
        }
    }
#else
    float score[RUN] = {0};
    for (int x = 0; x < WINDOW; x++) {
        const float *column = area + dy * AREA_PITCH + dx + x;
#pragma unroll
        for (int y = 0; y < WINDOW; y++)
            score[0] += pattern[y * WINDOW + x] * column[y * AREA_PITCH];
    }
#endif

    Peak peak = {-1e30f, 0};
#pragma unroll
    for (int r = 0; r < RUN; r++) {
        int at = (dy + r) * SPAN + dx;
        scores[at] = score[r];
        bool inner = dx > 0 && dx < SPAN - 1 && dy + r > 0 && dy + r < SPAN - 1;
        peak = better(peak, {inner ? score[r] : -1e30f, at});
    }
    peak = best_of_block(peak, scratch);  // its barrier makes the scores visible, too
    if (threadIdx.x == 0) {
        const float *s = scores + peak.at;
        Flow f = {(float)(peak.at % SPAN - SPAN / 2) + parabola(s[-1], s[0], s[1]),
                  (float)(peak.at / SPAN - SPAN / 2) + parabola(s[-SPAN], s[0], s[SPAN]), peak.score};
        flow[blockIdx.y * gridDim.x + blockIdx.x] = f;
    }
}

static Flow track_on_cpu(const std::vector<float> &first, const std::vector<float> &second, int width, int left,
                         int top) {
    std::vector<double> scores(SPAN * SPAN, 0.0);
    int best = SPAN + 1;
    for (int at = 0; at < SPAN * SPAN; at++) {
        int dx = at % SPAN, dy = at / SPAN;
        for (int y = 0; y < WINDOW; y++) {
            const float *a = &first[(size_t)(top + y) * width + left];
            const float *b = &second[(size_t)(top + y + dy - SPAN / 2) * width + left + dx - SPAN / 2];
            for (int x = 0; x < WINDOW; x++)
                scores[at] += (a[x] - 0.5f) * (b[x] - 0.5f);
        }
        if (dx > 0 && dx < SPAN - 1 && dy > 0 && dy < SPAN - 1 && scores[at] > scores[best])
            best = at;
    }
    const double *s = &scores[best];
    return {(float)(best % SPAN - SPAN / 2) + parabola((float)s[-1], (float)s[0], (float)s[1]),
            (float)(best / SPAN - SPAN / 2) + parabola((float)s[-SPAN], (float)s[0], (float)s[SPAN]), (float)s[0]};
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "plumes");
    const int columns = p.small ? 2 : 64, rows = p.small ? 1 : 62;  // windows
    const int width = SPAN + WINDOW + columns * STEP, height = SPAN + WINDOW + rows * STEP;

    // The second image is the first one, moved by a flow that changes slowly, with noise; both are of soft specks.
    std::vector<float> noise = random_floats((size_t)width * height, 0.0f, 1.0f, 382);
    std::vector<float> first(noise.size()), second(noise.size());
    for (int y = 0; y < height; y++)
        for (int x = 0; x < width; x++) {
            size_t at = (size_t)y * width + x, right = x + 1 < width ? at + 1 : at,
                   below = y + 1 < height ? at + width : at;
            first[at] = 0.5f * noise[at] + 0.25f * noise[right] + 0.25f * noise[below];
        }
    for (int y = 0; y < height; y++)
        for (int x = 0; x < width; x++) {
            int from_x = std::max(0, x - (int)(8 * sinf(0.004f * y) + 3)), from_y = std::max(0, y - (5 + x / 256));
            size_t at = (size_t)y * width + x;
            second[at] = 0.9f * first[(size_t)from_y * width + from_x] + 0.1f * noise[noise.size() - 1 - at];
        }

    float *d_first = device_copy_of(first.data(), first.size());
    float *d_second = device_copy_of(second.data(), second.size());
    Flow *d_flow = device_array<Flow>((size_t)columns * rows);
    dim3 blocks(columns, rows);
    pair_time(&p, [&] { track<<<blocks, THREADS>>>(d_flow, d_first, d_second, width); });

    std::vector<Flow> flow = host_copy_of(d_flow, (size_t)columns * rows);
    for (int i = 0; i < columns * rows; i += p.small ? 1 : 61) {
        Flow expected =
            track_on_cpu(first, second, width, SPAN / 2 + i % columns * STEP, SPAN / 2 + i / columns * STEP);
        pair_near(&p, "dx", i, expected.dx, flow[i].dx, 2e-3);
        pair_near(&p, "dy", i, expected.dy, flow[i].dy, 2e-3);
        pair_near(&p, "peak", i, expected.peak, flow[i].peak, 1e-3);
    }
    CUDA_CHECK(cudaFree(d_first));
    CUDA_CHECK(cudaFree(d_second));
    CUDA_CHECK(cudaFree(d_flow));
    return pair_end(&p);
}
