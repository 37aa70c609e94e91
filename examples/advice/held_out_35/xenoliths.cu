// SPDX-License-Identifier: Apache-2.0
//
// Rule: wrong-type
// Change: the literals of the calibration are of type float.
// Why: one literal without an f makes the whole formula double, pow(), sqrt() and the divisions included, for analyses
// that are known to two digits.
#include "../common.h"

#ifdef AFTER
#define L(literal) literal##f
#else
#define L(literal) literal
#endif

enum { ANALYSES = 11 };

// Cations per formula unit, measured with the microprobe in the three minerals of a garnet peridotite.
struct Analysis {
    float ca_cpx, na_cpx, fe_cpx;                  // clinopyroxene; fe: Fe / (Fe + Mg)
    float ca_opx, na_opx, fe_opx, al_opx, mg_opx;  // orthopyroxene; al, mg: on the M1 site
    float ca_gt, cr_gt, fe_gt;                     // garnet
};

// Even noise in [-1, 1), a number of its own for every draw and every measured value.
__host__ __device__ inline int noise_bits(unsigned draw, unsigned rock, unsigned value) {
    unsigned h = draw * 0x9e3779b1u ^ (rock * ANALYSES + value) * 0x85ebca77u;
    h = (h ^ h >> 15) * 0x2c1b3c6du;
    h = (h ^ h >> 12) * 0x297a2d39u;
    return (int)(h ^ h >> 15) >> 8;
}

__device__ inline float measured(float value, float error, unsigned draw, unsigned rock, unsigned which) {
    return value + value * error * noise_bits(draw, rock, which) / L(8388608.0);
}

// Where in the mantle a rock came from: temperature (K) by the two-pyroxene thermometer and pressure (kbar) by the
// aluminium-in-orthopyroxene barometer of Brey and Koehler (1990). Each needs the other, so they take turns. Each
// thread does so for one draw of the analysis within its errors.
__global__ void xenoliths(const Analysis *__restrict__ rocks, float2 *__restrict__ origin, int draws, float error,
                          int turns) {
    const int draw = blockIdx.x * blockDim.x + threadIdx.x, rock = blockIdx.y;
    if (draw >= draws)
        return;
    Analysis a;
    for (int v = 0; v < ANALYSES; v++)
        (&a.ca_cpx)[v] = measured((&rocks[rock].ca_cpx)[v], error, draw, rock, v);

    const float fe_m1 = a.fe_opx * a.mg_opx, mf_m1 = a.mg_opx + fe_m1, al_gt = L(1.0) - a.cr_gt;
    const float ln_kd_px = log((L(1.0) - a.ca_cpx / (L(1.0) - a.na_cpx)) / (L(1.0) - a.ca_opx / (L(1.0) - a.na_opx)));
    const float free_gt = L(1.0) - a.ca_gt;
    const float ln_kd_al = log(free_gt * free_gt * free_gt * al_gt * al_gt / (mf_m1 * mf_m1 * a.al_opx));

    float p = 40, t = 0;
    for (int i = 0; i < turns; i++) {
        t = (L(23664.0) + (L(24.9) + L(126.3) * a.fe_cpx) * p) / (L(13.38) + ln_kd_px * ln_kd_px + L(11.59) * a.fe_opx);
        const float c1 = -L(8.3143) * t * ln_kd_al - L(5510.0) + L(88.91) * t - L(19.0) * pow(t, L(1.2)) +
                         L(3.0) * a.ca_gt * a.ca_gt * L(82458.0) + a.mg_opx * fe_m1 * (L(80942.0) - L(46.7) * t) -
                         L(3.0) * a.fe_gt * a.ca_gt * L(17793.0) - a.ca_gt * a.cr_gt * (L(1.164e6) - L(420.4) * t) -
                         a.fe_gt * a.cr_gt * (-L(1.25e6) + L(565.0) * t);
        const float c2 = -L(0.832) - L(8.78e-5) * (t - L(298.0)) + L(3.0) * a.ca_gt * a.ca_gt * L(3.305) -
                         a.ca_gt * a.cr_gt * L(13.45) + a.fe_gt * a.cr_gt * L(10.5);
        const float c3 = L(16.6e-4);
        p = (-c2 - sqrt(c2 * c2 + L(4.0) * c3 * c1 / L(1000.0))) / (L(2.0) * c3);
    }
    origin[(size_t)rock * draws + draw] = make_float2(t, p);
}

static void expected_origin(const Analysis &rock, int r, int draw, double error, int turns, double *t, double *p) {
    double v[ANALYSES];
    for (int i = 0; i < ANALYSES; i++)
        v[i] = (&rock.ca_cpx)[i] * (1 + error * noise_bits(draw, r, i) / 8388608.0);
    const double fe_m1 = v[5] * v[7], mf = v[7] + fe_m1, ca = v[8], cr = v[9], fe = v[10];
    const double ln_px = log((1 - v[0] / (1 - v[1])) / (1 - v[3] / (1 - v[4])));
    const double ln_al = log(pow(1 - ca, 3) * pow(1 - cr, 2) / (mf * mf * v[6]));
    *p = 40;
    for (int i = 0; i < turns; i++) {
        *t = (23664 + (24.9 + 126.3 * v[2]) * *p) / (13.38 + ln_px * ln_px + 11.59 * v[5]);
        double c1 = -8.3143 * *t * ln_al - 5510 + 88.91 * *t - 19 * pow(*t, 1.2) + 3 * ca * ca * 82458 +
                    v[7] * fe_m1 * (80942 - 46.7 * *t) - 3 * fe * ca * 17793 - ca * cr * (1.164e6 - 420.4 * *t) -
                    fe * cr * (-1.25e6 + 565 * *t);
        double c2 = -0.832 - 8.78e-5 * (*t - 298) + 3 * ca * ca * 3.305 - ca * cr * 13.45 + fe * cr * 10.5;
        *p = (-c2 - sqrt(c2 * c2 + 4 * 16.6e-4 * c1 / 1000)) / (2 * 16.6e-4);
    }
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "xenoliths");
    const int rocks = p.small ? 3 : 72, draws = p.small ? 200 : 30000, turns = p.small ? 4 : 12;
    const float error = 0.02f;

    std::vector<Analysis> analyses(rocks);
    unsigned seed = 1866;
    for (Analysis &a : analyses) {
        const float hot = lcg_next(&seed, 1000) / 1000.0f, depleted = lcg_next(&seed, 1000) / 1000.0f;
        a = {0.78f - 0.15f * hot,
             0.10f - 0.04f * depleted,
             0.08f + 0.03f * hot,
             0.025f + 0.02f * hot,
             0.006f,
             0.07f + 0.02f * hot,
             0.018f + 0.006f * hot,
             0.86f + 0.03f * depleted,
             0.14f - 0.02f * hot,
             0.03f + 0.06f * depleted,
             0.13f};
    }

    Analysis *d_rocks = device_copy_of(analyses.data(), rocks);
    float2 *d_origin = device_array<float2>((size_t)rocks * draws);
    const dim3 grid((draws + 127) / 128, rocks);
    pair_time(&p, [&] { xenoliths<<<grid, 128>>>(d_rocks, d_origin, draws, error, turns); });

    std::vector<float2> origin = host_copy_of(d_origin, (size_t)rocks * draws);
    for (size_t i = 0; i < origin.size(); i += p.small ? 17 : 2003) {
        double t = 0, kbar = 0;
        expected_origin(analyses[i / draws], i / draws, i % draws, error, turns, &t, &kbar);
        pair_near(&p, "temperature", i, t, origin[i].x, 1e-3);
        pair_near(&p, "pressure", i, kbar, origin[i].y, 1e-3);
    }
    return pair_end(&p);
}
