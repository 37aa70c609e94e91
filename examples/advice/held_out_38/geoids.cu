// SPDX-License-Identifier: Apache-2.0
//
// Rule: loop-unrolling
// Change: the degree of the gravity model is known at compile time, and both loops over its terms are unrolled.
// Why: a term is a few multiply-adds; the loops' counters, addresses and loads of coefficients cost more than that.
// Unrolled, coefficients are operands straight from constant memory, and the short inner loops have no ends to handle.
#include "../common.h"

// Gravity of a planet along orbits: the potential and its radial derivative from spherical harmonics, by the recursion
// along degrees for each order (fully normalised, without singularity at the poles).

constexpr int THREADS = 256;
constexpr int DEGREE = 14;
constexpr int TERMS = (DEGREE + 1) * (DEGREE + 2) / 2;

struct Term {
    float a, b;           // of the recursion: P(n) = a t P(n - 1) - b P(n - 2)
    float cosine, sine;   // of the model
};

// By order, then by degree; `sectoral` leads from an order's first term to the next order's.
struct Model {
    Term term[TERMS];
    float sectoral[DEGREE + 1];
    float radius;
};

__constant__ Model model;

#ifdef AFTER
#define UNROLL _Pragma("unroll")
#else
#define UNROLL
#endif

__global__ void __launch_bounds__(THREADS)
#ifdef AFTER
gravity(const float *__restrict__ place, int count, float *__restrict__ potential, float *__restrict__ pull) {
    constexpr int degree = DEGREE;
#else
gravity(const float *__restrict__ place, int count, int degree, float *__restrict__ potential,
        float *__restrict__ pull) {
#endif
    int i = blockIdx.x * THREADS + threadIdx.x;
    if (i >= count)
        return;
    float x = place[i], y = place[(size_t)count + i], z = place[2 * (size_t)count + i];
    float inverse = rsqrtf(x * x + y * y + z * z);
    float ratio = model.radius * inverse;
    float scale = ratio * inverse;
    x *= scale;
    y *= scale;
    z *= scale;
    float squared = ratio * ratio;

    float sum = 0.0f, slope = 0.0f;
    float first = 1.0f, re = 1.0f, im = 0.0f;  // re + i im = ((x + i y) R / r^2)^m
    int at = 0;
    UNROLL
    for (int m = 0; m <= degree; m++) {
        float p = first, older = 0.0f;
        float cosines = 0.0f, sines = 0.0f, cosine_slopes = 0.0f, sine_slopes = 0.0f;
        UNROLL
        for (int n = m; n <= degree; n++) {
            const Term &term = model.term[at++];
            if (n > m) {
                float next = term.a * z * p - term.b * squared * older;
                older = p;
                p = next;
            }
            float weighted = (n + 1) * p;
            cosines += term.cosine * p;
            sines += term.sine * p;
            cosine_slopes += term.cosine * weighted;
            sine_slopes += term.sine * weighted;
        }
        sum += cosines * re + sines * im;
        slope += cosine_slopes * re + sine_slopes * im;
        float turned = x * re - y * im;
        im = x * im + y * re;
        re = turned;
        first *= model.sectoral[m];
    }
    potential[i] = sum * inverse;
    pull[i] = -slope * inverse * inverse;
}

static void gravity_on_cpu(const Model &m, double x, double y, double z, double *potential, double *pull) {
    double r = sqrt(x * x + y * y + z * z), q = m.radius / r, longitude = atan2(y, x);
    double t = z / r, u = sqrt(1 - t * t), first = 1, sum = 0, slope = 0;
    for (int o = 0, at = 0; o <= DEGREE; o++) {
        double p = first, older = 0;
        for (int n = o; n <= DEGREE; n++, at++) {
            if (n > o) {
                double next = (double)m.term[at].a * t * p - (double)m.term[at].b * older;
                older = p;
                p = next;
            }
            double v = pow(q, n) * p * (m.term[at].cosine * cos(o * longitude) + m.term[at].sine * sin(o * longitude));
            sum += v;
            slope += (n + 1) * v;
        }
        first *= u * m.sectoral[o];
    }
    *potential = sum / r;
    *pull = -slope / (r * r);
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "geoids");
    const int count = p.small ? 1000 : 6000000;

    Model m = {};
    m.radius = 1.0f;
    unsigned seed = 1687;
    for (int o = 0, at = 0; o <= DEGREE; o++) {
        m.sectoral[o] = sqrtf((o == 0 ? 2.0f : 1.0f) * (2 * o + 3) / (2 * o + 2));
        for (int n = o; n <= DEGREE; n++, at++) {
            float squares = (float)((n - o) * (n + o));
            if (n > o)
                m.term[at].a = sqrtf((2 * n - 1) * (2 * n + 1) / squares);
            if (n > o + 1)
                m.term[at].b = sqrtf((2 * n + 1) * (n + o - 1.0f) * (n - o - 1.0f) / (squares * (2 * n - 3)));
            float size = 0.02f / (n * n + 1);  // Kaula's rule, for a lumpy planet
            m.term[at].cosine = n == 0 ? 1.0f : size * ((int)lcg_next(&seed, 2001) - 1000) / 1000;
            m.term[at].sine = o == 0 ? 0.0f : size * ((int)lcg_next(&seed, 2001) - 1000) / 1000;
        }
    }
    std::vector<float> place = random_floats((size_t)3 * count, -1, 1, 1846);
    for (int i = 0; i < count; i++) {  // no nearer than 1.02 radii
        float *x = &place[i], *y = &place[count + i], *z = &place[2 * (size_t)count + i];
        float r = sqrtf(*x * *x + *y * *y + *z * *z), wanted = (1.02f + 0.3f * r) / (r + 1e-6f);
        *x *= wanted;
        *y *= wanted;
        *z *= wanted;
    }

    CUDA_CHECK(cudaMemcpyToSymbol(model, &m, sizeof m));
    float *d_place = device_copy_of(place.data(), place.size());
    float *d_potential = device_array<float>(count), *d_pull = device_array<float>(count);
    int blocks = (count + THREADS - 1) / THREADS;
#ifdef AFTER
    pair_time(&p, [&] { gravity<<<blocks, THREADS>>>(d_place, count, d_potential, d_pull); });
#else
    pair_time(&p, [&] { gravity<<<blocks, THREADS>>>(d_place, count, DEGREE, d_potential, d_pull); });
#endif

    std::vector<float> potential = host_copy_of(d_potential, count), pull = host_copy_of(d_pull, count);
    for (int i = 0; i < count; i += p.small ? 1 : 397) {
        double expected[2];
        gravity_on_cpu(m, place[i], place[count + i], place[2 * (size_t)count + i], &expected[0], &expected[1]);
        pair_near(&p, "potential", i, expected[0], potential[i], 1e-4);
        pair_near(&p, "pull", i, expected[1], pull[i], 1e-4);
    }
    CUDA_CHECK(cudaFree(d_place));
    CUDA_CHECK(cudaFree(d_potential));
    CUDA_CHECK(cudaFree(d_pull));
    return pair_end(&p);
}
