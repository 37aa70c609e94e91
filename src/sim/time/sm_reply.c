// SPDX-License-Identifier: Apache-2.0
// Replies of the memory system on their way to an SM, in the order in which they are taken: by cycle, those of one
// cycle by what they are, so that it does not matter in which order they were given. They are given nearly in that
// order, so each finds its place a few steps from the end; what takes long (over the bus to the host) waits in a heap
// and is in nobody's way.
#include <string.h>

#include "sim/time/machine.h"
#include "sim/time/sm_parts.h"

enum { NEAR_CYCLES = 1024, NEAR_FIRST = 64, FAR_FIRST = 64 };

static bool earlier(const MemReply *a, const MemReply *b) {
    if (a->cycle != b->cycle) return a->cycle < b->cycle;
    if (a->line != b->line) return a->line < b->line;
    return a->tag != b->tag ? a->tag < b->tag : a->sectors < b->sectors;
}

void replies_free(Sm *sm) {
    mem_free(sm->replies.near);
    mem_free(sm->replies.far);
    sm->replies = (Replies){.next = NEVER};
}

void replies_clear(Sm *sm) {
    Replies *q = &sm->replies;
    q->first = q->end = q->far_len = 0;
    q->next = NEVER;
}

static bool grow(Sm *sm, MemReply **replies, u32 *cap, u32 first) {
    u32 more = *cap ? *cap * 2 : first;
    MemReply *bigger = mem_resize(*replies, sizeof *bigger * more);
    if (!bigger) return sm->status = STATUS_NO_MEMORY, false;
    *replies = bigger;
    *cap = more;
    return true;
}

static void far_add(Sm *sm, const MemReply *reply) {
    Replies *q = &sm->replies;
    if (q->far_len == q->far_cap && !grow(sm, &q->far, &q->far_cap, FAR_FIRST)) return;
    u32 at = q->far_len++;
    for (; at && earlier(reply, &q->far[(at - 1) / 2]); at = (at - 1) / 2) q->far[at] = q->far[(at - 1) / 2];
    q->far[at] = *reply;
}

static MemReply far_take(Replies *q) {
    MemReply top = q->far[0], last = q->far[--q->far_len];
    u32 at = 0;
    for (u32 child; (child = 2 * at + 1) < q->far_len; at = child) {
        if (child + 1 < q->far_len && earlier(&q->far[child + 1], &q->far[child])) child++;
        if (!earlier(&q->far[child], &last)) break;
        q->far[at] = q->far[child];
    }
    q->far[at] = last;
    return top;
}

// Room behind the last one.
static bool near_room(Sm *sm) {
    Replies *q = &sm->replies;
    if (q->end < q->cap) return true;
    if (q->first <= q->cap / 2) return grow(sm, &q->near, &q->cap, NEAR_FIRST);
    memmove(q->near, q->near + q->first, sizeof *q->near * (q->end - q->first));
    q->end -= q->first;
    q->first = 0;
    return true;
}

static void near_add(Sm *sm, const MemReply *reply) {
    Replies *q = &sm->replies;
    if (!near_room(sm)) return;
    u32 at = q->end++;
    for (; at > q->first && earlier(reply, &q->near[at - 1]); at--) q->near[at] = q->near[at - 1];
    q->near[at] = *reply;
}

void sm_receive(Sm *sm, const MemReply *reply) {
    stores_prefetch(sm, reply->tag);
    if (reply->cycle < sm->replies.next) sm->replies.next = reply->cycle;
    if (reply->cycle < sm->now + NEAR_CYCLES)
        near_add(sm, reply);
    else
        far_add(sm, reply);
}

MemReply replies_take(Replies *q) {
    bool none = q->first == q->end;
    MemReply reply = none || (q->far_len && earlier(q->far, &q->near[q->first])) ? far_take(q) : q->near[q->first++];
    q->next = q->first < q->end ? q->near[q->first].cycle : NEVER;
    if (q->first == q->end) q->first = q->end = 0;
    if (q->far_len && q->far[0].cycle < q->next) q->next = q->far[0].cycle;
    return reply;
}
