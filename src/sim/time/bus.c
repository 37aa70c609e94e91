// SPDX-License-Identifier: Apache-2.0
// The bus to the host, whose memory kernels can reach, too. Both directions move data one request after the other, at
// the rates of the model, and requests of either go one after the other: small ones do not get that far; what is read
// or changed comes back a latency later, what is written is not waited for; atomics on a sector take turns
// (bench/hwref/h200-host-atomics.tsv). The text of printf goes this way, too.
#include "sim/time/memsys_parts.h"

void memsys_set_host(MemSys *m, const MemHostRange *ranges, u32 count) {
    m->host = ranges;
    m->host_count = m->host_rate[0] && m->host_rate[1] ? count : 0;
}

bool bus_is_host(const MemSys *m, u64 address) {
    u32 low = 0, high = m->host_count;
    while (low < high) {
        u32 middle = (low + high) / 2;
        if (address < m->host[middle].begin)
            high = middle;
        else if (address >= m->host[middle].end)
            low = middle + 1;
        else
            return true;
    }
    return false;
}

static u64 move(MemSys *m, u32 direction, u32 bytes) {
    u64 now = m->now * BUS_CYCLES, *busy = &m->host_busy[direction];
    *busy = (*busy > now ? *busy : now) + (u64)bytes * BUS_CYCLES * BUS_CYCLES / m->host_rate[direction];
    return *busy / BUS_CYCLES;
}

// When the request has had its turn.
static u64 ask(MemSys *m) {
    u64 now = m->now * BUS_CYCLES;
    m->host_asked = (m->host_asked > now ? m->host_asked : now) + m->host_request;
    return m->host_asked / BUS_CYCLES;
}

// The buffer of printf: warps that write into it wait for each other (bench/hwref/h200-printf.tsv).
static u64 print(MemSys *m, u32 lanes) {
    u64 begin = m->print_free > m->now ? m->print_free : m->now;
    m->print_free = begin + m->print_interval + (u64)lanes * m->print_interval_lane;
    return begin + m->print_latency;
}

bool memsys_prints(const MemSys *m) { return m->print_free > m->now; }

// When the last lane of an atomic that comes at `done` has had its turn.
static u64 take_turns(MemSys *m, const Piece *p, u64 done) {
    u64 sector = p->line / SECTOR + p->first;
    HostTurn *turn = &m->host_turns[(sector ^ sector >> 8) % HOST_TURNS];
    u64 begin = turn->sector == sector && turn->until > done ? turn->until : done;
    *turn = (HostTurn){sector, begin + (p->waiting + 1ull) * m->host_atomic};
    return p->request == MEM_REDUCE ? turn->until : begin + (u64)p->waiting * m->host_atomic;
}

void bus_access(MemSys *m, u32 item) {
    const Piece *p = piece_at(m, item);
    if (p->request == MEM_PRINT) return wheel_add(m, item, print(m, p->waiting));
    u32 bytes = p->count * SECTOR;
    u64 done = ask(m);
    if (p->request != MEM_READ && p->request != MEM_TEXTURE && p->request != MEM_CONST) {
        u64 written = move(m, 1, bytes);
        if (written > done) done = written;
    }
    if (p->request == MEM_ATOMIC || p->request == MEM_REDUCE) done = take_turns(m, p, done);
    if (p->request != MEM_WRITE && p->request != MEM_REDUCE) {
        u64 read = move(m, 0, bytes);
        done = (read > done ? read : done) + m->host_latency;
    }
    wheel_add(m, item, done);
}

void bus_done(MemSys *m, u32 item) { noc_reply(m, item); }
