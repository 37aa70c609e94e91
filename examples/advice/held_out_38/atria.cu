// SPDX-License-Identifier: Apache-2.0
//
// Rule: global-coalescing
// Change: the mask's pixels are listed row by row, as the camera's frames are stored, not column by column as the tool
// that draws the masks lists them.
// Why: neighbouring lanes then look at neighbouring pixels of a frame, a few sectors a warp; down a column every lane
// reads two bytes of a sector of its own.
#include "../common.h"

// Optical mapping of the heart: a fluorescent dye shows the voltage of the tissue, and for every pixel of the atria's
// mask the time of activation (steepest upstroke) and the duration of the action potential are wanted.

constexpr int THREADS = 128;

struct Recording {
    const unsigned short *movie;  // [frame][y][x]
    int frame_pixels;
    int frames;
};

struct Criteria {
    float period;       // of a frame, in milliseconds
    int smallest;       // amplitude from which a pixel counts as tissue that beats
    int repolarised;    // percentage of the amplitude at which the action potential is over
};

// Brightness smoothed with 1 2 1
__host__ __device__ inline int smooth(int before, int here, int next) {
    return before + 2 * here + next;
}

// Vertex of the parabola through three equidistant slopes
__host__ __device__ inline float vertex(int left, int middle, int right) {
    int curvature = left - 2 * middle + right;
    return curvature < 0 ? 0.5f * (left - right) / (float)curvature : 0.0f;
}

__host__ __device__ inline float2 analyse(const Recording &r, const Criteria &c, int pixel) {
    const unsigned short *at = r.movie + pixel;
    const size_t stride = r.frame_pixels;

    int a = at[0], b = at[stride], d = at[2 * stride];
    int level = smooth(a, b, d), low = level, high = level;
    int slope = 0, last = 0, best = -1, frame = 1;
    int left = 0, right = 0;
    for (int f = 3; f < r.frames; f++) {
        a = b;
        b = d;
        d = at[f * stride];
        int now = smooth(a, b, d);
        low = min(low, now);
        high = max(high, now);
        last = slope;
        slope = now - level;
        level = now;
        if (frame == f - 2)  // the slope behind the steepest one
            right = slope;
        if (slope > best) {
            best = slope;
            left = last;
            right = slope;
            frame = f - 1;
        }
    }
    if (high - low < c.smallest)
        return make_float2(-1.0f, -1.0f);
    float activation = frame - 0.5f + vertex(left, best, right);

    // the first frame after the upstroke that is both falling and low enough
    int threshold = high - (high - low) / 100 * c.repolarised;
    float end = (float)r.frames;
    a = at[(size_t)frame * stride];
    b = at[(size_t)min(frame + 1, r.frames - 1) * stride];
    int previous = level = smooth(a, a, b);
    for (int f = frame + 2; f < r.frames; f++) {
        d = at[f * stride];
        level = smooth(a, b, d);
        if (level < threshold && previous >= threshold) {
            end = f - 1 - (float)(threshold - level) / (float)(previous - level);
            break;
        }
        previous = level;
        a = b;
        b = d;
    }
    return make_float2(activation * c.period, (end - activation) * c.period);
}

__global__ void __launch_bounds__(THREADS)
map_activation(Recording recording, Criteria criteria, const int *__restrict__ tissue, int count,
               float *__restrict__ activation, float *__restrict__ duration) {
    int i = blockIdx.x * THREADS + threadIdx.x;
    if (i >= count)
        return;
    float2 result = analyse(recording, criteria, tissue[i]);
    activation[i] = result.x;
    duration[i] = result.y;
}

// Two chambers: rings of muscle around the holes of the veins
static bool is_tissue(int x, int y, int width, int height) {
    float u = (x + 0.5f) / width, v = (y + 0.5f) / height;
    float left = hypotf((u - 0.32f) / 0.30f, (v - 0.5f) / 0.46f);
    float right = hypotf((u - 0.72f) / 0.27f, (v - 0.46f) / 0.40f);
    return (left < 1 && left > 0.25f) || (right < 1 && right > 0.3f);
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "atria");
    const int width = p.small ? 40 : 1024, height = p.small ? 36 : 1024, frames = p.small ? 24 : 96;
    const int pixels = width * height;

    std::vector<int> tissue;
#ifdef AFTER
    for (int y = 0; y < height; y++)
        for (int x = 0; x < width; x++)
            if (is_tissue(x, y, width, height))
                tissue.push_back(y * width + x);
#else
    for (int x = 0; x < width; x++)
        for (int y = 0; y < height; y++)
            if (is_tissue(x, y, width, height))
                tissue.push_back(y * width + x);
#endif
    const int count = (int)tissue.size();

    // A wave runs from the sinus node over both atria.
    std::vector<unsigned short> pulse(2 * frames);
    for (int t = 0; t < 2 * frames; t++) {
        float s = (t - frames) * 96.0f / frames;
        pulse[t] = (unsigned short)(1500.0f / ((1 + expf(-s * 1.1f)) * (1 + expf((s - 30) * 0.25f))));
    }
    std::vector<unsigned char> delay(pixels);
    for (int i = 0; i < pixels; i++)
        delay[i] = (unsigned char)(frames * (0.08f + 0.4f * hypotf((i % width) / (float)width - 0.8f,
                                                                  (i / width) / (float)height - 0.2f)));
    std::vector<unsigned short> movie((size_t)frames * pixels);
    for (int f = 0; f < frames; f++)
        for (int i = 0; i < pixels; i++) {
            unsigned noise = (unsigned)(i * 37 + f) * 2654435761u >> 27;
            movie[(size_t)f * pixels + i] = (unsigned short)(2000 + pulse[frames + f - delay[i]] + noise);
        }

    unsigned short *d_movie = device_copy_of(movie.data(), movie.size());
    int *d_tissue = device_copy_of(tissue.data(), count);
    float *d_activation = device_array<float>(count), *d_duration = device_array<float>(count);
    Recording recording = {d_movie, pixels, frames};
    const Criteria criteria = {1.25f, 1200, 80};
    pair_time(&p, [&] {
        map_activation<<<(count + THREADS - 1) / THREADS, THREADS>>>(recording, criteria, d_tissue, count, d_activation,
                                                                     d_duration);
    });

    std::vector<float> activation = host_copy_of(d_activation, count), duration = host_copy_of(d_duration, count);
    recording.movie = movie.data();
    for (int i = 0; i < count; i += p.small ? 1 : 67) {
        float2 expected = analyse(recording, criteria, tissue[i]);
        pair_near(&p, "activation", i, expected.x, activation[i], 1e-4);
        pair_near(&p, "duration", i, expected.y, duration[i], 1e-4);
    }
    CUDA_CHECK(cudaFree(d_movie));
    CUDA_CHECK(cudaFree(d_tissue));
    CUDA_CHECK(cudaFree(d_activation));
    CUDA_CHECK(cudaFree(d_duration));
    return pair_end(&p);
}
