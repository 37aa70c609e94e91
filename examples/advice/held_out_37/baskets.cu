// SPDX-License-Identifier: Apache-2.0
//
// Rule: register-reuse
// Change: a thread computes 8 assets of its scenario at once instead of one, with 8 sums in registers.
// Why: a normal draw that has been loaded serves 8 multiply-adds from a register, so that the draws are loaded an
// eighth as often and the load units no longer limit the kernel.
#include "../common.h"

// Scenarios for the pricing of basket options: independent normal draws z are correlated by the Cholesky factor L of
// the assets' correlation matrix, y = L z, and every asset follows a geometric Brownian motion to maturity:
//   price[a][s] = spot[a] * exp(drift[a] + sigma[a] * y[a])
// Arrays are [asset][scenario]. L is stored as a full matrix, with zeros above its diagonal.
constexpr int ASSETS = 64;
constexpr int GROUPS = 8;  // thread rows of a CTA
#ifdef AFTER
constexpr int ROWS = 8;  // assets that a thread computes together
#else
constexpr int ROWS = 1;  // assets that a thread computes together
#endif

struct Market {
    float factor[ASSETS * ASSETS];  // L
    float spot[ASSETS];
    float drift[ASSETS];
    float sigma[ASSETS];
};

__global__ void __launch_bounds__(32 * GROUPS) draw_prices(const Market *__restrict__ market,
                                                           const float *__restrict__ normals,
                                                           float *__restrict__ prices, int scenarios) {
    int s = blockIdx.x * 32 + threadIdx.x;
    for (int first = threadIdx.y * ROWS; first < ASSETS; first += GROUPS * ROWS) {
        float y[ROWS];
#pragma unroll
        for (int r = 0; r < ROWS; r++)
            y[r] = 0;

        const float *factor = market->factor + first * ASSETS;
#pragma unroll 4
        for (int b = 0; b < first + ROWS; b++) {
            float z = normals[(size_t)b * scenarios + s];
#pragma unroll
            for (int r = 0; r < ROWS; r++)
                y[r] += factor[r * ASSETS + b] * z;
        }

#pragma unroll
        for (int r = 0; r < ROWS; r++) {
            int a = first + r;
            float growth = expf(market->drift[a] + market->sigma[a] * y[r]);
            prices[(size_t)a * scenarios + s] = market->spot[a] * growth;
        }
    }
}

// Cholesky factor of a correlation matrix that falls off with the distance of two assets' sectors.
static void make_market(Market *m) {
    std::vector<double> c(ASSETS * ASSETS), l(ASSETS * ASSETS, 0.0);
    for (int i = 0; i < ASSETS; i++)
        for (int j = 0; j < ASSETS; j++)
            c[i * ASSETS + j] = i == j ? 1.0 : 0.25 + 0.5 * exp(-0.2 * abs(i - j));
    for (int i = 0; i < ASSETS; i++) {
        for (int j = 0; j <= i; j++) {
            double sum = c[i * ASSETS + j];
            for (int k = 0; k < j; k++)
                sum -= l[i * ASSETS + k] * l[j * ASSETS + k];
            l[i * ASSETS + j] = i == j ? sqrt(sum) : sum / l[j * ASSETS + j];
        }
    }
    for (int i = 0; i < ASSETS * ASSETS; i++)
        m->factor[i] = (float)l[i];
    unsigned seed = 11;
    const float years = 1.5f, rate = 0.03f;
    for (int i = 0; i < ASSETS; i++) {
        float volatility = 0.1f + 0.004f * lcg_next(&seed, 100);
        m->spot[i] = 20.0f + lcg_next(&seed, 180);
        m->drift[i] = (rate - 0.5f * volatility * volatility) * years;
        m->sigma[i] = volatility * sqrtf(years);
    }
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "baskets");
    int scenarios = p.small ? 64 : 1 << 19;
    size_t count = (size_t)ASSETS * scenarios;
    Market market;
    make_market(&market);

    // Sums of four uniform numbers, scaled to variance 1, stand for normal draws.
    std::vector<float> normals(count);
    unsigned seed = 23;
    for (float &z : normals) {
        int sum = 0;
        for (int i = 0; i < 4; i++)
            sum += (int)lcg_next(&seed, 2048) - 1024;
        z = sum / 1024.0f * 0.8660254f;
    }
    Market *d_market = device_copy_of(&market, 1);
    float *d_normals = device_copy_of(normals.data(), count);
    float *d_prices = device_array<float>(count);

    dim3 block(32, GROUPS);
    pair_time(&p, [&] { draw_prices<<<scenarios / 32, block>>>(d_market, d_normals, d_prices, scenarios); });

    std::vector<float> prices = host_copy_of(d_prices, count);
    int step = p.small ? 1 : 1021;
    for (int s = 0; s < scenarios; s += step) {
        for (int a = 0; a < ASSETS; a++) {
            double y = 0;
            for (int b = 0; b <= a; b++)
                y += (double)market.factor[a * ASSETS + b] * normals[(size_t)b * scenarios + s];
            double expected = market.spot[a] * exp(market.drift[a] + market.sigma[a] * y);
            size_t at = (size_t)a * scenarios + s;
            pair_near(&p, "price", at, expected, prices[at], 1e-4);
        }
    }
    CUDA_CHECK(cudaFree(d_market));
    CUDA_CHECK(cudaFree(d_normals));
    CUDA_CHECK(cudaFree(d_prices));
    return pair_end(&p);
}
