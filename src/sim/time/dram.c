// SPDX-License-Identifier: Apache-2.0
// DRAM channels. Reads and writes wait in queues of their bank. FR-FCFS (Rixner et al., ISCA 2000): whatever command
// can be given first is given, the oldest request of those that can; requests for the open row come before others of
// their bank. Writes are collected and drained together, since each change of direction costs bus time. First come
// first served: a request is taken up when all before it are and its bank has nothing else to do. Not modelled: the
// command bus, tFAW. Rows stay open until another row of the bank is needed.
#include <string.h>

#include "sim/time/memsys_parts.h"

static inline void set_bit(u64 *set, u32 bit) { set[bit / 64] |= 1ull << bit % 64; }
static inline void clear_bit(u64 *set, u32 bit) { set[bit / 64] &= ~(1ull << bit % 64); }

static Burst *burst_at(const MemSys *m, u32 item) { return &item_at(m, item)->burst; }

static u64 later(u64 a, u64 b) { return a > b ? a : b; }

// --- banks: what each has to do next
// -----------------------------------------------------------------------------------

// The queues, open row or direction of a bank have changed. A bank whose requests are all for other rows is precharged.
static void bank_update(const MemSys *m, Channel *c, u32 bank) {
    Bank *b = &c->banks[bank];
    u32 mode = c->mode;
    clear_bit(c->ready, bank);
    clear_bit(c->closed, bank);
    u32 request = b->hit[mode] != WL_NONE ? b->hit[mode] : b->queue[mode].head;
    c->chosen = false;
    if (request == WL_NONE) return;
    b->age = burst_at(m, request)->age;
    b->next_write = burst_at(m, request)->write;
    if (b->hit[mode] != WL_NONE) {
        set_bit(c->ready, bank);
    } else {
        if (b->row != NO_ROW) {
            b->activate_ready = later(b->activate_ready, later(c->now, b->precharge_ready) + m->t.rp);
            b->row = NO_ROW;
            b->hit[0] = b->hit[1] = WL_NONE;
        }
        set_bit(c->closed, bank);
    }
}

static u32 next_hit(const MemSys *m, const Bank *b, u32 item) {
    while (item != WL_NONE && burst_at(m, item)->row != b->row) item = item_at(m, item)->next;
    return item;
}

static u64 activate_time(const Channel *c, const Bank *b) { return later(b->activate_ready, c->activate_ready); }

// The first cycle in which the column command of the bank's oldest hit can be given.
static u64 column_time(const MemSys *m, const Channel *c, u32 bank) {
    const Bank *b = &c->banks[bank];
    bool write = b->next_write;
    u64 time = b->column_ready;
    if (c->last_column) {
        bool same = bank * m->groups / m->banks == c->last_group;
        time = later(time, c->last_column - 1 + (same ? m->t.ccdl : m->t.ccd));
        u64 wait = write ? m->t.wl : m->t.cl;
        if (c->bus_free > wait) time = later(time, c->bus_free - wait);
        if (c->last_write && !write) time = later(time, c->write_end + m->t.wtr);
    }
    return time;
}

static void consider(Choice *best, u32 bank, bool column, u64 time, u64 age, u64 now) {
    time = later(time, now);
    if (time > best->time || (time == best->time && age >= best->age)) return;
    *best = (Choice){.bank = bank, .column = column, .time = time, .age = age};
}

static void consider_bank(const MemSys *m, const Channel *c, u32 bank, bool column, Choice *best) {
    const Bank *b = &c->banks[bank];
    consider(best, bank, column, column ? column_time(m, c, bank) : activate_time(c, b), b->age, c->now);
}

static void activate(const MemSys *m, Channel *c, u32 bank, u64 time) {
    Bank *b = &c->banks[bank];
    b->row = burst_at(m, b->queue[c->mode].head)->row;
    b->column_ready = time + m->t.rcd;
    b->precharge_ready = time + m->t.ras;
    c->bank_activates[bank]++;
    c->activates++;
    c->activate_ready = time + m->t.rrd;
    for (u32 i = 0; i < 2; i++) b->hit[i] = next_hit(m, b, b->queue[i].head);
    bank_update(m, c, bank);
}

// --- queues
// ------------------------------------------------------------------------------------------------------------
// The command that comes next stays chosen unless that of the request comes before it.
static void enter_bank(MemSys *m, Channel *c, u32 item) {
    Burst *burst = burst_at(m, item);
    Bank *b = &c->banks[burst->bank];
    u32 queue = m->dram_fifo ? 0 : burst->write;
    queue_push(m, &b->queue[queue], item);
    bool hit = burst->row == b->row && b->hit[queue] == WL_NONE, chosen = c->chosen;
    if (hit) b->hit[queue] = item;
    if (queue != c->mode || !(hit || b->queue[queue].head == item)) return;
    bank_update(m, c, burst->bank);
    c->chosen = chosen;
    if (chosen) consider_bank(m, c, burst->bank, hit, &c->next);
}

// First come first served: hands requests to banks that have nothing to do.
static void dispatch(MemSys *m, Channel *c) {
    while (c->fifo.head != WL_NONE) {
        u32 item = c->fifo.head;
        if (c->banks[burst_at(m, item)->bank].queue[0].head != WL_NONE) return;
        queue_remove(m, &c->fifo, item);
        enter_bank(m, c, item);
    }
}

static void set_mode(const MemSys *m, Channel *c, u32 mode) {
    c->mode = mode;
    c->chosen = false;
    memset(c->ready, 0, sizeof c->ready);
    memset(c->closed, 0, sizeof c->closed);
    for (u32 bank = 0; bank < m->banks; bank++) bank_update(m, c, bank);
}

// Writes wait until many have come together, or nothing else is to be done.
static void choose_mode(const MemSys *m, Channel *c) {
    if (m->dram_fifo) return;
    if (c->draining)
        c->draining = c->counts[1] > m->drain_low;
    else
        c->draining = c->counts[1] >= m->drain_high;
    u32 mode = c->counts[1] && (c->draining || !c->counts[0]);
    if (mode != c->mode) set_mode(m, c, mode);
}

// --- refresh
// ------------------------------------------------------------------------------------------------------------

// The banks of a group are closed, refreshed and then wait for activates, one group after the other; the others go
// on. A channel that was idle did it when it was due.
static void refresh(const MemSys *m, Channel *c, bool idle) {
    u64 step = m->t.refi / m->refresh_groups;
    if (c->refresh_at + m->t.refi <= c->now) {  // long done: these groups have had their turn again
        u64 steps = (c->now - m->t.refi - c->refresh_at) / step + 1;
        c->refresh_at += steps * step;
        c->refreshes += steps;
    }
    for (; c->refresh_at <= c->now; c->refresh_at += step, c->refreshes++) {
        u64 start = idle ? c->refresh_at : c->now;
        u32 group = (u32)(c->refreshes % m->refresh_groups);
        for (u32 i = group; i < m->banks; i += m->refresh_groups)
            if (c->banks[i].row != NO_ROW) start = later(start, c->banks[i].precharge_ready + m->t.rp);
        for (u32 i = group; i < m->banks; i += m->refresh_groups) {
            Bank *b = &c->banks[i];
            b->row = NO_ROW;
            b->hit[0] = b->hit[1] = WL_NONE;
            b->activate_ready = later(b->activate_ready, start + m->t.rfc);
            bank_update(m, c, i);
        }
    }
}

// --- commands
// ------------------------------------------------------------------------------------------------------------
// The command that can be given first; of several that of the oldest request.
static Choice choose(const MemSys *m, const Channel *c) {
    Choice best = {.bank = WL_NONE, .time = NEVER, .age = NEVER};
    for (u32 word = 0; word * 64 < m->banks; word++) {
        for (u64 set = c->ready[word]; set; set &= set - 1)
            consider_bank(m, c, word * 64 + (u32)__builtin_ctzll(set), true, &best);
        for (u64 set = c->closed[word]; set; set &= set - 1)
            consider_bank(m, c, word * 64 + (u32)__builtin_ctzll(set), false, &best);
    }
    return best;
}

static void finish(MemSys *m, Channel *c, u32 channel, u32 item, u64 end) {
    Burst *burst = burst_at(m, item);
    Bank *b = &c->banks[burst->bank];
    u32 queue = m->dram_fifo ? 0 : burst->write;
    b->hit[queue] = next_hit(m, b, item_at(m, item)->next);
    queue_remove(m, &b->queue[queue], item);
    bank_update(m, c, burst->bank);
    c->counts[burst->write]--;
    gauge_add(m, &c->queued, -1);
    if (burst->write)
        item_give(m, item);
    else
        wheel_add(m, item, clock_convert(end, m->dram_clock, m->noc_clock) + m->dram_latency);
    if (m->dram_fifo) dispatch(m, c);
    u32 per = m->slices / m->channels;
    for (u32 i = 0; i < per; i++) l2_wake(m, channel * per + i);
}

// As Nsight Compute counts: of a burst of 64 bytes for one sector 32 (bench/hwref/h200-writes.tsv, write_even_sectors,
// word_of_line).
static u64 wanted_bytes(const MemSys *m, u32 sectors) { return (u64)sector_count(sectors) * m->cache_sector; }

static void column(MemSys *m, Channel *c, u32 channel, u32 bank, u64 time) {
    Bank *b = &c->banks[bank];
    u32 item = b->hit[c->mode];
    Burst *burst = burst_at(m, item);
    u32 step = later(m->t.burst, m->t.ccdl), count = m->t.ccdl > m->t.burst ? 1 : burst->left;
    u64 last = time + (u64)(count - 1) * step, end = last + (burst->write ? m->t.wl : m->t.cl) + m->t.burst;
    burst->left -= (u8)count;
    u64 bytes = burst->left ? 0 : wanted_bytes(m, burst->mask);
    c->last_column = last + 1;
    c->last_group = (u16)(bank * m->groups / m->banks);
    c->last_write = burst->write;
    c->bus_free = end;
    c->busy += (u64)count * m->t.burst;
    if (burst->write) {
        c->write_end = end;
        c->writes += count;
        c->write_bytes += bytes;
        c->bank_writes[bank] += count;
        b->precharge_ready = later(b->precharge_ready, end + m->t.wr);
    } else {
        c->reads += count;
        c->read_bytes += bytes;
        c->bank_reads[bank] += count;
        b->precharge_ready = later(b->precharge_ready, last + m->t.rtp);
    }
    if (!burst->left) finish(m, c, channel, item, end);
}

static void wake(MemSys *m, u32 channel, u64 time) {
    wheel_add(m, m->first_channel + channel, clock_convert(time, m->dram_clock, m->noc_clock));
}

void dram_channel(MemSys *m, u32 channel) {
    Channel *c = &m->channel[channel];
    u64 limit = m->now * m->dram_clock / m->noc_clock;  // the last cycle that has begun
    while (c->counts[0] | c->counts[1]) {
        if (m->t.refi && c->refresh_at <= c->now) refresh(m, c, false);
        choose_mode(m, c);
        if (!c->chosen) c->next = choose(m, c);
        c->chosen = true;
        Choice next = c->next;
        if (next.time > limit) {
            wake(m, channel, next.time);
            return;
        }
        c->chosen = false;
        c->now = later(c->now, next.time);
        if (next.column)
            column(m, c, channel, next.bank, next.time);
        else
            activate(m, c, next.bank, next.time);
    }
    if (c->pending.value) gauge_add(m, &c->pending, -1);
}

// --- what the L2 asks for
// --------------------------------------------------------------------------------------------------
bool dram_room(const MemSys *m, u32 channel, u32 reads, u32 writes) {
    const Channel *c = &m->channel[channel];
    if (m->dram_fifo) return c->counts[0] + c->counts[1] + reads + writes <= m->dram_queue;
    return (!reads || c->counts[0] + reads <= m->dram_queue) && (!writes || c->counts[1] + writes <= m->dram_queue);
}

static u8 burst_count(const MemSys *m, u32 sectors) {
    if (m->dram_burst <= m->cache_sector) return (u8)(sector_count(sectors) * (m->cache_sector / m->dram_burst));
    u32 per = m->dram_burst / m->cache_sector, count = 0;
    for (; sectors; sectors >>= per) count += (sectors & ((1u << per) - 1)) != 0;
    return (u8)count;
}

void dram_access(MemSys *m, u32 slice, u64 address, u32 sectors, u32 mshr, bool write) {
    u32 item = item_take(m, ITEM_BURST);
    if (item == WL_NONE) return;
    AddressPlace place = address_map_place(&m->map, address);
    Channel *c = &m->channel[place.channel];
    u64 arrival = clock_convert(m->now, m->noc_clock, m->dram_clock);
    bool idle = !(c->counts[0] | c->counts[1]);
    u8 count = burst_count(m, sectors);
    *burst_at(m, item) = (Burst){.kind = ITEM_BURST,
                                 .row = place.row,
                                 .age = c->age++,
                                 .mshr = mshr,
                                 .slice = (u16)slice,
                                 .mask = (u8)sectors,
                                 .bank = (u16)place.bank,
                                 .left = count,
                                 .write = write};
    c->now = later(c->now, arrival);
    if (idle) {
        gauge_add(m, &c->pending, 1);
        if (m->t.refi && c->refresh_at <= c->now) refresh(m, c, true);
    }
    c->counts[write]++;
    gauge_add(m, &c->queued, 1);
    if (m->dram_fifo) {
        queue_push(m, &c->fifo, item);
        dispatch(m, c);
    } else {
        enter_bank(m, c, item);
    }
    choose_mode(m, c);
    wake(m, place.channel, c->chosen ? c->next.time : c->now);
}

// --- creation
// ------------------------------------------------------------------------------------------------------------
static void reset_bank(Bank *b) {
    *b = (Bank){.row = NO_ROW, .queue = {{WL_NONE, WL_NONE}, {WL_NONE, WL_NONE}}, .hit = {WL_NONE, WL_NONE}};
}

Status dram_create(MemSys *m, const GpuModel *gpu) {
    m->t = (Timing){.burst = (u32)gpu->t_burst,
                    .ccd = (u32)gpu->t_ccd,
                    .ccdl = (u32)gpu->t_ccdl,
                    .rcd = (u32)gpu->t_rcd,
                    .rp = (u32)gpu->t_rp,
                    .ras = (u32)gpu->t_ras,
                    .rrd = (u32)gpu->t_rrd,
                    .cl = (u32)gpu->t_cl,
                    .wl = (u32)gpu->t_wl,
                    .wr = (u32)gpu->t_wr,
                    .wtr = (u32)gpu->t_wtr,
                    .rtp = (u32)gpu->t_rtp,
                    .rfc = (u32)gpu->t_rfc,
                    .refi = (u32)gpu->t_refi};
    m->dram_queue = (u32)gpu->dram_queue;
    m->dram_burst = (u32)gpu->dram_burst;
    m->drain_high = m->dram_queue - m->dram_queue / 4;
    m->drain_low = m->dram_queue / 4;
    m->channel = mem_zero(m->channels, sizeof *m->channel);
    Bank *banks = mem_zero((size_t)m->channels * m->banks, sizeof *banks);
    if (m->channel) m->channel->banks = banks;
    if (!m->channel || !banks) {
        if (!m->channel) mem_free(banks);
        return STATUS_NO_MEMORY;
    }
    for (u32 i = 0; i < m->channels; i++) {
        Channel *c = &m->channel[i];
        c->banks = banks + (size_t)i * m->banks;
        c->fifo = (Queue){WL_NONE, WL_NONE};
        c->refresh_at = 1 + (u64)(m->t.refi / m->refresh_groups) * i / m->channels;
        for (u32 k = 0; k < m->banks; k++) reset_bank(&c->banks[k]);
    }
    return STATUS_OK;
}

void dram_destroy(MemSys *m) {
    if (m->channel) mem_free(m->channel->banks);
    mem_free(m->channel);
}
