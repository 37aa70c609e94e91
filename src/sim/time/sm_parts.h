// SPDX-License-Identifier: Apache-2.0
// What the parts of an SM's memory side share: sm_memory.c, sm_queue.c, sm_store.c, sm_reply.c, sm_fetch.c.
#ifndef WL_SIM_SM_PARTS_H
#define WL_SIM_SM_PARTS_H

#include "sim/time/sm.h"

// MemRequest.tag: a place in Sm.tickets, in StoreQueue.lines, code; without one of these a place in Sm.misses.
enum { TAG_TICKET = 1u << 31, TAG_FETCH = 1u << 30, TAG_STORE = 1u << 29, TAG_CONST = 1u << 28 };  // MEM_PRINT: a warp

static inline void sm_request(Sm *sm, MemRequest r) {
    r.sm = (u16)sm->id;
    if (vec_push(&sm->out, r) != STATUS_OK) sm->status = STATUS_NO_MEMORY;
}
// A list of tickets that wait for the same thing: adds one; tells the first that a part of it is done, and returns
// what is left of the list.
void sm_wait(Sm *sm, u32 *list, u32 ticket, u32 sectors);
u32 sm_waited(Sm *sm, u32 list, u64 cycle);

// A memory instruction under way; WL_NONE: no memory, as Sm.status says. `parts` of Ticket.remaining are there, at
// `done`: the last ones complete it.
u32 sm_ticket_new(Sm *sm, TimeWarp *w, u32 op, TicketKind kind, u64 cycle);
void sm_ticket_part(Sm *sm, u32 ticket, u32 parts, u64 done, u64 cycle);

// sm_reply.c
void replies_free(Sm *sm);
void replies_clear(Sm *sm);
MemReply replies_take(Replies *replies);  // the next one; there is one
enum { REPLIES_AHEAD = 3 };               // of those that come soon: so many are taken before; NULL: there are fewer
static inline const MemReply *replies_ahead(const Replies *q) {
    return q->first + REPLIES_AHEAD < q->end ? &q->near[q->first + REPLIES_AHEAD] : NULL;
}

void fetch_arrived(Sm *sm, const MemReply *reply);

// sm_const.c
WL_MUST_USE Status constants_init(Sm *sm);
void constants_clear(Sm *sm);   // its caches are empty: a launch begins
void constants_forget(Sm *sm);  // nothing is under way
void constants_free(Sm *sm);
void constant_arrived(Sm *sm, const MemReply *reply);
// A load of constants, for one line: cycles until it is there; the ticket waits for one that comes from the L2.
u64 constant_line(Sm *sm, u64 address, u32 ticket, u64 cycle);

// sm_queue.c; false: no memory. `room`: instructions that may wait, `turns`: warps that find it full issue in order.
WL_MUST_USE bool pipe_init(Pipe *p, Pages *pages, u32 room, u32 own, bool turns);
void pipe_free(Pipe *p);
void pipe_clear(Pipe *p);
WL_MUST_USE bool pipe_push(Pipe *p, PipeEntry entry, const u64 *lines, u32 count);
void pipe_pop(Sm *sm, Pipe *p, u64 cycle);
// An instruction had its turn and put nothing into the queue.
void pipe_passed(Sm *sm, Pipe *p, u64 cycle);
PipeEntry *pipe_head(const Pipe *p);  // the first that has not been looked up
u64 pipe_next_head(const Pipe *p);    // when it has its turn; NEVER
u64 pipe_next(const Pipe *p);         // ... or a load's words have all been read

// sm_reads.c; of the head of the queue
void reads_clear(Pipe *p);
void reads_begin(Sm *sm, Pipe *p, u64 wavefronts, u32 late, u64 cycle);  // a load: `late`: PipeEntry.read_late
void reads_hold(Pipe *p, u32 halves);          // something else takes so many halves of a cycle
u64 reads_wait(const Sm *sm, const Pipe *p);   // no load: until when loads are in its way
void reads_leave(Sm *sm, Pipe *p, u64 cycle);  // it is through
void reads_end(Sm *sm, Pipe *p, u64 cycle);    // ... and those before it that now are

// sm_store.c; nothing is there without l1_join
WL_MUST_USE Status stores_init(Sm *sm);
void stores_free(Sm *sm);
void stores_clear(Sm *sm);
bool stores_full(const Sm *sm);
u64 stores_next(const Sm *sm);  // when the next line leaves; NEVER
void stores_leave(Sm *sm, u64 cycle);
// A ticket stores to a line (a word of the trace): `bytes` of each of its sectors. `looked_up`: when its lines are.
typedef struct StoreAccess {
    u32 ticket, bytes;
    bool local;
    u64 looked_up;
    bool joins;  // set by store_line: a line that waits to leave
} StoreAccess;
// ... returns for how many cycles it keeps the way out busy.
u32 store_line(Sm *sm, StoreAccess *access, u64 word);
// Behind store_line: whether the line that stores have brought into the L1 is not there yet for this one, which joins
// none of them. `present`: the L1 has it.
bool stored_just_before(Sm *sm, const StoreAccess *access, u64 line, bool present);
void store_answered(Sm *sm, u32 at, u64 cycle);
static inline bool is_store(u32 tag) { return (tag & (TAG_STORE | TAG_TICKET)) == TAG_STORE; }
// A reply with the tag will come soon, or next but a few: brings what that needs into the host's cache.
static inline void stores_prefetch(const Sm *sm, u32 tag) {
    if (is_store(tag)) __builtin_prefetch(&sm->stores.lines[tag & ~TAG_STORE]);
}
static inline void stores_prefetch_waiter(const Sm *sm, u32 tag) {
    u32 waiters = is_store(tag) ? sm->stores.lines[tag & ~TAG_STORE].waiters : WL_NONE;
    if (waiters != WL_NONE) __builtin_prefetch(&sm->waiters.data[waiters], 1);
}

#endif
