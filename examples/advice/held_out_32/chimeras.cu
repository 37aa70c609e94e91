// SPDX-License-Identifier: Apache-2.0
//
// Rule: strength-reduction
// Change: the wrap around the torus is a comparison and one addition instead of a remainder.
// Why: a remainder by a run-time number is a sequence of some twenty instructions, and each neighbour needs one.
#include "../common.h"

enum { BLOCK_X = 32, BLOCK_Y = 8, RADIUS_MAX = 12, SPAN_MAX = 2 * RADIUS_MAX + 1 };

struct Oscillators {
    int nx, ny;       // the torus
    int radius;       // of the coupling
    float frequency;  // the same for all
    float coupling;
    float lag;  // phase lag of the coupling, radians
    float step;
};

// Where place `i` lies on a ring of n places; -n <= i < 2 n.
static __host__ __device__ int wrap(int i, int n) {
#ifdef AFTER
    return i < 0 ? i + n : i >= n ? i - n : i;
#else
    return (i + n) % n;
#endif
}

// One step of Kuramoto's oscillators with non-local coupling, in which chimera states are looked for. `unit` has the
// cosine and the sine of the phases; the weights depend on the distance only, and their sum is 1.
__global__ void chimeras(Oscillators o, const float *phase, const float2 *unit, const float *weights, float *next) {
    __shared__ float near[SPAN_MAX * SPAN_MAX];
    int span = 2 * o.radius + 1;
    for (int k = threadIdx.y * BLOCK_X + threadIdx.x; k < span * span; k += BLOCK_X * BLOCK_Y)
        near[k] = weights[k];
    __syncthreads();
    int x = blockIdx.x * BLOCK_X + threadIdx.x, y = blockIdx.y * BLOCK_Y + threadIdx.y;
    if (x >= o.nx || y >= o.ny)
        return;
    float re = 0, im = 0;
    for (int dy = -o.radius; dy <= o.radius; dy++) {
        const float2 *row = unit + (size_t)wrap(y + dy, o.ny) * o.nx;
        const float *w = near + (dy + o.radius) * span + o.radius;
        for (int dx = -o.radius; dx <= o.radius; dx++) {
            float2 z = row[wrap(x + dx, o.nx)];
            re += w[dx] * z.x;
            im += w[dx] * z.y;
        }
    }
    size_t i = (size_t)y * o.nx + x;
    float sine, cosine, theta = phase[i];
    sincosf(theta + o.lag, &sine, &cosine);
    next[i] = theta + o.step * (o.frequency + o.coupling * (im * cosine - re * sine));
}

static std::vector<float> bell(int radius) {
    std::vector<float> w;
    double sum = 0;
    for (int dy = -radius; dy <= radius; dy++)
        for (int dx = -radius; dx <= radius; dx++) {
            double v = exp(-2.0 * (dx * dx + dy * dy) / (radius * radius));
            w.push_back((float)v);
            sum += v;
        }
    for (float &v : w)
        v = (float)(v / sum);
    return w;
}

static double expected_phase(const Oscillators &o, const std::vector<float> &phase, const std::vector<float> &weights,
                             int x, int y) {
    double pull = 0, theta = phase[(size_t)y * o.nx + x];
    int span = 2 * o.radius + 1;
    for (int dy = -o.radius; dy <= o.radius; dy++)
        for (int dx = -o.radius; dx <= o.radius; dx++) {
            size_t j = (size_t)wrap(y + dy, o.ny) * o.nx + wrap(x + dx, o.nx);
            pull += weights[(dy + o.radius) * span + dx + o.radius] * sin(phase[j] - theta - o.lag);
        }
    return theta + o.step * (o.frequency + o.coupling * pull);
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "chimeras");
    Oscillators o = {p.small ? 200 : 1000, p.small ? 152 : 960, 9, 0.3f, 2.0f, 1.46f, 0.5f};
    size_t n = (size_t)o.nx * o.ny;
    std::vector<float> phase = random_floats(n, -3.1f, 3.1f, 1), weights = bell(o.radius);
    std::vector<float2> unit(n);
    for (size_t i = 0; i < n; i++)
        unit[i] = make_float2(cosf(phase[i]), sinf(phase[i]));
    float *d_phase = device_copy_of(phase.data(), n), *d_weights = device_copy_of(weights.data(), weights.size()),
          *d_next = device_array<float>(n);
    float2 *d_unit = device_copy_of(unit.data(), n);
    dim3 block(BLOCK_X, BLOCK_Y), grid((o.nx + BLOCK_X - 1) / BLOCK_X, (o.ny + BLOCK_Y - 1) / BLOCK_Y);
    pair_time(&p, [&] { chimeras<<<grid, block>>>(o, d_phase, d_unit, d_weights, d_next); });
    std::vector<float> next = host_copy_of(d_next, n);
    for (int y = 0; y < o.ny; y += 7)
        for (int x = y % 13; x < o.nx; x += 31)
            pair_near(&p, "next", (size_t)y * o.nx + x, expected_phase(o, phase, weights, x, y),
                      next[(size_t)y * o.nx + x], 1e-4);
    return pair_end(&p);
}
