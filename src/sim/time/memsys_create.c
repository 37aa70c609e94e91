// SPDX-License-Identifier: Apache-2.0
// Builds a memory system from a GPU model, and takes it down.
#include <string.h>

#include "base/map.h"
#include "sim/time/gpc.h"
#include "sim/time/memsys_parts.h"

static u32 least(u64 a, u64 b) { return (u32)(a < b ? a : b); }  // both below 2^32

static void take_atomics(MemSys *m, const GpuModel *gpu) {
    u64 word = gpu->l2_atomic_interval, floating = gpu->l2_atomic_float ? gpu->l2_atomic_float : word;
    u64 sector = gpu->l2_atomic_sector ? gpu->l2_atomic_sector : 100,
        wide = gpu->l2_atomic_wide ? gpu->l2_atomic_wide : sector;
    m->atomic_word[MEM_ATOMIC_INTEGER] = m->atomic_word[MEM_ATOMIC_SWAP] = (u32)word;
    m->atomic_word[MEM_ATOMIC_FLOAT] = m->atomic_word[MEM_ATOMIC_DOUBLE] = (u32)floating;
    m->atomic_sector[MEM_ATOMIC_INTEGER] = m->atomic_sector[MEM_ATOMIC_FLOAT] = (u32)sector;
    m->atomic_sector[MEM_ATOMIC_DOUBLE] = m->atomic_sector[MEM_ATOMIC_SWAP] = (u32)wide;
    m->atomic_latency = (u32)clock_convert(gpu->l2_atomic_latency, m->sm_clock, m->noc_clock);
}

static void take_flits(MemSys *m, u32 header) {
    for (u32 sectors = 0; sectors < WL_COUNT(m->flits); sectors++) {
        u32 bytes = header + sectors * SECTOR;
        m->flits[sectors] = bytes ? (bytes + m->flit - 1) / m->flit : 1;
    }
}

static void take_values(MemSys *m, const GpuModel *gpu) {
    m->sms = (u32)gpu->sms;
    m->slices = (u32)gpu->l2_slices;
    m->channels = (u32)gpu->dram_channels;
    m->banks = (u32)gpu->dram_banks;
    m->groups = (u32)gpu->dram_groups;
    m->refresh_groups = (u32)gpu->dram_refresh_groups;
    m->sm_clock = gpu->clock_mhz;
    m->noc_clock = gpu->noc_clock_mhz;
    m->dram_clock = gpu->dram_clock_mhz;
    m->request_rate = (u32)gpu->noc_request_bytes;
    m->reply_rate = (u32)gpu->noc_reply_bytes;
    m->flit = (u32)gpu->noc_flit;
    take_flits(m, (u32)gpu->noc_header);
    m->slice_rate = (u32)gpu->l2_port;
    m->write_rate = (u32)gpu->l2_write_port;
    m->partial_rate = (u32)gpu->l2_partial_port;
    m->slice_queue = (u32)gpu->l2_queue;
    m->cache_bytes = least(gpu->l2_bytes, gpu->l2_usable ? gpu->l2_usable : gpu->l2_bytes);
    m->no_cache = !gpu->l2_bytes;
    m->copy_allocates = gpu->copy_allocates;
    m->cache_line = m->no_cache ? REQUEST_LINE : (u32)gpu->l2_line;
    m->cache_line = least(m->cache_line, m->map.granule);
    m->cache_sector = least(m->no_cache ? SECTOR : gpu->l2_sector, m->cache_line);
    m->fetch_sectors = m->no_cache ? 1 : least(gpu->l2_fetch, m->cache_line) / m->cache_sector;
    m->parted = gpu->l2_partitions == 2 && !m->no_cache;
    m->parts_most = (u32)(gpu->l2_in_part / m->cache_line / m->slices);
    take_atomics(m, gpu);
    m->dram_latency = (u32)clock_convert(gpu->dram_latency, m->sm_clock, m->noc_clock);
    m->crossing = (u32)clock_convert(gpu->l2_crossing, m->sm_clock, m->noc_clock);
    m->host_latency = (u32)clock_convert(gpu->host_latency, m->sm_clock, m->noc_clock);
    m->host_atomic = (u32)clock_convert(gpu->host_atomic, m->sm_clock, m->noc_clock);
    m->print_latency = (u32)clock_convert(gpu->print, m->sm_clock, m->noc_clock);
    m->print_interval = (u32)clock_convert(gpu->print_interval, m->sm_clock, m->noc_clock);
    m->print_interval_lane = (u32)clock_convert(gpu->print_interval_lane, m->sm_clock, m->noc_clock);
    m->host_request = gpu->host_request * m->noc_clock * BUS_CYCLES / 1000000;
    m->host_rate[0] = gpu->host_read * BUS_CYCLES / m->noc_clock;
    m->host_rate[1] = gpu->host_write * BUS_CYCLES / m->noc_clock;
    m->dram_fifo = gpu->dram_scheduler;
    m->stepped = gpu->noc || gpu->noc_arbitration;
}

static bool is_power(u64 value) { return value && !(value & (value - 1)); }

// What the ranges of the keys do not say. A model that was not loaded by gpu_load may lack anything.
static bool values_fit(const GpuModel *g) {
    bool clocks = g->clock_mhz && g->noc_clock_mhz && g->dram_clock_mhz;
    bool units = g->sms && g->sms <= UINT16_MAX && g->l2_slices <= UINT16_MAX && g->dram_banks <= BANK_WORDS * 64;
    bool rates = g->noc_request_bytes && g->noc_reply_bytes && g->noc_flit && g->l2_port && g->l2_write_port &&
                 g->l2_partial_port && g->noc_queue;
    bool queues = g->l2_queue && g->l2_mshrs && g->dram_queue && g->l2_atomic_interval;
    bool lines =
        !g->l2_bytes || (is_power(g->l2_line) && is_power(g->l2_sector) && g->l2_sector >= SECTOR &&
                         is_power(g->l2_fetch) && g->l2_sector <= g->l2_line && g->l2_line <= 2 * REQUEST_LINE);
    bool banks = g->dram_groups && g->dram_groups <= g->dram_banks && g->dram_refresh_groups &&
                 g->dram_refresh_groups <= g->dram_banks;
    bool dram = is_power(g->dram_burst) && banks && g->t_burst;
    return clocks && units && rates && queues && lines && dram;
}

static u32 add_units(MemSys *m, u8 kind, u32 count) {
    u32 first = m->item_count;
    for (u32 i = 0; i < count; i++) {
        u32 item = item_take(m, kind);
        if (item == WL_NONE) return WL_NONE;
        item_at(m, item)->unit.index = i;
    }
    return first;
}

static Status create_ports(MemSys *m) {
    m->ports = mem_zero(m->sms, sizeof *m->ports);
    if (!m->ports) return STATUS_NO_MEMORY;
    for (u32 i = 0; i < m->sms; i++) m->ports[i].queue = (Queue){WL_NONE, WL_NONE};
    for (u32 i = 0; i < WHEEL_BUCKETS; i++) m->bucket[i] = (Queue){WL_NONE, WL_NONE};
    m->free_item = m->free_join = WL_NONE;
    if (add_units(m, ITEM_PORT, m->sms) == WL_NONE) return STATUS_NO_MEMORY;
    m->first_slice = add_units(m, ITEM_SLICE, m->slices);
    m->first_channel = add_units(m, ITEM_CHANNEL, m->channels);
    m->first_network = add_units(m, ITEM_NETWORK, 2);
    return m->status;
}

// How much longer a far slice takes, from 0 to `spread` and every value as often, the same for a pair in every run.
static Status create_distances(MemSys *m, const GpuModel *gpu) {
    m->extra = mem_zero((size_t)m->sms * m->slices, sizeof *m->extra);
    if (!m->extra) return STATUS_NO_MEMORY;
    if (gpu->noc) return STATUS_OK;  // in a ring or mesh distances are real
    for (u32 sm = 0; sm < m->sms; sm++)
        for (u32 slice = 0; slice < m->slices; slice++)
            m->extra[sm * m->slices + slice] = (u16)(hash_u64((u64)sm << 32 | slice) % (gpu->noc_spread + 1));
    return STATUS_OK;
}

// Half of the GPCs, or of the SMs, belong to each partition.
static Status create_groups(MemSys *m, const GpuModel *gpu) {
    u32 gpcs = gpc_count(gpu);
    m->gpc = mem_zero(m->sms, 1);
    m->side = mem_zero(m->sms, 1);
    if (!m->gpc || !m->side) return STATUS_NO_MEMORY;
    for (u32 sm = 0; sm < m->sms; sm++) {
        m->gpc[sm] = (u8)gpc_of(gpu, sm);
        m->side[sm] = gpcs ? m->gpc[sm] >= gpcs / 2 : sm >= m->sms / 2;
    }
    return STATUS_OK;
}

static Status create_columns(MemSys *m) {
    static const u8 scopes[] = {
#define MEM_COUNTER(id, scope, help) MEM_SCOPE_##scope,
#include "sim/time/memsys_counters.def"
#undef MEM_COUNTER
    };
    for (u32 i = 0; i < MEM_COUNTER_COUNT; i++)
        if (!(m->columns[i] = mem_zero(memsys_units(m, scopes[i]), sizeof(u64)))) return STATUS_NO_MEMORY;
    for (u32 i = 0; i < m->channels; i++) {
        m->channel[i].bank_reads = m->columns[MEMC_BANK_READS] + (size_t)i * m->banks;
        m->channel[i].bank_writes = m->columns[MEMC_BANK_WRITES] + (size_t)i * m->banks;
        m->channel[i].bank_activates = m->columns[MEMC_BANK_ACTIVATES] + (size_t)i * m->banks;
    }
    return STATUS_OK;
}

// The fixed part of the way, so that a read of one sector that hits the nearest slice takes l2_latency.
static void set_tail(MemSys *m, const GpuModel *gpu) {
    Piece sector = {.request = MEM_READ, .count = 1};
    u64 way = (noc_flits(m, &sector, true) * m->flit + m->reply_rate - 1) / m->reply_rate;
    if (m->stepped) way = network_least(m, m->networks[0]) + network_least(m, m->networks[1]);
    way = clock_convert(way, m->noc_clock, m->sm_clock);
    m->tail = gpu->l2_latency > way ? gpu->l2_latency - way : 1;
}

static Status create_parts(MemSys *m, const GpuModel *gpu, Pool *pool) {
    TRY(create_ports(m));
    TRY(l2_create(m, gpu, pool));
    TRY(dram_create(m, gpu));
    for (u32 i = 0; i < 2 && m->stepped; i++) TRY(network_create(m, gpu, i, &m->networks[i]));
    TRY(create_groups(m, gpu));
    TRY(coalesce_create(m, gpu));
    TRY(create_distances(m, gpu));
    TRY(create_columns(m));
    set_tail(m, gpu);
    return STATUS_OK;
}

Status memsys_create(const GpuModel *gpu, Pages *pages, Pool *pool, MemSys **memsys) {
    *memsys = NULL;
    if (!values_fit(gpu)) return STATUS_INVALID;
    MemSys *m = mem_zero(1, sizeof *m);
    if (!m) return STATUS_NO_MEMORY;
    m->pages = pages;
    Status status = address_map_parse(gpu, gpu->id, &m->map, NULL);
    if (status == STATUS_OK) {
        take_values(m, gpu);
        status = create_parts(m, gpu, pool);
    }
    if (status == STATUS_OK)
        *memsys = m;
    else
        memsys_destroy(m);
    return status;
}

void memsys_destroy(MemSys *m) {
    if (!m) return;
    for (u32 i = 0; i < 2; i++) network_destroy(m->networks[i]);
    if (m->slice) l2_destroy(m);
    if (m->channel) dram_destroy(m);
    for (u32 i = 0; i < MEM_COUNTER_COUNT; i++) mem_free(m->columns[i]);
    for (u32 i = 0; i < m->blocks.len; i++) mem_free(m->blocks.data[i]);
    vec_free(&m->blocks);
    vec_free(&m->chunks);
    vec_free(&m->joins);
    vec_free(&m->late);
    coalesce_destroy(m);
    mem_free(m->gpc);
    mem_free(m->side);
    mem_free(m->extra);
    mem_free(m->ports);
    mem_free(m);
}
