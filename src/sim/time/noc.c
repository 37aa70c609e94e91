// SPDX-License-Identifier: Apache-2.0
// The crossbar. Each SM has a port for requests and one for replies; what is sent takes its port for bytes / rate
// cycles, first come first served. A request that finds its slice's queue full keeps its port until there is room, and
// with it all that the SM sends after it; ports wait for a slice in the order in which they came.
#include "sim/time/memsys_parts.h"

u32 noc_flits(const MemSys *m, const Piece *p, bool reply) {
    bool data = reply ? p->request != MEM_WRITE && p->request != MEM_REDUCE
                      : p->request == MEM_WRITE || p->request == MEM_ATOMIC || p->request == MEM_REDUCE;
    return m->flits[data ? p->count : 0];
}

static bool port_free(const MemSys *m, const Port *p) { return p->sent < (m->now + 1) * m->request_rate; }

static void leave(MemSys *m, Port *port, u32 item) {
    const Piece *p = piece_at(m, item);
    u32 flits = noc_flits(m, p, false);
    u64 start = m->now * m->request_rate;
    port->sent = (port->sent > start ? port->sent : start) + flits * m->flit;
    port->request_flits += flits;
    port->request_wait += (u32)m->now - p->since;
    if (m->coalescer && coalesce_asks(m, item) && coalesce_join(m, item)) return;
    l2_arrive(m, item);
}

static void wait_for_slice(MemSys *m, u32 port, u32 slice) {
    Slice *s = &m->slice[slice];
    m->ports[port].next_waiting = WL_NONE;
    *(s->first_port == WL_NONE ? &s->first_port : &m->ports[s->last_port].next_waiting) = port;
    s->last_port = port;
}

void noc_port(MemSys *m, u32 port) {
    Port *p = &m->ports[port];
    while (p->queue.head != WL_NONE && port_free(m, p)) {
        u32 item = p->queue.head, slice = piece_at(m, item)->slice;
        if (!l2_room(m, slice)) {
            wait_for_slice(m, port, slice);
            return;
        }
        queue_remove(m, &p->queue, item);
        leave(m, p, item);
    }
    if (p->queue.head != WL_NONE) wheel_add(m, port, p->sent / m->request_rate);
}

void noc_send(MemSys *m, u32 item) {
    Piece *piece = piece_at(m, item);
    piece->since = (u32)m->now;
    if (m->stepped) {
        network_send(m, item, false);
        return;
    }
    u32 port = piece->sm;
    Port *p = &m->ports[port];
    if (p->queue.head == WL_NONE && port_free(m, p) && l2_room(m, piece->slice)) {
        leave(m, p, item);
        return;
    }
    bool first = p->queue.head == WL_NONE;
    queue_push(m, &p->queue, item);
    if (first) noc_port(m, port);
}

void noc_room(MemSys *m, u32 slice) {
    Slice *s = &m->slice[slice];
    u32 port = s->first_port;
    if (port == WL_NONE) return;
    s->first_port = m->ports[port].next_waiting;
    noc_port(m, port);
}

bool noc_reply_room(const MemSys *m, u32 slice) { return !m->stepped || network_room(m->networks[1], slice); }

void noc_reply(MemSys *m, u32 item) {
    if (m->stepped) {
        network_send(m, item, true);
        return;
    }
    const Piece *piece = piece_at(m, item);
    Port *p = &m->ports[piece->sm];
    u32 flits = noc_flits(m, piece, true);
    u64 start = m->now * m->reply_rate;
    if (p->received > start) {
        p->reply_wait += p->received / m->reply_rate - m->now;
        start = p->received;
    }
    p->received = start + flits * m->flit;
    p->reply_flits += flits;
    u32 coalesced = m->coalescer ? piece->at : 0;
    memsys_deliver(m, item, (p->received + m->reply_rate - 1) / m->reply_rate);
    if (coalesced) coalesce_answer(m, coalesced - 1);
}
