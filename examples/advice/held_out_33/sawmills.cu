// SPDX-License-Identifier: Apache-2.0
//
// Rule: strength-reduction
// Change: the division by the width of a board becomes a multiplication by its reciprocal, which the host tabulated.
// Why: the divisor changes in every turn of the inner loop, so each division is a sequence of some twenty
// instructions, with conversions and a reciprocal on the slow unit; the high half of a product is one instruction.
#include "../common.h"

enum { BLOCK = 128, MAX_BOARDS = 16, KERF = 4, THICKNESS = 25 };  // lengths in millimetres

struct Board {
    unsigned width;    // of the board and one saw cut
    unsigned inverse;  // 2^32 / width, rounded up
    unsigned price;    // of one board, in cents
};

struct Catalogue {
    int count;
    Board boards[MAX_BOARDS];
};

struct Plan {
    unsigned value;   // of all boards of the log
    unsigned offcut;  // wood that no board uses
};

static __constant__ Catalogue catalogue;

// Width of the slab between depths `low` and `high` (from the middle of the log) without its bark edges.
static __host__ __device__ unsigned slab_width(int radius, int low, int high) {
    int far = abs(low) > abs(high) ? abs(low) : abs(high);
    return far >= radius ? 0 : (unsigned)sqrtf((float)(4 * (radius * radius - far * far)));
}

// How many boards of one kind lie side by side in `width`. Exact both ways: width < 2^16.
static __device__ unsigned boards_in(unsigned width, const Board &board) {
#ifdef AFTER
    return __umulhi(width, board.inverse);
#else
    return width / board.width;
#endif
}

// What a log yields, live-sawn from a first cut `offset` below the bark: a thread has one log and one offset.
__global__ void saw(const unsigned short *radii, const unsigned short *bark, Plan *plans, int logs, int offsets) {
    int i = blockIdx.x * BLOCK + threadIdx.x;
    if (i >= logs * offsets)
        return;
    int log = i / offsets, radius = radii[log] - bark[log];
    Plan plan = {0, 0};
    for (int low = i % offsets - radius; low + THICKNESS < radius; low += THICKNESS + KERF) {
        unsigned width = slab_width(radius, low, low + THICKNESS) + KERF, best = 0;
        int kind = 0;
        for (int b = 0; b < catalogue.count; b++) {
            const Board &board = catalogue.boards[b];
            unsigned value = boards_in(width, board) * board.price;
            kind = value > best ? b : kind;
            best = max(best, value);
        }
        plan.value += best;
        plan.offcut += width - boards_in(width, catalogue.boards[kind]) * catalogue.boards[kind].width;
    }
    plans[i] = plan;
}

static Plan saw_on_cpu(const Catalogue &c, int radius, int offset) {
    Plan plan = {0, 0};
    for (int low = offset - radius; low + THICKNESS < radius; low += THICKNESS + KERF) {
        unsigned width = slab_width(radius, low, low + THICKNESS) + KERF, best = 0, offcut = width;
        for (int b = 0; b < c.count; b++) {
            unsigned pieces = width / c.boards[b].width, value = pieces * c.boards[b].price;
            if (value > best) {
                best = value;
                offcut = width - pieces * c.boards[b].width;
            }
        }
        plan.value += best;
        plan.offcut += offcut;
    }
    return plan;
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "sawmills");
    int logs = p.small ? 264 : 8192, offsets = p.small ? 64 : 100, n = logs * offsets;
    static const int widths[] = {38, 50, 63, 75, 88, 100, 115, 125, 138, 150, 175, 200, 225};
    Catalogue c = {sizeof widths / sizeof *widths, {}};
    for (int b = 0; b < c.count; b++) {
        unsigned width = widths[b] + KERF, price = widths[b] * widths[b] / 40 + b * 7 % 5;
        c.boards[b] = {width, (unsigned)((1ull << 32) / width + 1), price};
    }
    CUDA_CHECK(cudaMemcpyToSymbol(catalogue, &c, sizeof c));
    std::vector<unsigned short> radii(logs), bark(logs);
    unsigned seed = 5;
    for (int i = 0; i < logs; i++) {
        radii[i] = 130 + lcg_next(&seed, 220);
        bark[i] = 5 + lcg_next(&seed, 15);
    }
    unsigned short *d_radii = device_copy_of(radii.data(), logs), *d_bark = device_copy_of(bark.data(), logs);
    Plan *d_plans = device_array<Plan>(n);
    pair_time(&p, [&] { saw<<<(n + BLOCK - 1) / BLOCK, BLOCK>>>(d_radii, d_bark, d_plans, logs, offsets); });
    std::vector<Plan> plans = host_copy_of(d_plans, n);
    for (int i = 0; i < n; i += n / 997) {
        Plan expected = saw_on_cpu(c, radii[i / offsets] - bark[i / offsets], i % offsets);
        pair_near(&p, "value", i, expected.value, plans[i].value, 0);
        pair_near(&p, "offcut", i, expected.offcut, plans[i].offcut, 0);
    }
    return pair_end(&p);
}
