// SPDX-License-Identifier: Apache-2.0
// The parts of the memory system and how they reach each other: memsys.c (time, requests, replies), noc.c (crossbar),
// noc_network.c (networks that are stepped), l2.c, dram.c, bus.c (the host's memory).
//
// Time inside is in cycles of the interconnect, which the L2 shares; DRAM counts its own. All that happens at one time
// happens in the order in which it was scheduled. Fixed latencies lie at the end of a request's way, behind everything
// that it may wait for, so that what is asked for in a quantum is never answered in it.
#ifndef WL_SIM_MEMSYS_PARTS_H
#define WL_SIM_MEMSYS_PARTS_H

#include "gpu/address_map.h"
#include "sim/time/cache.h"
#include "sim/time/memsys.h"

enum {
    WHEEL_BUCKETS = 4096,  // a power of two; what lies further ahead waits in its bucket for a later turn
    SECTOR = 32,           // bytes of a bit in MemRequest.sectors
    REQUEST_LINE = 128,    // ... and of a line there
    CHUNK_BITS = 10        // log2 of the items allocated together
};
#define NEVER UINT64_MAX
enum { BUS_CYCLES = 256 };  // what the bus to the host counts its time in: fractions of an interconnect cycle

// What the wheel holds, and lists are made of. An item is in one list or in the wheel, never in both.
typedef enum ItemKind {
    ITEM_PORT,     // of an SM: its next request may leave
    ITEM_SLICE,    // ... may be served
    ITEM_CHANNEL,  // a DRAM command may be given
    ITEM_NETWORK,  // a step of it
    ITEM_PIECE,    // a request, or a part that has its own slice; in the wheel: its atomic is done
    ITEM_PACKET,   // a piece that moves between routers
    ITEM_BURST,    // a DRAM access; in the wheel: its data have arrived
} ItemKind;

typedef struct Piece {
    u8 kind;     // ItemKind
    u8 mask;     // sectors of its cache line
    u8 request;  // MemKind
    u8 sectors;  // of the request
    u8 first;    // 32-byte sector of the request's line with which the piece begins
    u8 count;    // 32-byte sectors of the piece
    union {
        struct {
            u8 need;  // sectors that are not there yet
            u8 waiting;
        };
        u16 parts;  // writes: MemRequest.parts, from `first` on
    };
    u64 line;       // of the request
    u64 local;      // address of its cache line within the slice
    u32 tag, join;  // join: of a request in several pieces, else WL_NONE
    u32 since;      // when it came to where it waits, the low half
    u32 at;         // in a network that is stepped: the input that it comes to next; else 1 + its Coalesced, or 0
    u16 sm, slice;
    u8 flits, hops;  // in a network that is stepped
    u8 whole;        // writes: sectors written completely
    u8 way;          // MemAtomic; PIECE_...
} Piece;
enum {
    PIECE_HOST = 0x80,
    PIECE_ACROSS = 0x10,   // its request is in the other partition of the L2, or on its way there
    PIECE_CROSSES = 0x20,  // ... and its answer on the way back
    PIECE_AGAIN = 0x40     // its SM has asked for it before, and is answered anew
};

typedef struct Burst {
    u8 kind;  // ItemKind
    u8 mask;
    u8 left;  // bursts to move
    bool write;
    u16 slice, bank;
    u64 row;
    u64 age;   // order of arrival in the channel
    u32 mshr;  // reads: whom it is for, WL_NONE = nobody waits
} Burst;

typedef struct Unit {
    u8 kind;  // ItemKind
    u32 index;
} Unit;

typedef struct Item {  // one line of the host's cache
    u64 time;          // in the wheel; NEVER = not there
    u32 prev, next;
    union {  // all begin with the kind
        Unit unit;
        Piece piece;
        Burst burst;
    };
} Item;
_Static_assert(sizeof(Item) == 64, "an item is a line of the host's cache");

typedef struct Queue {
    u32 head, tail;  // items
} Queue;

typedef struct Gauge {
    u64 sum, since;  // value summed over the cycles until `since`
    u32 value;
} Gauge;

typedef struct Port {    // of an SM
    u64 sent, received;  // in bytes: cycle * rate + what of that cycle is used
    Queue queue;
    u32 next_waiting;  // ports that wait for the same slice
    u64 request_flits, reply_flits, request_wait, reply_wait;
} Port;

typedef struct Mshr {
    u64 line;
    u16 pending;  // sectors under way
    Queue waiting;
} Mshr;

typedef struct Crossing {  // of a line to the other partition
    u64 local, until;
} Crossing;
enum { CROSSINGS = 32 };  // under way at once that are known, by line

enum { ATOMIC_LINES = 4 };   // that a slice has at hand for atomics
typedef struct AtomicBusy {  // sectors of a line that atomics still change
    u64 line, until;         // hundredths of a cycle
    u8 mask;
} AtomicBusy;
enum { ATOMICS_BUSY = 8 };

typedef struct Slice {
    Cache *cache;
    u64 busy;                       // in bytes, as a port
    u64 atomic_free;                // hundredths of a cycle
    u64 atomic_line[ATOMIC_LINES];  // lines of the last ones that were different
    u32 atomic_next;
    AtomicBusy atomic_busy[ATOMICS_BUSY];
    Queue queue;
    u32 first_port, last_port;  // that wait for room
    bool blocked;               // until something ends: a fill, an atomic, a DRAM access, a reply's way
    u32 atomics;                // under way
    Mshr *mshrs;
    u32 *free_mshrs;  // free_count of them
    u32 free_count;
    u32 *table;  // mshr + 1 by line, open addressing, when there is a cache
    u64 *parts;  // lines that were written in part, a ring; some are whole by now. NULL: they are not limited
    u32 parts_first, parts_count;
    Gauge queued, missing;
    u64 read_sectors, read_hits, read_pending, write_sectors, write_hits, atomic_sectors, atomic_hits, misses;
    u64 other_sectors, other_hits, other_misses;  // of these, what is neither load, store, texture nor atomic
    u64 requests, evictions, writebacks, busy_bytes;
    Crossing crossings[CROSSINGS];
} Slice;

typedef struct Bank {
    u64 row;  // open, or NO_ROW
    u64 column_ready, precharge_ready, activate_ready;
    u64 age;          // of the request that its next command is for
    bool next_write;  // ... which writes
    Queue queue[2];   // reads, writes; in order of arrival
    u32 hit[2];       // the oldest for the open row, WL_NONE = none
} Bank;
#define NO_ROW UINT64_MAX

enum { BANK_WORDS = 4 };  // of a bit set: 256 banks

typedef struct Choice {  // a command
    u32 bank;            // WL_NONE = none
    bool column;         // else activate
    u64 time, age;       // of its request
} Choice;

typedef struct Channel {
    Bank *banks;
    u64 ready[BANK_WORDS];   // banks with a column command to give
    u64 closed[BANK_WORDS];  // banks that wait for an activate
    Queue fifo;              // first come first served: what no bank has taken up
    u32 counts[2];           // reads, writes
    u32 mode;                // which queue of the banks is served
    bool draining;           // writes, until few are left
    bool last_write;
    u16 last_group;
    u64 last_column;  // time of the last column command + 1; 0 = none yet
    u64 bus_free;     // of the data bus
    u64 write_end;    // of the last written data
    u64 activate_ready;
    u64 refresh_at;
    u64 age, now;
    Gauge queued;
    Gauge pending;
    Choice next;  // the command that comes next, when `chosen`
    bool chosen;
    u64 reads, writes, read_bytes, write_bytes, activates, busy, refreshes;
    u64 *bank_reads, *bank_writes, *bank_activates;  // by bank: of MemSys.columns
} Channel;

typedef struct Join {  // the pieces of one request
    u64 latest;
    u32 left, next_free;
} Join;

typedef struct Coalesced {  // a piece of a line that SMs of a GPC ask the L2 for once
    u64 until;              // when it is forgotten; NEVER: not answered yet
    u32 waiting;            // items: the others
    u32 next;               // that its SMs ask for behind it, or of those that are free
    u32 newer;              // answered after it
    u32 meeting;
    u8 mask;
} Coalesced;

typedef struct Coalescer Coalescer;
typedef struct Network Network;

// Atomics on a sector of the host's memory take turns: until when the last of them has it. One that another sector
// takes the place of is forgotten.
enum { HOST_TURNS = 256 };
typedef struct HostTurn {
    u64 sector, until;
} HostTurn;

typedef struct Timing {  // of DRAM, in its cycles
    u32 burst, ccd, ccdl, rcd, rp, ras, rrd, cl, wl, wr, wtr, rtp, rfc, refi;
} Timing;

struct MemSys {
    Pages *pages;
    AddressMap map;
    u32 sms, slices, channels, banks, groups, refresh_groups;
    u64 sm_clock, noc_clock, dram_clock;  // MHz
    u64 now;                              // interconnect cycles; all before it is done
    u64 tail;                             // SM cycles between leaving the interconnect and arriving at the SM
    u32 request_rate, reply_rate, slice_rate, write_rate, partial_rate, flit;
    u32 flits[REQUEST_LINE / SECTOR + 1];  // of a packet with the data of so many sectors
    u32 cache_line, cache_sector;          // bytes; line: of one piece at most
    bool parted;                           // the L2 has two partitions
    u32 parts_most;                        // lines of a slice that may be written in part; 0: all
    u8 *gpc, *side;                        // by SM: its GPC; the partition that it asks
    u32 fetch_sectors;                     // that a miss brings at least
    u32 slice_queue, mshr_count, mshr_mask;
    u32 atomic_word[MEM_ATOMIC_COUNT], atomic_sector[MEM_ATOMIC_COUNT], atomic_latency;  // hundredths of a cycle
    const MemHostRange *host;                                                            // host_count of them
    u32 host_count, host_latency, host_atomic;                                           // interconnect cycles
    HostTurn host_turns[HOST_TURNS];                                                     // by hash of the sector
    u32 print_latency, print_interval, print_interval_lane;                              // interconnect cycles
    u64 print_free;                                                                      // when the next warp can print
    u64 host_rate[2],
        host_busy[2];              // to read, to write: bytes per BUS_CYCLES cycles; busy until, in cycles / BUS_CYCLES
    u64 host_request, host_asked;  // the time of a request, in cycles / BUS_CYCLES; when the next one can go
    u64 cache_bytes;               // of all slices
    bool no_cache, copy_allocates, stepped;
    u32 dram_queue, dram_burst, dram_latency, crossing;  // latency, crossing: interconnect cycles
    u64 drain_high, drain_low;
    bool dram_fifo;
    Timing t;

    u32 coalesce_most, coalesce_cycles;  // interconnect cycles
    Coalescer *coalescer;                // NULL: there is none

    Port *ports;
    Slice *slice;
    Channel *channel;
    Network *networks[2];  // requests, replies; when stepped
    u16 *extra;            // SM cycles by SM and slice

    Vec(Item *) chunks;  // items, units first; they never move
    Vec(void *) blocks;  // ... as they were allocated
    u32 item_count;
    u32 first_slice, first_channel, first_network;
    u32 free_item;
    Vec(Join) joins;
    u32 free_join;
    Queue bucket[WHEEL_BUCKETS];
    u64 used[WHEEL_BUCKETS / 64];  // buckets that hold something
    u64 scheduled;                 // items in the wheel
    u64 outstanding;               // requests not answered
    Vec(MemRequest) late;          // requests that belong to the next interconnect cycle
    MemReplies *replies;
    Status status;  // of the step: memory ran out
    u64 *columns[MEM_COUNTER_COUNT];
};

// --- lists and the wheel (memsys.c)
// -----------------------------------------------------------------------------------
static inline Item *item_at(const MemSys *m, u32 item) {
    return &m->chunks.data[item >> CHUNK_BITS][item & ((1u << CHUNK_BITS) - 1)];
}
static inline Piece *piece_at(const MemSys *m, u32 item) { return &item_at(m, item)->piece; }

static inline u64 piece_address(const MemSys *m, const Piece *p) {
    return (p->line + p->first * (u64)SECTOR) & ~(u64)(m->cache_line - 1);
}

static inline void queue_push(MemSys *m, Queue *q, u32 item) {
    Item *i = item_at(m, item);
    i->next = WL_NONE;
    i->prev = q->tail;
    *(q->tail == WL_NONE ? &q->head : &item_at(m, q->tail)->next) = item;
    q->tail = item;
}

static inline void queue_push_front(MemSys *m, Queue *q, u32 item) {
    Item *i = item_at(m, item);
    i->prev = WL_NONE;
    i->next = q->head;
    *(q->head == WL_NONE ? &q->tail : &item_at(m, q->head)->prev) = item;
    q->head = item;
}

static inline void queue_remove(MemSys *m, Queue *q, u32 item) {
    Item *i = item_at(m, item);
    *(i->prev == WL_NONE ? &q->head : &item_at(m, i->prev)->next) = i->next;
    *(i->next == WL_NONE ? &q->tail : &item_at(m, i->next)->prev) = i->prev;
}

// Wakes an item at `time`, at the latest: an earlier wake stays.
void wheel_add(MemSys *m, u32 item, u64 time);
u32 item_take(MemSys *m, u8 kind);  // WL_NONE: memory is out, and the step will fail
void item_give(MemSys *m, u32 item);

static inline void gauge_add(MemSys *m, Gauge *g, i32 change) {
    g->sum += g->value * (m->now - g->since);
    g->since = m->now;
    g->value += (u32)change;
}

// First interconnect cycle that begins at or after a time of another clock, and back.
static inline u64 clock_convert(u64 cycles, u64 from, u64 to) {
    return from == to ? cycles : (cycles * to + from - 1) / from;
}

// A piece has left the interconnect at this cycle: its request is answered when it is the last.
void memsys_deliver(MemSys *m, u32 item, u64 cycle);

// --- interconnect (noc.c, noc_network.c)
// ------------------------------------------------------------------------------
void noc_send(MemSys *m, u32 item);   // from the SM to the slice
void noc_port(MemSys *m, u32 port);   // the port may send again
void noc_reply(MemSys *m, u32 item);  // from the slice to the SM
void noc_room(MemSys *m, u32 slice);  // a slice has taken a request up
bool noc_reply_room(const MemSys *m, u32 slice);
u32 noc_flits(const MemSys *m, const Piece *p, bool reply);

WL_MUST_USE Status network_create(MemSys *m, const GpuModel *gpu, bool reply, Network **network);
void network_destroy(Network *network);
void network_send(MemSys *m, u32 item, bool reply);
void network_step(MemSys *m, u32 which);
bool network_room(const Network *network, u32 source);
void network_arrive(MemSys *m, u32 item);
u32 network_least(const MemSys *m, const Network *network);  // cycles that the nearest pair needs

// --- the coalescer (coalesce.c) -------------------------------------------------------------------------------------
WL_MUST_USE Status coalesce_create(MemSys *m, const GpuModel *gpu);
void coalesce_destroy(MemSys *m);
// A piece leaves its port, and waits for no other so far. False: nor can it.
static inline bool coalesce_asks(const MemSys *m, u32 item) {
    Piece *p = piece_at(m, item);
    p->at = 0;
    return (p->request == MEM_READ || p->request == MEM_TEXTURE) && !(p->way & PIECE_HOST);
}
// True: another one's answer will be its own, or was.
bool coalesce_join(MemSys *m, u32 item);
void coalesce_answer(MemSys *m, u32 entry);  // the piece that asked is answered

// --- L2 slices (l2.c) -----------------------------------------------------------------------------------------------
WL_MUST_USE Status l2_create(MemSys *m, const GpuModel *gpu, Pool *pool);
void l2_destroy(MemSys *m);
static inline bool l2_room(const MemSys *m, u32 slice) { return m->slice[slice].queued.value < m->slice_queue; }
void l2_arrive(MemSys *m, u32 item);
void l2_pass(MemSys *m, const Piece *p);  // an answer that the cache is not asked for takes the slice's way out
void l2_slice(MemSys *m, u32 slice);      // it may serve again
void l2_wake(MemSys *m, u32 slice);       // what it was blocked by may have ended
void l2_filled(MemSys *m, u32 item);      // data have come from DRAM
void l2_atomic_done(MemSys *m, u32 item);

// --- the bus to the host (bus.c)
// --------------------------------------------------------------------------------------
void bus_access(MemSys *m, u32 item);
void bus_done(MemSys *m, u32 item);
bool bus_is_host(const MemSys *m, u64 address);

// --- DRAM (dram.c)
// ----------------------------------------------------------------------------------------------------
WL_MUST_USE Status dram_create(MemSys *m, const GpuModel *gpu);
void dram_destroy(MemSys *m);
bool dram_room(const MemSys *m, u32 channel, u32 reads, u32 writes);
// Sectors of the cache line at `address`; `mshr` of its slice is told when they have come, WL_NONE: nobody.
void dram_access(MemSys *m, u32 slice, u64 address, u32 sectors, u32 mshr, bool write);
void dram_channel(MemSys *m, u32 channel);  // a command may be given

#endif
