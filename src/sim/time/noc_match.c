// SPDX-License-Identifier: Apache-2.0
// Which input each output of a router serves next.
//   round-robin  each output in turn takes the next input behind the one it served last
//   pim          parallel iterative matching (Anderson et al., ASPLOS 1992): outputs grant one of the inputs that ask
//   at
//                random, inputs accept one of the grants at random, again for what is left; the random numbers are
//                fixed
//   islip        McKeown, IEEE/ACM ToN 1999: as pim with rotating preferences, which move only on what the first
//                iteration matched
//   hold-grant   Yuan, Bakhoda and Aamodt, MICRO 2009: an output stays with the input it served as long as that has
//   more
//                for it, which keeps accesses to one DRAM row together; others go round-robin. It may starve the
//                others; after a time-out the output turns to them once.
#include "base/map.h"
#include "sim/time/noc_network.h"

static u32 random_below(Network *n, u32 count) {
    n->random++;
    return (u32)((hash_u64(n->random) >> 32) * count >> 32);
}

static bool output_free(const MemSys *m, const Output *out) { return out->busy_until <= m->now; }

// The first input from `start` on, going round, that wants the output; WL_NONE = none.
static u32 next_wanting(MemSys *m, Network *n, const Router *r, u32 output, u32 start) {
    const u64 *wanted = n->wanted + (size_t)(r->first_output + output) * n->words;
    for (u32 turn = 0; turn < 2; turn++) {
        u32 from = turn ? 0 : start, to = turn ? start : r->inputs;
        for (u32 i = from; i < to; i++) {
            u64 word = wanted[i / 64] >> i % 64;
            if (!word) {
                i |= 63;
                continue;
            }
            i += (u32)__builtin_ctzll(word);
            if (i < to && network_wants(m, n, r->first_input + i, r->first_output + output)) return i;
        }
    }
    return WL_NONE;
}

static u32 random_wanting(MemSys *m, Network *n, const Router *r, u32 output) {
    u32 found = WL_NONE, count = 0, start = 0;
    for (u32 i; start < r->inputs && (i = next_wanting(m, n, r, output, start)) != WL_NONE && i >= start; start = i + 1)
        if (random_below(n, ++count) == 0) found = i;
    return found;
}

static void serve(MemSys *m, Network *n, const Router *r, u32 output, u32 input) {
    Output *out = &n->outputs[r->first_output + output];
    if (out->holder != input) out->held_since = m->now;
    out->holder = input;
    network_grant(m, n, r->first_input + input, r->first_output + output);
}

static void round_robin(MemSys *m, Network *n, const Router *r) {
    for (u32 output = 0; output < r->outputs; output++) {
        Output *out = &n->outputs[r->first_output + output];
        if (!output_free(m, out)) continue;
        u32 input = next_wanting(m, n, r, output, out->pointer);
        if (input == WL_NONE) continue;
        out->pointer = (input + 1) % r->inputs;
        serve(m, n, r, output, input);
    }
}

static void hold_grant(MemSys *m, Network *n, const Router *r) {
    for (u32 output = 0; output < r->outputs; output++) {
        Output *out = &n->outputs[r->first_output + output];
        if (!output_free(m, out) || out->holder == WL_NONE) continue;
        if (n->timeout && m->now - out->held_since >= n->timeout) {
            out->pointer = (out->holder + 1) % r->inputs;
            out->holder = WL_NONE;
        } else if (network_wants(m, n, r->first_input + out->holder, r->first_output + output)) {
            serve(m, n, r, output, out->holder);
        }
    }
    round_robin(m, n, r);
}

// How far behind the one it prefers an input finds an output.
static u32 distance(const Network *n, const Router *r, u32 input, u32 output) {
    return (output + r->outputs - n->inputs[r->first_input + input].pointer) % r->outputs;
}

// Each input accepts one of the outputs that grant it their service.
static void accept(Network *n, const Router *r, u32 *accepted, bool random) {
    u32 *offers = accepted + r->inputs;
    for (u32 input = 0; input < r->inputs; input++) accepted[input] = offers[input] = 0;
    for (u32 output = 0; output < r->outputs; output++) {
        if (!n->grants[output]) continue;
        u32 input = n->grants[output] - 1;
        offers[input]++;
        bool better =
            offers[input] == 1 || (random ? random_below(n, offers[input]) == 0
                                          : distance(n, r, input, output) < distance(n, r, input, accepted[input] - 1));
        if (better) accepted[input] = output + 1;
    }
}

// One iteration of pim or islip: grants by output, then each input accepts one. False: nothing was matched.
static bool iterate(MemSys *m, Network *n, const Router *r, bool first) {
    bool any = false, random = n->arbitration == ARBITRATE_PIM;
    for (u32 output = 0; output < r->outputs; output++) {
        Output *out = &n->outputs[r->first_output + output];
        u32 input = !output_free(m, out) ? WL_NONE
                    : random             ? random_wanting(m, n, r, output)
                                         : next_wanting(m, n, r, output, out->pointer);
        n->grants[output] = input + 1;  // WL_NONE + 1 is 0
        any |= input != WL_NONE;
    }
    if (!any) return false;
    u32 *accepted = n->grants + r->outputs;  // by input: the output + 1
    accept(n, r, accepted, random);
    for (u32 input = 0; input < r->inputs; input++) {
        if (!accepted[input]) continue;
        u32 output = accepted[input] - 1;
        if (first && !random) {
            n->outputs[r->first_output + output].pointer = (input + 1) % r->inputs;
            n->inputs[r->first_input + input].pointer = (output + 1) % r->outputs;
        }
        serve(m, n, r, output, input);
    }
    return true;
}

void network_match(MemSys *m, Network *n, u32 router) {
    const Router *r = &n->routers[router];
    network_go_on(m, n, router);
    switch (n->arbitration) {
    case ARBITRATE_ROUND_ROBIN: round_robin(m, n, r); break;
    case ARBITRATE_HOLD_GRANT: hold_grant(m, n, r); break;
    default:
        for (u32 i = 0; i < n->iterations && iterate(m, n, r, i == 0); i++) {}
    }
}
