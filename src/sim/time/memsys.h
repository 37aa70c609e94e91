// SPDX-License-Identifier: Apache-2.0
// The memory system that all SMs share: interconnect, L2 slices, DRAM channels. Time is in cycles of the SM clock; what
// runs at other clocks is converted inside. SMs advance alone for a quantum; then all that they asked for in it is
// served here, in order of (cycle, SM, order of asking), so that results do not depend on the number of host threads.
#ifndef WL_SIM_MEMSYS_H
#define WL_SIM_MEMSYS_H

#include "base/pages.h"
#include "base/pool.h"
#include "base/vec.h"
#include "gpu/gpu.h"

typedef enum MemKind {
    MEM_READ,
    MEM_WRITE,
    MEM_ATOMIC,
    MEM_REDUCE,
    MEM_FETCH,
    MEM_CONST,
    MEM_TEXTURE,
    MEM_PRINT,  // printf: into the host's memory, at no address
    MEM_KIND_COUNT
} MemKind;

// What an atomic does, as far as the unit takes longer for some.
typedef enum MemAtomic {
    MEM_ATOMIC_INTEGER,
    MEM_ATOMIC_FLOAT,
    MEM_ATOMIC_DOUBLE,
    MEM_ATOMIC_SWAP,  // compare and swap
    MEM_ATOMIC_COUNT
} MemAtomic;

typedef struct MemRequest {
    u64 cycle;  // leaves the SM
    u64 line;   // device address of a 128-byte line
    u32 tag;    // the SM's own, comes back
    u16 sm;
    u8 kind;     // MemKind
    u8 sectors;  // of the line
    u8 whole;    // writes: sectors written completely
    u8 lanes;    // atomics: lanes that touch the line
    u8 waiting;  // ... that wait for others on a word, the most of each sector, added up; MEM_PRINT: lanes that print
    u8 local;    // local memory (for the counters only)
    u8 atomic;   // MemAtomic
    u16 parts;   // ... sixteenths of each sector that are, 4 bits each, 15 at most; 0 of one that is not whole: one
} MemRequest;

typedef struct MemReply {
    u64 cycle;  // arrives at the SM
    u64 line;
    u32 tag;
    u16 sm;
    u8 kind, sectors;
} MemReply;
typedef Vec(MemReply) MemReplies;

typedef struct MemSys MemSys;
// pages: where the caches come from; NULL: malloc. pool: makes them; NULL: the caller's thread.
WL_MUST_USE Status memsys_create(const GpuModel *gpu, Pages *pages, Pool *pool, MemSys **memsys);
void memsys_destroy(MemSys *memsys);
void memsys_flush(MemSys *memsys);  // caches empty, as Nsight Compute makes them before each kernel
// Lines that the host or a copy engine wrote or read: leaves them in the L2 as hardware does, or not.
void memsys_touch(MemSys *memsys, u64 address, u64 size, bool write);

// Sectors of a line (of 128 bytes, 4 bits) that CTAs without time accessed: leaves them in the L2 as if they had been
// asked for. Nothing is counted.
void memsys_warm(MemSys *memsys, u64 line, u32 sectors, bool write);

// Memory of the host that kernels can reach, over the bus: [begin, end), ascending. They stay the caller's, and in
// place.
typedef struct MemHostRange {
    u64 begin, end;
} MemHostRange;
void memsys_set_host(MemSys *memsys, const MemHostRange *ranges, u32 count);

// The least number of cycles between a request and its reply: the longest quantum.
u64 memsys_least_latency(const MemSys *memsys);
// Serves the requests of [from, until), `count` of them, sorted by (cycle, sm) and otherwise in order of asking, and
// goes on with what is under way. Appends replies, none earlier than `until`; writes and reductions are answered when
// they are done, too (fences wait for that).
WL_MUST_USE Status memsys_step(MemSys *memsys, const MemRequest *requests, u32 count, u64 from, u64 until,
                               MemReplies *replies);
bool memsys_idle(const MemSys *memsys);
// Warps wait for the buffer of printf: no state that comes again tells of when they go on.
bool memsys_prints(const MemSys *memsys);
// When something will happen that needs no new request; UINT64_MAX when idle.
u64 memsys_next_event(const MemSys *memsys);

// Counters: totals since creation, u64, one column per row of memsys_counters.def and unit.
typedef enum MemCounter {
#define MEM_COUNTER(id, scope, help) MEMC_##id,
#include "sim/time/memsys_counters.def"
#undef MEM_COUNTER
    MEM_COUNTER_COUNT
} MemCounter;
typedef enum MemScope { MEM_SCOPE_NOC, MEM_SCOPE_SLICE, MEM_SCOPE_CHANNEL, MEM_SCOPE_BANK, MEM_SCOPE_COUNT } MemScope;
u32 memsys_units(const MemSys *memsys, MemScope scope);  // ports, slices, channels, channels * banks
// The column of one counter: memsys_units(scope of the counter) values. Gauges (occupancies) are summed over cycles.
const u64 *memsys_counter(const MemSys *memsys, MemCounter counter);

#endif
