// SPDX-License-Identifier: Apache-2.0
// Networks that are stepped cycle by cycle while something waits in them: crossbar, ring and mesh, requests and replies
// each in one of their own. Packets move as a whole when the next input has room for all of their flits (virtual
// cut-through), a flit per cycle and link. An input keeps a queue per output. So that nothing comes to a standstill,
// packets that have passed the ends of a ring have buffers of their own, and a mesh is crossed along x first.
#include <string.h>

#include "base/map.h"
#include "sim/time/noc_network.h"

enum { CROSSBAR, RING, MESH };  // words of the key `noc`
// Outputs of a ring's router; inputs: moving right, moving left, local, and the first two again for packets that have
// passed the ring's ends.
enum { RIGHT, LEFT, RING_LOCAL, RING_OUTPUTS, RING_INPUTS = 5 };
enum { EAST, WEST, SOUTH, NORTH, MESH_LOCAL, MESH_PORTS };
#define EJECT (1u << 31)  // Piece.at: the packet has left the last router for its destination
#define REPLY (1u << 30)  // ... it is in the network of replies

// --- the shape
// -----------------------------------------------------------------------------------------------------------
static u32 route(const Network *n, u32 router, u32 destination) {
    if (n->topology == CROSSBAR) return destination;
    u32 to = n->places[n->reply ? 0 : 1][destination];
    if (to == router) return n->topology == RING ? RING_LOCAL : MESH_LOCAL;
    if (n->topology == RING) {
        u32 right = (to + n->router_count - router) % n->router_count, left = n->router_count - right;
        return right < left || (right == left && router % 2) ? RIGHT : LEFT;
    }
    u32 x = router % n->width, to_x = to % n->width;
    if (x != to_x) return x < to_x ? EAST : WEST;
    return router < to ? SOUTH : NORTH;
}

static u32 input_of(const Network *n, u32 router, u32 port) { return n->routers[router].first_input + port; }

// The input that an output leads to, WL_NONE: out of the network, or nowhere.
static u32 next_input(const Network *n, u32 router, u32 output) {
    if (n->topology == CROSSBAR) return WL_NONE;
    if (n->topology == RING) {
        if (output == RING_LOCAL) return WL_NONE;
        u32 step = output == RIGHT ? 1 : n->router_count - 1;
        return input_of(n, (router + step) % n->router_count, output);
    }
    u32 x = router % n->width, y = router / n->width, height = n->router_count / n->width;
    switch (output) {
    case EAST: return x + 1 < n->width ? input_of(n, router + 1, EAST) : WL_NONE;
    case WEST: return x ? input_of(n, router - 1, WEST) : WL_NONE;
    case SOUTH: return y + 1 < height ? input_of(n, router + n->width, SOUTH) : WL_NONE;
    case NORTH: return y ? input_of(n, router - n->width, NORTH) : WL_NONE;
    default: return WL_NONE;
    }
}

static u32 source_input(const Network *n, u32 source) {
    if (n->topology == CROSSBAR) return source;
    return input_of(n, n->places[n->reply ? 1 : 0][source], n->topology == RING ? RING_LOCAL : MESH_LOCAL);
}

// SMs and slices in the order of their places, the slices evenly between the SMs.
static void place_nodes(Network *n, u32 sms, u32 slices) {
    u32 all = sms + slices, sm = 0, slice = 0;
    for (u32 i = 0; i < all; i++) {
        bool is_slice = (u64)(i + 1) * slices / all != (u64)i * slices / all;
        if (is_slice)
            n->places[1][slice++] = i;
        else
            n->places[0][sm++] = i;
    }
}

// --- moving packets
// --------------------------------------------------------------------------------------------------------

// Flits of an input that are free; those of a packet that has left count when its last flit has.
static u32 free_flits(const Network *n, Input *in, u64 now) {
    if (in->leaving && in->busy_until <= now) {
        in->used -= in->leaving;
        in->leaving = 0;
    }
    return in->used < n->capacity ? n->capacity - in->used : 0;
}

static void enter(MemSys *m, Network *n, u32 input, u32 item) {
    Input *in = &n->inputs[input];
    Piece *p = piece_at(m, item);
    Router *r = &n->routers[in->router];
    u32 output = route(n, in->router, n->reply ? p->sm : p->slice);
    queue_push(m, &n->queues[in->first_queue + output], item);
    u32 port = input - r->first_input;
    n->wanted[(r->first_output + output) * n->words + port / 64] |= 1ull << port % 64;
    r->waiting++;
    n->waiting++;
    wheel_add(m, m->first_network + n->reply, m->now);
}

// What waits at its source goes into the router when there is room.
static void inject(MemSys *m, Network *n, u32 source) {
    Source *s = &n->sources[source];
    u32 input = source_input(n, source);
    while (s->queue.head != WL_NONE) {
        u32 item = s->queue.head, flits = piece_at(m, item)->flits;
        if (free_flits(n, &n->inputs[input], m->now) < flits) return;
        queue_remove(m, &s->queue, item);
        s->count--;
        n->inputs[input].used += flits;
        enter(m, n, input, item);
        if (n->reply) l2_wake(m, source);
    }
}

void network_send(MemSys *m, u32 item, bool reply) {
    Network *n = m->networks[reply];
    Piece *p = piece_at(m, item);
    Port *port = &m->ports[p->sm];
    u32 source = reply ? p->slice : p->sm;
    p->since = (u32)m->now;
    p->hops = 0;
    p->flits = (u8)noc_flits(m, p, reply);
    *(reply ? &port->reply_flits : &port->request_flits) += p->flits;
    queue_push(m, &n->sources[source].queue, item);
    n->sources[source].count++;
    inject(m, n, source);
    if (n->sources[source].count) wheel_add(m, m->first_network + reply, m->now);
}

bool network_room(const Network *n, u32 source) { return n->sources[source].count < n->capacity; }

// The input that the packet comes to behind an output.
static u32 target(const Network *n, const Piece *p, u32 output) {
    u32 next = n->outputs[output].next;
    if (n->topology != RING || next == WL_NONE) return next;
    u32 router = n->inputs[next].router, source = n->places[n->reply][n->reply ? p->slice : p->sm];
    bool right = next - n->routers[router].first_input == RIGHT;
    return next + ((right ? router < source : router > source) ? RING_OUTPUTS : 0);
}

static bool can_leave(MemSys *m, Network *n, u32 output, u32 item) {
    const Piece *p = piece_at(m, item);
    u32 next = target(n, p, output);
    if (next == WL_NONE) return n->reply || m->slice[p->slice].queued.value + n->coming[p->slice] < m->slice_queue;
    return free_flits(n, &n->inputs[next], m->now) >= p->flits;
}

// The first packet of an input for an output; WL_NONE = none.
static u32 first_packet(const Network *n, u32 input, u32 output) {
    const Input *in = &n->inputs[input];
    return n->queues[in->first_queue + output - n->routers[in->router].first_output].head;
}

// Which of the buffers behind an output the packet goes to: those behind the ring's end are the second ones.
static u32 buffers_of(const MemSys *m, const Network *n, u32 output, u32 item) {
    return target(n, piece_at(m, item), output) != n->outputs[output].next;
}

bool network_wants(MemSys *m, Network *n, u32 input, u32 output) {
    u32 head = first_packet(n, input, output);
    if (head == WL_NONE || n->inputs[input].busy_until > m->now) return false;
    return !n->outputs[output].granted[buffers_of(m, n, output, head)];
}

// The head of the input's queue for the output goes.
static void move(MemSys *m, Network *n, u32 input, u32 output) {
    Input *in = &n->inputs[input];
    Router *r = &n->routers[in->router];
    Output *out = &n->outputs[output];
    Queue *queue = &n->queues[in->first_queue + output - r->first_output];
    u32 item = queue->head, port = input - r->first_input;
    Piece *p = piece_at(m, item);
    queue_remove(m, queue, item);
    if (queue->head == WL_NONE) n->wanted[output * n->words + port / 64] &= ~(1ull << port % 64);
    r->waiting--;
    n->waiting--;
    free_flits(n, in, m->now);
    in->leaving = p->flits;
    in->busy_until = out->busy_until = m->now + p->flits;
    p->kind = ITEM_PACKET;
    u32 next = target(n, p, output);
    if (next != WL_NONE) {
        n->inputs[next].used += p->flits;
        p->at = next | (n->reply ? REPLY : 0);
        p->hops++;
        wheel_add(m, item, m->now + n->latency);
        return;
    }
    Port *sm = &m->ports[p->sm];
    *(n->reply ? &sm->reply_wait : &sm->request_wait) += (u32)m->now - p->since - p->hops * n->latency;
    if (!n->reply) n->coming[p->slice]++;
    p->at = EJECT | (n->reply ? REPLY : 0);
    wheel_add(m, item, m->now + n->latency + p->flits - 1);
}

// A packet that was granted an output keeps it while it waits for room, or short packets would take every flit that
// gets free and long ones never go.
void network_grant(MemSys *m, Network *n, u32 input, u32 output) {
    u32 item = first_packet(n, input, output);
    if (can_leave(m, n, output, item)) {
        move(m, n, input, output);
    } else {
        u32 first = n->routers[n->inputs[input].router].first_input;
        n->outputs[output].granted[buffers_of(m, n, output, item)] = input - first + 1;
    }
}

void network_go_on(MemSys *m, Network *n, u32 router) {
    const Router *r = &n->routers[router];
    for (u32 output = r->first_output; output < r->first_output + r->outputs; output++) {
        Output *out = &n->outputs[output];
        for (u32 i = 0; i < WL_COUNT(out->granted); i++) {
            if (!out->granted[i] || out->busy_until > m->now) continue;
            u32 input = r->first_input + out->granted[i] - 1;
            bool goes =
                n->inputs[input].busy_until <= m->now && can_leave(m, n, output, first_packet(n, input, output));
            if (!goes) continue;
            out->granted[i] = 0;
            move(m, n, input, output);
        }
    }
}

void network_arrive(MemSys *m, u32 item) {
    Piece *p = piece_at(m, item);
    p->kind = ITEM_PIECE;
    if (p->at == (EJECT | REPLY)) {
        memsys_deliver(m, item, m->now);
    } else if (p->at == EJECT) {
        m->networks[0]->coming[p->slice]--;
        l2_arrive(m, item);
    } else {
        enter(m, m->networks[p->at & REPLY ? 1 : 0], p->at & ~REPLY, item);
    }
}

void network_step(MemSys *m, u32 which) {
    Network *n = m->networks[which];
    u32 left = 0;
    for (u32 i = 0; i < n->source_count; i++) {
        if (n->sources[i].count) inject(m, n, i);
        left += n->sources[i].count;
    }
    for (u32 i = 0; i < n->router_count; i++)
        if (n->routers[i].waiting) network_match(m, n, i);
    if (n->waiting || left) wheel_add(m, m->first_network + which, m->now + 1);
}

// --- creation
// ------------------------------------------------------------------------------------------------------------
static void shape(Network *n, u32 inputs_each, u32 outputs_each) {
    for (u32 i = 0; i < n->router_count; i++)
        n->routers[i] = (Router){.first_input = i * inputs_each,
                                 .inputs = inputs_each,
                                 .first_output = i * outputs_each,
                                 .outputs = outputs_each};
    for (u32 i = 0; i < n->router_count * inputs_each; i++)
        n->inputs[i] = (Input){.router = i / inputs_each, .first_queue = i * outputs_each};
    for (u32 i = 0; i < n->router_count * outputs_each; i++)
        n->outputs[i] = (Output){.holder = WL_NONE, .next = next_input(n, i / outputs_each, i % outputs_each)};
}

static Status allocate(Network *n, u32 sms, u32 slices, u32 inputs_each, u32 outputs_each) {
    u32 inputs = n->router_count * inputs_each, outputs = n->router_count * outputs_each;
    u32 queues = inputs * outputs_each;
    n->words = (inputs_each + 63) / 64;
    n->routers = mem_zero(n->router_count, sizeof *n->routers);
    n->inputs = mem_zero(inputs, sizeof *n->inputs);
    n->outputs = mem_zero(outputs, sizeof *n->outputs);
    n->queues = mem_zero(queues, sizeof *n->queues);
    n->wanted = mem_zero((size_t)outputs * n->words, sizeof *n->wanted);
    n->sources = mem_zero(n->source_count, sizeof *n->sources);
    n->coming = mem_zero(slices, sizeof *n->coming);
    n->grants = mem_zero(outputs_each + 2 * inputs_each, sizeof *n->grants);
    n->places[0] = mem_zero(sms, sizeof **n->places);
    n->places[1] = mem_zero(slices, sizeof **n->places);
    if (!n->routers || !n->inputs || !n->outputs || !n->queues || !n->wanted || !n->sources || !n->coming ||
        !n->grants || !n->places[0] || !n->places[1])
        return STATUS_NO_MEMORY;
    for (u32 i = 0; i < queues; i++) n->queues[i] = (Queue){WL_NONE, WL_NONE};
    for (u32 i = 0; i < n->source_count; i++) n->sources[i].queue = (Queue){WL_NONE, WL_NONE};
    return STATUS_OK;
}

static u32 square_root(u32 value) {
    u32 root = 1;
    while (root * root < value) root++;
    return root;
}

Status network_create(MemSys *m, const GpuModel *gpu, bool reply, Network **network) {
    Network *n = *network = mem_zero(1, sizeof *n);
    if (!n) return STATUS_NO_MEMORY;
    u32 nodes = m->sms + m->slices, from = reply ? m->slices : m->sms, to = reply ? m->sms : m->slices;
    u32 ins = gpu->noc == RING ? RING_INPUTS : MESH_PORTS, outs = gpu->noc == RING ? RING_OUTPUTS : MESH_PORTS;
    Piece full = {.request = reply ? MEM_READ : MEM_WRITE,
                  .count = (u8)((m->cache_line < REQUEST_LINE ? m->cache_line : REQUEST_LINE) / SECTOR)};
    n->topology = (u8)gpu->noc;
    n->arbitration = (u8)gpu->noc_arbitration;
    n->reply = reply;
    n->iterations = (u32)gpu->noc_iterations;
    n->timeout = (u32)gpu->noc_hold_timeout;
    n->latency = (u32)gpu->noc_latency;
    n->longest = noc_flits(m, &full, reply);
    n->capacity = (u32)gpu->noc_queue > 2 * n->longest ? (u32)gpu->noc_queue : 2 * n->longest;
    n->random = reply;
    n->source_count = from;
    n->width = n->topology == MESH ? square_root(nodes) : nodes;
    n->router_count = n->topology == CROSSBAR ? 1
                      : n->topology == RING   ? nodes
                                              : (nodes + n->width - 1) / n->width * n->width;
    if (n->topology == CROSSBAR) {
        TRY(allocate(n, m->sms, m->slices, from, to));
        shape(n, from, to);
    } else {
        TRY(allocate(n, m->sms, m->slices, ins, outs));
        place_nodes(n, m->sms, m->slices);
        shape(n, ins, outs);
    }
    return STATUS_OK;
}

void network_destroy(Network *n) {
    if (!n) return;
    mem_free(n->routers);
    mem_free(n->inputs);
    mem_free(n->outputs);
    mem_free(n->queues);
    mem_free(n->wanted);
    mem_free(n->sources);
    mem_free(n->coming);
    mem_free(n->grants);
    mem_free(n->places[0]);
    mem_free(n->places[1]);
    mem_free(n);
}

u32 network_hops(const Network *n, u32 sm, u32 slice) {
    if (n->topology == CROSSBAR) return 1;
    u32 router = n->places[n->reply ? 1 : 0][n->reply ? slice : sm], hops = 1;
    for (u32 next;; hops++) {
        u32 output = n->routers[router].first_output + route(n, router, n->reply ? sm : slice);
        if ((next = n->outputs[output].next) == WL_NONE) return hops;
        router = n->inputs[next].router;
    }
}

u32 network_least(const MemSys *m, const Network *n) {
    u32 best = UINT32_MAX;
    for (u32 sm = 0; sm < m->sms; sm++)
        for (u32 slice = 0; slice < m->slices; slice++) {
            u32 hops = network_hops(n, sm, slice);
            if (hops < best) best = hops;
        }
    return best * n->latency;
}
