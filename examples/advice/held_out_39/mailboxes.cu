// SPDX-License-Identifier: Apache-2.0
//
// Rule: vectorised-access
// Change: a lane reads its 16 characters of the message with one 16-byte load instead of 16 loads of a byte.
// Why: every byte load of a warp touches the whole message of 512 bytes, so the same lines go through the load unit
//      sixteen times; one wide load a lane brings all of it at once.
#include "../common.h"

enum { BLOCK = 256, WARP = 32, PER_LANE = 16, HEAD = WARP * PER_LANE, FEATURES = 3 };

// What a spam filter counts in the first HEAD characters of a message.
struct Habits {
    int capitals, marks, foreign;
};

__constant__ float weights[FEATURES + 1];  // the last one is the bias

__host__ __device__ static inline void inspect(Habits *h, unsigned letter) {
    h->capitals += letter - 'A' < 26u;
    h->marks += letter == '!' || letter == '$';
    h->foreign += letter >> 7;
}

__device__ static Habits habits_of_lane(const unsigned char *message, int lane) {
    Habits h = {0, 0, 0};
#ifdef AFTER
    uint4 part = ((const uint4 *)message)[lane];
    const unsigned words[4] = {part.x, part.y, part.z, part.w};
    for (int i = 0; i < PER_LANE; i++) inspect(&h, words[i / 4] >> 8 * (i % 4) & 255);
#else
    const unsigned char *part = message + lane * PER_LANE;
    for (int i = 0; i < PER_LANE; i++) inspect(&h, part[i]);
#endif
    return h;
}

// The score of one message a warp; everything above 0 goes to the junk folder.
__global__ void score_messages(const unsigned char *mail, const float *sender, float *score, int messages) {
    int lane = threadIdx.x % WARP, m = (blockIdx.x * BLOCK + threadIdx.x) / WARP;
    if (m >= messages) return;
    Habits h = habits_of_lane(mail + (size_t)m * HEAD, lane);
    unsigned both = __reduce_add_sync(0xffffffffu, (unsigned)(h.capitals | h.marks << 16));  // at most HEAD each
    int foreign = __reduce_add_sync(0xffffffffu, h.foreign);
    if (lane == 0) {
        float sum = weights[FEATURES] + sender[m];
        float capitals = both & 0xffff, marks = both >> 16;
        sum += weights[0] * capitals + weights[1] * marks + weights[2] * foreign;
        if (capitals > HEAD / 4 && marks > 0)  // a message that shouts
            sum += 1 + 0.1f * marks;
        score[m] = sum;
    }
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "mailboxes");
    int messages = p.small ? 1024 : 400 * 1024;
    const float host_weights[FEATURES + 1] = {0.02f, 0.11f, 0.004f, -4.f};
    CUDA_CHECK(cudaMemcpyToSymbol(weights, host_weights, sizeof host_weights));
    std::vector<unsigned char> mail((size_t)messages * HEAD);
    unsigned seed = 39;
    for (size_t i = 0; i < mail.size(); i++) {
        unsigned kind = lcg_next(&seed, 64), which = lcg_next(&seed, 26);
        if (i / HEAD % 3 == 0 && kind > 40) kind = 0;
        mail[i] = kind < 9    ? 'A' + which
                  : kind < 12 ? '0' + which % 10
                  : kind < 14 ? "!$%?"[which % 4]
                  : kind < 22 ? ' '
                  : kind < 24 ? 0xc0 + which
                              : 'a' + which;
    }
    std::vector<float> sender = random_floats(messages, -2, 2, 40);
    unsigned char *d_mail = device_copy_of(mail.data(), mail.size());
    float *d_sender = device_copy_of(sender.data(), messages), *d_score = device_array<float>(messages);
    int blocks = (messages * WARP + BLOCK - 1) / BLOCK;
    pair_time(&p, [&] { score_messages<<<blocks, BLOCK>>>(d_mail, d_sender, d_score, messages); });
    std::vector<float> score = host_copy_of(d_score, messages);
    for (int m = 0; m < messages; m += p.small ? 1 : 97) {
        Habits all = {0, 0, 0};
        for (int i = 0; i < HEAD; i++) inspect(&all, mail[(size_t)m * HEAD + i]);
        double sum = host_weights[FEATURES] + sender[m];
        const int counts[FEATURES] = {all.capitals, all.marks, all.foreign};
        for (int k = 0; k < FEATURES; k++) sum += (double)host_weights[k] * counts[k];
        if (all.capitals > HEAD / 4 && all.marks > 0) sum += 1 + 0.1 * all.marks;
        pair_near(&p, "score", m, sum, score[m], 1e-4);
    }
    return pair_end(&p);
}
