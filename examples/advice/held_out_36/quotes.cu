// SPDX-License-Identifier: Apache-2.0
//
// Rule: code-reordering
// Change: the quote of the next tick is loaded before the current tick is worked on, not when its turn comes.
// Why: the signal is stored in between and may alias the quotes, so the compiler cannot start the loads earlier;
// started by hand they are under way while logarithm, square root and tanh of the current tick are computed.
#include "../common.h"

// Best bid and ask of every instrument at every tick, tick-major.
struct Book {
    const float *bid;
    const float *ask;
    const float *bid_size;
    const float *ask_size;
};

struct Quote {
    float bid, ask, bid_size, ask_size;
};

constexpr float FAST = 0.06f;   // weight of the newest return in mean and variance
constexpr float QUICK = 0.25f;  // weight of the newest imbalance in the pressure
constexpr float FLOOR = 1e-10f; // smallest variance

// State of the filters of one instrument.
struct Filter {
    float last_mid;
    float mean;
    float variance;
    float pressure;
};

__device__ Quote read_quote(const Book &book, size_t at) {
    Quote q;
    q.bid = book.bid[at];
    q.ask = book.ask[at];
    q.bid_size = book.bid_size[at];
    q.ask_size = book.ask_size[at];
    return q;
}

// Takes one quote into the filters; returns the trading signal in (-1, 1).
__host__ __device__ inline float update(Filter *f, const Quote &q) {
    float mid = 0.5f * (q.bid + q.ask);
    float change = logf(mid / f->last_mid);
    float surprise = change - f->mean;
    float z = surprise / sqrtf(f->variance + FLOOR);
    f->mean += FAST * surprise;
    f->variance = (1 - FAST) * (f->variance + FAST * surprise * surprise);
    float imbalance = (q.bid_size - q.ask_size) / (q.bid_size + q.ask_size);
    f->pressure += QUICK * (imbalance - f->pressure);
    float spread = (q.ask - q.bid) / mid;
    f->last_mid = mid;
    return tanhf(0.5f * f->pressure - 0.2f * z) * expf(-40.0f * spread);
}

// One thread follows one instrument through the day.
__global__ void trading_signals(Book book, const float *open_mid, float *signal, int instruments, int ticks) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= instruments)
        return;
    Filter filter = {open_mid[i], 0, 1e-6f, 0};
    size_t at = i;
#ifdef AFTER
    Quote next = read_quote(book, at);
#endif
    for (int t = 0; t < ticks; t++) {
#ifdef AFTER
        Quote quote = next;
        if (t + 1 < ticks)
            next = read_quote(book, at + instruments);
#else
        Quote quote = read_quote(book, at);
#endif
        signal[at] = update(&filter, quote);
        at += instruments;
    }
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "quotes");
    int instruments = p.small ? 256 : 16384, ticks = p.small ? 12 : 400;
    size_t count = (size_t)instruments * ticks;

    std::vector<float> open_mid = random_floats(instruments, 20, 200, 1);
    std::vector<float> bid(count), ask(count), bid_size(count), ask_size(count);
    std::vector<float> mid = open_mid;
    unsigned seed = 2;
    for (size_t k = 0; k < count; k++) {
        int i = (int)(k % instruments);
        unsigned r = lcg_next(&seed, 1 << 24);
        mid[i] *= 1 + 1e-5f * ((int)(r & 255) - 127.5f);
        float half = mid[i] * 1e-4f * (1 + (r >> 8 & 7));
        bid[k] = mid[i] - half;
        ask[k] = mid[i] + half;
        bid_size[k] = 100.0f * (1 + (r >> 11 & 31));
        ask_size[k] = 100.0f * (1 + (r >> 16 & 31));
    }
    float *d_bid = device_copy_of(bid.data(), count), *d_ask = device_copy_of(ask.data(), count);
    float *d_bid_size = device_copy_of(bid_size.data(), count), *d_ask_size = device_copy_of(ask_size.data(), count);
    float *d_open = device_copy_of(open_mid.data(), instruments);
    float *d_signal = device_array<float>(count);

    Book book = {d_bid, d_ask, d_bid_size, d_ask_size};
    pair_time(&p, [&] {
        trading_signals<<<(instruments + 127) / 128, 128>>>(book, d_open, d_signal, instruments, ticks);
    });

    std::vector<float> signal = host_copy_of(d_signal, count);
    for (int i = 0; i < instruments; i += p.small ? 1 : 97) {
        Filter filter = {open_mid[i], 0, 1e-6f, 0};
        for (int t = 0; t < ticks; t++) {
            size_t at = (size_t)t * instruments + i;
            float expected = update(&filter, {bid[at], ask[at], bid_size[at], ask_size[at]});
            pair_near(&p, "signal", at, expected, signal[at], 2e-3);
        }
    }
    CUDA_CHECK(cudaFree(d_bid));
    CUDA_CHECK(cudaFree(d_ask));
    CUDA_CHECK(cudaFree(d_bid_size));
    CUDA_CHECK(cudaFree(d_ask_size));
    CUDA_CHECK(cudaFree(d_open));
    CUDA_CHECK(cudaFree(d_signal));
    return pair_end(&p);
}
