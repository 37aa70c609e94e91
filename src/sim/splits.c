// SPDX-License-Identifier: Apache-2.0
// The splits of a warp, the call frames that they are in, and the points where they meet again.
#include "sim/splits.h"

#include <assert.h>

enum { FRAMES_FIRST = 2 };

// --- pools of frames and convergence points --------------------------------------------------------------------
// Every warp has the kernel's frame: one block of `Pages` holds it and that of a function, further ones find more room.
static bool frames_grow(Warp *w) {
    u32 cap = w->frames.cap ? w->frames.cap * 2 : FRAMES_FIRST;
    size_t size = sizeof *w->frames.data;
    Frame *bigger = pages_resize(w->cta->grid->sim->pages, w->frames.data, w->frames.cap * size, cap * size);
    if (!bigger) return false;
    w->frames.data = bigger;
    w->frames.cap = cap;
    return true;
}

u32 frame_new(Warp *w, Frame frame) {
    u32 at;
    if (w->free_frames.len)
        at = w->free_frames.data[--w->free_frames.len];
    else {
        if (w->frames.len == w->frames.cap && !frames_grow(w)) return WL_NONE;
        at = w->frames.len++;
    }
    w->frames.data[at] = frame;
    return at;
}

void frame_release(Warp *w, u32 at) {
    while (at != WL_NONE && --w->frames.data[at].refs == 0) {
        u32 parent = w->frames.data[at].parent;
        if (parent == WL_NONE) return;                           // the kernel's: the warp is over
        if (vec_push(&w->free_frames, at) != STATUS_OK) return;  // one frame less to reuse
        at = parent;
    }
}

void conv_release(Warp *w, u32 at) {
    while (at != WL_NONE && --w->convs.data[at].refs == 0) {
        u32 parent = w->convs.data[at].parent;
        frame_release(w, w->convs.data[at].frame);
        if (vec_push(&w->free_convs, at) != STATUS_OK) return;
        at = parent;
    }
}

u32 conv_new(Warp *w, Conv conv) {
    u32 at;
    if (w->free_convs.len)
        at = w->free_convs.data[--w->free_convs.len];
    else {
        if (vec_push(&w->convs, conv) != STATUS_OK) return WL_NONE;
        at = w->convs.len - 1;
    }
    w->convs.data[at] = conv;
    w->frames.data[conv.frame].refs++;
    return at;
}

void split_remove(Warp *w, u32 at) {
    frame_release(w, w->splits[at].frame);
    conv_release(w, w->splits[at].conv);
    w->splits[at] = w->splits[--w->split_count];
    w->current = 0;
}

Split *splits_part(Warp *w) {
    w->all = pages_take(w->cta->grid->sim->pages, sizeof *w->all * LANES);
    if (!w->all) return NULL;
    *w->all = w->only;
    return w->splits = w->all;
}

Split *split_add(Warp *w, Split like) {
    assert(w->all || !w->split_count);
    w->frames.data[like.frame].refs++;
    if (like.conv != WL_NONE) w->convs.data[like.conv].refs++;
    w->splits[w->split_count] = like;
    return &w->splits[w->split_count++];
}

void warp_split_off(Warp *w, Split *split, u32 lanes, u32 pc) {
    if (!lanes) return;
    Split other = *split;
    other.mask = lanes;
    other.pc = pc;
    split->mask &= ~lanes;
    split_add(w, other);
}

// --- convergence -----------------------------------------------------------------------------------------------
// All lanes still expected at `conv` are there: they go on as one split.
static void conv_resume(Warp *w, u32 conv) {
    Conv *c = &w->convs.data[conv];
    if (c->mask == 0 || c->arrived != c->mask) return;
    Split resumed = {.pc = c->pc, .mask = c->arrived, .frame = c->frame, .conv = c->parent};
    c->arrived = c->mask = 0;
    split_add(w, resumed);
}

void conv_forget(Warp *w, u32 conv, u32 until, u32 lanes) {
    while (conv != until && conv != WL_NONE) {
        Conv *c = &w->convs.data[conv];
        u32 parent = c->parent;
        c->mask &= ~lanes;
        conv_resume(w, conv);
        conv = parent;
    }
}

// The point of the split, or one that it is under, at `pc`; WL_NONE: there is none.
static u32 conv_at(const Warp *w, const Split *s, u32 pc) {
    for (u32 conv = s->conv; conv != WL_NONE; conv = w->convs.data[conv].parent) {
        const Conv *c = &w->convs.data[conv];
        if (c->pc == pc && c->frame == s->frame && c->mask & s->mask) return conv;
    }
    return WL_NONE;
}

static void conv_change(Warp *w, Split *s, u32 conv) {
    u32 old = s->conv;
    s->conv = conv;
    if (conv != WL_NONE) w->convs.data[conv].refs++;
    conv_release(w, old);
}

// The split goes past the joins that the instruction lists: nobody waits for it there.
static void break_joins(Warp *w, Split *s, const u32 *list) {
    const u32 *joins = list + 1 + list[0];
    for (u32 k = 1; k <= joins[0]; k++) {
        u32 conv = conv_at(w, s, joins[k]);
        if (conv != WL_NONE) conv_forget(w, conv, w->convs.data[conv].parent, s->mask);
    }
    while (s->conv != WL_NONE && !(w->convs.data[s->conv].mask & s->mask))
        conv_change(w, s, w->convs.data[s->conv].parent);
}

bool split_arrive(const Exec *x, Warp *w, u32 at, const SimInsn *in) {
    Split *s = &w->splits[at];
    u32 conv, splits = w->split_count;
    if (in->flags & SIM_BREAK) break_joins(w, s, x->grid->program->lists + in->meets);
    while ((conv = conv_at(w, s, s->pc)) != WL_NONE) {
        conv_forget(w, s->conv, conv, s->mask);  // joins that it has gone past
        conv_change(w, s, conv);
        Conv *c = &w->convs.data[conv];
        c->arrived |= s->mask;
        if (c->arrived != c->mask) {
            split_remove(w, at);
            return true;
        }
        s->mask = c->arrived;
        c->arrived = c->mask = 0;
        conv_change(w, s, c->parent);
    }
    return w->split_count != splits;
}

bool warp_let_go(Warp *w, const Split *s) {
    for (u32 conv = s->conv; conv != WL_NONE; conv = w->convs.data[conv].parent) {
        Conv *c = &w->convs.data[conv];
        if (!c->arrived) continue;
        Split released = {.pc = c->pc, .mask = c->arrived, .frame = c->frame, .conv = c->parent};
        c->mask &= ~c->arrived;
        c->arrived = 0;
        split_add(w, released);
        return true;
    }
    return false;
}

// The lanes of `s` are going to part, and will meet at `pc`.
static bool meet_at(Warp *w, Split *s, u32 pc) {
    if (conv_at(w, s, pc) != WL_NONE) return true;
    u32 conv = conv_new(w, (Conv){.parent = s->conv, .pc = pc, .frame = s->frame, .mask = s->mask, .refs = 1});
    if (conv != WL_NONE) s->conv = conv;
    return conv != WL_NONE;
}

static bool meet_again(const Exec *x, Warp *w, Split *s, const SimInsn *in) {
    const u32 *list = in->meets == WL_NONE ? NULL : x->grid->program->lists + in->meets;
    if (!x->grid->its || !list || list[0] == 0) {
        bool apart = in->reconverge == WL_NONE || (x->grid->its && in->flags & SIM_APART);
        return apart || meet_at(w, s, in->reconverge);
    }
    for (u32 k = 1; k <= list[0]; k++)
        if (!meet_at(w, s, list[k])) return false;
    return true;
}

bool split_diverge(const Exec *x, Warp *w, Split *s, u32 taken, u32 target, u32 fall, const SimInsn *in) {
    if (!meet_again(x, w, s, in)) return false;
    warp_split_off(w, s, taken, target);
    s->pc = fall;
    return true;
}

void leave_meetings(Warp *w, Split *s) {
    u32 until = s->conv;
    while (until != WL_NONE && !w->convs.data[until].is_call) until = w->convs.data[until].parent;
    conv_forget(w, s->conv, until, s->mask);
    conv_change(w, s, until);
}
