// SPDX-License-Identifier: Apache-2.0
//
// Rule: vectorised-access
// Change: a colour of the grading table is read as one float4 instead of three floats.
// Why: a pixel mixes eight entries of the table; read channel by channel these are 24 scattered loads, and each goes
//      to the same sectors as its two neighbours. Entries are padded to 16 bytes, so one load can bring all of it.
#include "../common.h"

enum { WIDE = 32, HIGH = 8, SIDE = 33, ENTRIES = SIDE * SIDE * SIDE, CHANNELS = 4 };

struct Rgb {
    float r, g, b;
};

__device__ static inline Rgb entry(const float *table, int index) {
#ifdef AFTER
    float4 e = ((const float4 *)table)[index];
    return {e.x, e.y, e.z};
#else
    const float *e = table + index * CHANNELS;
    return {e[0], e[1], e[2]};
#endif
}

__device__ static inline float mix(float a, float b, float t) { return a + t * (b - a); }

__device__ static inline Rgb mix(const Rgb &a, const Rgb &b, float t) {
    return {mix(a.r, b.r, t), mix(a.g, b.g, t), mix(a.b, b.b, t)};
}

__device__ static inline unsigned char to_byte(float x) { return (unsigned char)(__saturatef(x) * 255 + 0.5f); }

// Cell of the table a channel falls into, and how far.
__device__ static inline int cell_of(unsigned char value, float *rest) {
    float at = value * ((SIDE - 1) / 255.0f);
    int cell = min((int)at, SIDE - 2);
    *rest = at - cell;
    return cell;
}

// The colourist's look for a film: every pixel through a cube of colours (red runs fastest), trilinear.
__global__ void grade(const uchar4 *__restrict__ frame, uchar4 *__restrict__ graded, const float *__restrict__ table,
                      int width, int height) {
    int x = blockIdx.x * WIDE + threadIdx.x, y = blockIdx.y * HIGH + threadIdx.y;
    if (x >= width || y >= height)
        return;
    uchar4 pixel = frame[(size_t)y * width + x];
    float r, g, b;
    int corner = cell_of(pixel.x, &r) + SIDE * (cell_of(pixel.y, &g) + SIDE * cell_of(pixel.z, &b));
    Rgb plane[2];
#pragma unroll
    for (int blue = 0; blue < 2; blue++) {
        int c = corner + blue * SIDE * SIDE;
        Rgb low = mix(entry(table, c), entry(table, c + 1), r);
        Rgb high = mix(entry(table, c + SIDE), entry(table, c + SIDE + 1), r);
        plane[blue] = mix(low, high, g);
    }
    Rgb look = mix(plane[0], plane[1], b);
    graded[(size_t)y * width + x] = make_uchar4(to_byte(look.r), to_byte(look.g), to_byte(look.b), pixel.w);
}

static double look_of(const std::vector<float> &table, const unsigned char *rgb, int channel) {
    double rest[3], sum = 0;
    int cell[3];
    for (int c = 0; c < 3; c++) {
        double at = rgb[c] * ((SIDE - 1) / 255.0);
        cell[c] = std::min((int)at, SIDE - 2);
        rest[c] = at - cell[c];
    }
    for (int corner = 0; corner < 8; corner++) {
        int index = 0;
        double weight = 1;
        for (int c = 2; c >= 0; c--) {
            int bit = corner >> c & 1;
            index = index * SIDE + cell[c] + bit;
            weight *= bit ? rest[c] : 1 - rest[c];
        }
        sum += weight * table[(size_t)index * CHANNELS + channel];
    }
    return 255 * std::min(std::max(sum, 0.0), 1.0);
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "premieres");
    int width = p.small ? 100 : 4096, height = p.small ? 40 : 2160;
    std::vector<float> table((size_t)ENTRIES * CHANNELS);
    for (int i = 0; i < ENTRIES; i++) {  // teal shadows, orange lights
        float r = i % SIDE / (SIDE - 1.0f), g = i / SIDE % SIDE / (SIDE - 1.0f), b = i / SIDE / SIDE / (SIDE - 1.0f);
        float light = 0.3f * r + 0.6f * g + 0.1f * b, *entry = &table[(size_t)i * CHANNELS];
        entry[0] = powf(r, 0.9f) + 0.15f * light - 0.08f;
        entry[1] = 0.9f * g + 0.1f * light * light;
        entry[2] = powf(b, 1.1f) + 0.12f * (1 - light) - 0.05f;
    }
    std::vector<uchar4> frame((size_t)width * height);
    unsigned seed = 3;
    for (int y = 0; y < height; y++)
        for (int x = 0; x < width; x++) {  // a sunset behind film grain
            float u = (float)x / width, v = (float)y / height, grain[3];
            for (float &f : grain)
                f = lcg_next(&seed, 48) - 24.0f;
            frame[(size_t)y * width + x] =
                make_uchar4((unsigned char)(30 + 190 * v + grain[0]), (unsigned char)(60 + 120 * u * v + grain[1]),
                            (unsigned char)(200 - 150 * v + grain[2]), 255);
        }
    float *d_table = device_copy_of(table.data(), table.size());
    uchar4 *d_frame = device_copy_of(frame.data(), frame.size()), *d_graded = device_array<uchar4>(frame.size());
    dim3 threads(WIDE, HIGH), blocks((width + WIDE - 1) / WIDE, (height + HIGH - 1) / HIGH);
    pair_time(&p, [&] { grade<<<blocks, threads>>>(d_frame, d_graded, d_table, width, height); });
    std::vector<uchar4> graded = host_copy_of(d_graded, frame.size());
    for (size_t i = 0; i < frame.size(); i += p.small ? 1 : 53) {
        unsigned char got[3] = {graded[i].x, graded[i].y, graded[i].z}, in[3] = {frame[i].x, frame[i].y, frame[i].z};
        for (int c = 0; c < 3; c++) {
            double miss = fabs(look_of(table, in, c) - got[c]);
            pair_near(&p, "colour is off", i * 3 + c, 0, miss > 0.51 ? miss : 0, 0);
        }
    }
    return pair_end(&p);
}
