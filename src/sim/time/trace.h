// SPDX-License-Identifier: Apache-2.0
// What a warp executed, on its way from the functional front (which knows values and no cycle) to the timing model
// (which knows cycles and no value): a queue of 64-bit words per warp.
//
// A run is consecutive instructions of one block of the program, executed with the same lanes. Its head is two words;
// behind it lie the memory accesses of its instructions in program order: a word for the access, then a word for each
// 128-byte line of it.
#ifndef WL_SIM_TRACE_H
#define WL_SIM_TRACE_H

#include "base/pages.h"
#include "base/types.h"

typedef enum TraceSpace {
    TRACE_GLOBAL,   // device memory, through the L1
    TRACE_LOCAL,    // local memory, at addresses of the timing model's own
    TRACE_SHARED,   // no lines; wavefronts; a word: the fewest, and TRACE_DISTRIBUTED
    TRACE_TEXTURE,  // and surfaces
    TRACE_BULK,     // asynchronous bulk copy: past the L1
    TRACE_BARRIER,  // arrival at a CTA barrier: `wavefronts` = which, `lanes` threads arrive, `bytes` = they wait; a
                    // word: threads expected, 0 = all. `bytes` = TRACE_EXITS: `lanes` threads are over
    TRACE_SYNC,     // an mbarrier: `wavefronts` = TraceSync, `lanes` = its place in TraceSyncs; a word: how many
                    // operations on it had come before
    TRACE_PRINT,    // a lane prints: `wavefronts` = the length given to trace_print
    // From here on nothing that goes through a pipe.
    TRACE_SLOW,   // a division or root whose values need its subroutine: `wavefronts` = SlowPath
    TRACE_SLEEP,  // nanosleep: `wavefronts` = bit of the GPU's timer, in nanoseconds, whose next change ends it
    TRACE_SPIN,   // an atomic that is a loop around a compare-and-swap: a word for each place in shared memory
} TraceSpace;

typedef enum TraceEdit {  // of an experiment: bits, by instruction
    TRACE_CONFLICT_FREE = 1,
    TRACE_COALESCED = 2,
} TraceEdit;

typedef enum TraceSync { SYNC_ARRIVE, SYNC_ARRIVE_COPIES, SYNC_BULK, SYNC_WAIT } TraceSync;

typedef struct TraceRun {
    u32 from, to;  // program counters [from, to)
    u32 lanes;     // 1 to 32
    u32 words;     // of accesses
} TraceRun;
enum { TRACE_HEAD = 2, TRACE_EXITS = 2 };
enum { TRACE_DISTRIBUTED = 1 << 16 };  // shared memory of another CTA of the cluster

typedef struct TraceAccess {
    u16 insn;         // pc - TraceRun.from
    u8 space;         // TraceSpace
    u8 lines;         // words behind it
    u16 wavefronts;   // by the banks of their words; 0: of global memory, as many as its bytes need; of textures:
                      // look-ups; of constants: different addresses
    u8 lanes, bytes;  // lanes, and bytes of each
} TraceAccess;

static inline TraceRun trace_run(const u64 *head) {
    return (TraceRun){(u32)head[0], (u32)(head[0] >> 32), (u32)head[1], (u32)(head[1] >> 32)};
}

static inline u64 trace_access_word(TraceAccess a) {
    return a.insn | (u64)a.space << 16 | (u64)a.lines << 24 | (u64)a.wavefronts << 32 | (u64)a.lanes << 48 |
           (u64)a.bytes << 56;
}
static inline TraceAccess trace_access(u64 w) {
    return (TraceAccess){(u16)w, (u8)(w >> 16), (u8)(w >> 24), (u16)(w >> 32), (u8)(w >> 48), (u8)(w >> 56)};
}

// A line: its number in the low 48 bits; the 32-byte sectors touched, 4 bits. Then of atomics, 6 bits each, how many
// lanes wait for others on a word, the most of each sector, added up, and the most lanes on one 4-byte word; of others
// the sectors covered completely, 4 bits, and the words of each sector that is not, if they are the same of all, else
// 0. Of textures none is covered, or all: they are asked for apart.
#define TRACE_LINE_MASK ((1ull << 48) - 1)
#define TRACE_LINE_APART (15ull << 52)
static inline u64 trace_line_address(u64 w) { return (w & TRACE_LINE_MASK) << 7; }
static inline u32 trace_line_sectors(u64 w) { return w >> 48 & 15; }
static inline u32 trace_line_whole(u64 w) { return w >> 52 & 15; }
// The same line, for one lane.
static inline u64 trace_line_alone(u64 w) { return (w & ((1ull << 52) - 1)) | 1ull << 58; }
static inline u32 trace_line_waiting(u64 w) { return w >> 52 & 63; }
static inline u32 trace_line_degree(u64 w) { return (u32)(w >> 58); }
static inline u32 trace_line_words(u64 w) { return (u32)(w >> 56); }

// A place of TRACE_SPIN: where it lies in shared memory, how many turns its lanes take, and in how many it changes.
static inline u64 trace_spin_word(u32 where, u32 turns, u32 changes) {
    return where | (u64)turns << 32 | (u64)changes << 40;
}
static inline u32 trace_spin_where(u64 w) { return (u32)w; }
static inline u32 trace_spin_turns(u64 w) { return w >> 32 & 0xff; }
static inline u32 trace_spin_changes(u64 w) { return w >> 40 & 0xff; }

typedef struct Trace Trace;
// Operations that the front has made on the mbarriers of a CTA, by their offset in shared memory.
#define TRACE_SYNCS 64
typedef struct TraceSyncs {
    u32 key[TRACE_SYNCS], made[TRACE_SYNCS], count;
} TraceSyncs;

struct Trace {
    u64 *words;
    u32 begin, complete, end, cap;  // [begin, complete): whole runs; [complete, end): the open one
    u32 next, limit;                // the pc that would go on with the open run; the end of its block. WL_NONE: none
    u32 mask;                       // lanes of the open run
    u32 half;                       // accesses are joined for so many lanes: 16 before Fermi, 32
    u64 local_base, local_step;     // where the warp's local memory lies, and how far its words are apart
    u64 clock;                      // cycles, for instructions that read a clock
    const u32 *block_end;           // by pc
    const u8 *edits;                // by pc: TraceEdit; NULL: none
    TraceSyncs *syncs;              // of the CTA
    Pages *pages;                   // of `words`; NULL: malloc's
    bool constant;                  // the instruction loads constants
    bool atomic;                    // ... is atomic: lanes that meet on a word count
    bool failed;                    // out of memory
};

static inline bool trace_empty(const Trace *t) { return t->begin == t->complete; }

void trace_reset(Trace *t);
void trace_free(Trace *t);
// The warp executes `pc` next, with the lanes of `mask`: closes the open run when this does not go on with it.
void trace_open(Trace *t, u32 pc, u32 mask);
void trace_close(Trace *t);
// The instruction that was opened for last is not executed now: a run that begins with it does not.
void trace_take_back(Trace *t);
static inline bool trace_goes_on(const Trace *t, u32 pc, u32 mask) {
    return pc == t->next && pc != t->limit && mask == t->mask;
}

// The current instruction accesses memory. Addresses: of the active lanes one after the other, or of the lanes in
// `mask`.
void trace_global(Trace *t, const u64 *address, u32 count, u32 bytes);
void trace_shared(Trace *t, u32 wavefronts, u32 fewest, u32 lanes, u32 bytes, bool distributed);
void trace_local(Trace *t, const u64 *offset, u32 mask, u32 bytes);
void trace_local_uniform(Trace *t, u64 offset, u32 mask, u32 bytes);
// The lines of an access that the PTX does not have: `words` words of each of so many lanes, at `word` of a thread's
// local memory. Which lanes is not told: of four and more each sector has some. Returns how many lines.
#define TRACE_SPILLED 4
u32 trace_spilled(const Trace *t, u64 word, u32 words, u32 lanes, u64 lines[TRACE_SPILLED]);
// A texture access, by numbers of sectors; `looked_up`: of each of its quads; `bytes`: of all lanes; `apart`: each
// sector is asked for by itself.
void trace_sectors(Trace *t, const u64 *sector, u32 count, u32 looked_up, u32 bytes, bool apart);
void trace_bulk(Trace *t, u64 address, u64 bytes);
void trace_barrier(Trace *t, u32 barrier, u32 lanes, u32 expected, bool waits);
void trace_exit(Trace *t, u32 lanes);
void trace_sync(Trace *t, TraceSync kind, u32 key);
void trace_slow(Trace *t, u32 path);
void trace_sleep(Trace *t, u32 ns);
// Addresses by lane; those of the lanes in `mask` change what is there if they are in `changing`, too.
void trace_spin(Trace *t, const u64 *address, u32 mask, u32 changing, u32 bytes);
// A lane prints: `length` is the characters and conversions of its format, and twice the characters of its strings.
void trace_print(Trace *t, u32 length);

#endif
