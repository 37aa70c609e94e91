// SPDX-License-Identifier: Apache-2.0
// A network that is stepped: routers with inputs and outputs, and who goes where (noc_network.c); which input an output
// serves (noc_match.c). Inputs and outputs are numbered over all routers, each router's together.
#ifndef WL_SIM_NOC_NETWORK_H
#define WL_SIM_NOC_NETWORK_H

#include "sim/time/memsys_parts.h"

enum { ARBITRATE_ROUND_ROBIN, ARBITRATE_PIM, ARBITRATE_ISLIP, ARBITRATE_HOLD_GRANT };  // words of `noc_arbitration`

typedef struct Router {
    u32 first_input, inputs, first_output, outputs;
    u32 waiting;  // packets
} Router;

typedef struct Input {
    u32 router, first_queue;  // a queue per output of the router
    u32 used, leaving;        // flits; leaving: of the packet that goes until busy_until
    u64 busy_until;
    u32 pointer;  // islip: the output that it prefers
} Input;

typedef struct Output {
    u64 busy_until;
    u32 next;        // the input that it leads to; WL_NONE = out of the network
    u32 pointer;     // round-robin, islip: the input that it prefers (of its router)
    u32 holder;      // hold-grant: input that was served last, WL_NONE = none
    u32 granted[2];  // by buffers behind it: the input (of its router) + 1 whose packet has them next, and waits for
                     // room
    u64 held_since;
} Output;

typedef struct Source {
    Queue queue;
    u32 count;
} Source;

struct Network {
    u8 topology, arbitration;
    bool reply;
    u32 iterations, timeout, latency, longest, capacity;  // longest packet and capacity of an input in flits
    u64 random;
    u32 source_count, router_count, width, words;
    u32 waiting;  // packets in routers
    Router *routers;
    Input *inputs;
    Output *outputs;
    Queue *queues;
    u64 *wanted;  // per output, `words` words: inputs of its router with a packet for it
    Source *sources;
    u32 *coming;     // by slice: packets on their last way to it
    u32 *grants;     // scratch of a match: by output the granted input (of the router) + 1, then what inputs accept
    u32 *places[2];  // routers of SMs and slices
};

// Whether the input has a packet for the output that no other one was granted before.
bool network_wants(MemSys *m, Network *n, u32 input, u32 output);
// The output is the input's: its first packet for it goes as soon as there is room, and nobody's before.
void network_grant(MemSys *m, Network *n, u32 input, u32 output);
// What was granted before, and has room now.
void network_go_on(MemSys *m, Network *n, u32 router);
void network_match(MemSys *m, Network *n, u32 router);  // one cycle of a router
u32 network_hops(const Network *n, u32 sm, u32 slice);

#endif
