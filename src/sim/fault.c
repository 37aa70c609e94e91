// SPDX-License-Identifier: Apache-2.0
// Explanations for people: what went wrong in a kernel, where in the source, for which thread, and what was near the
// address.
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "sim/grid.h"

// CUDA error numbers (documented in the runtime API's cudaError list).
enum {
    CUDA_ILLEGAL_ADDRESS = 700,
    CUDA_ASSERT = 710,
    CUDA_STACK_ERROR = 714,
    CUDA_ILLEGAL_INSTRUCTION = 715,
    CUDA_MISALIGNED_ADDRESS = 716,
    CUDA_INVALID_ADDRESS_SPACE = 717,
    CUDA_INVALID_PC = 718,
    CUDA_LAUNCH_FAILURE = 719,
    CUDA_NOT_SUPPORTED = 801
};

static const struct {
    const char *text;
    u32 code;
} faults[] = {
    [FAULT_NONE] = {"no fault", 0},
    [FAULT_OUT_OF_BOUNDS] = {"out of bounds", CUDA_ILLEGAL_ADDRESS},
    [FAULT_MISALIGNED] = {"misaligned", CUDA_MISALIGNED_ADDRESS},
    [FAULT_READ_ONLY] = {"to read-only memory", CUDA_ILLEGAL_ADDRESS},
    [FAULT_PEER] = {"to memory of another device, without peer access", CUDA_ILLEGAL_ADDRESS},
    [FAULT_WRONG_SPACE] = {"with an address of another space", CUDA_INVALID_ADDRESS_SPACE},
    [FAULT_ASSERT] = {"assertion failed", CUDA_ASSERT},
    [FAULT_TRAP] = {"trap instruction executed", CUDA_LAUNCH_FAILURE},
    [FAULT_BAD_CALL] = {"call or branch to something that is not code", CUDA_INVALID_PC},
    [FAULT_STACK] = {"call stack or local memory used up", CUDA_STACK_ERROR},
    [FAULT_UNSUPPORTED] = {"not supported by the simulator", CUDA_NOT_SUPPORTED},
    [FAULT_BARRIER] = {"invalid barrier number or thread count", CUDA_ILLEGAL_INSTRUCTION},
    [FAULT_BAD_HANDLE] = {"invalid texture or surface handle", CUDA_ILLEGAL_ADDRESS},
    [FAULT_MBARRIER] = {"misuse of an mbarrier", CUDA_LAUNCH_FAILURE},
    [FAULT_BAD_TENSOR] = {"invalid tensor map", CUDA_ILLEGAL_INSTRUCTION},
    [FAULT_BAD_COPY] = {"invalid bulk copy", CUDA_ILLEGAL_INSTRUCTION},
    [FAULT_NO_CTA] = {"in a block that the cluster does not have, or that has exited", CUDA_LAUNCH_FAILURE},
};

static const char *space_name(u8 space) {
    static const char *const names[SPACE_COUNT] = {
        [SPACE_CONST] = "constant",  [SPACE_GLOBAL] = "global", [SPACE_LOCAL] = "local",
        [SPACE_PARAM] = "parameter", [SPACE_SHARED] = "shared", [SPACE_SHARED_CLUSTER] = "distributed shared"};
    return space < SPACE_COUNT && names[space] ? names[space] : "generic";
}

typedef struct Text {
    char *at;
    size_t left;
} Text;

static void say(Text *t, const char *format, ...) WL_PRINTF(2, 3);
static void say(Text *t, const char *format, ...) {
    va_list args;
    va_start(args, format);
    int n = vsnprintf(t->at, t->left, format, args);
    va_end(args);
    size_t used = n < 0 ? 0 : (size_t)n < t->left ? (size_t)n : t->left - 1;
    t->at += used;
    t->left -= used;
}

// "file.cu:12 (inlined at file.cu:40)", or the line of the PTX.
static void say_place(Text *t, const SimProgram *p, u32 pc) {
    const Module *m = p->module;
    const SimFunc *f = program_func_at(p, pc);
    const Function *func = &m->funcs[f->func];
    const Insn *insn = func->insn_count ? &m->insns[func->insns + p->insns[pc].insn] : NULL;
    LocRef loc = insn ? insn->loc : 0;
    const File *file = loc ? module_file(m, m->locs[loc].file) : NULL;
    if (!file) {
        say(t, "line %u of the PTX (build with -lineinfo for source lines)", insn ? insn->line : 0);
        return;
    }
    say(t, "%s:%u", module_text(m, file->path), m->locs[loc].line);
    for (u32 up = m->locs[loc].inlined_at, depth = 0; up && depth < 4; up = m->locs[up].inlined_at, depth++) {
        const File *caller = module_file(m, m->locs[up].file);
        if (caller) say(t, " (inlined at %s:%u)", module_text(m, caller->path), m->locs[up].line);
    }
}

static void say_thread(Text *t, const Warp *w, u32 lane) {
    const Cta *cta = w->cta;
    say(t, "block (%u,%u,%u) thread (%u,%u,%u)", cta->id[0], cta->id[1], cta->id[2], w->tid[0][lane], w->tid[1][lane],
        w->tid[2][lane]);
}

// More than any GPU has: what is so far from its memory is none of it.
static const u64 far = 1ull << 40;

static void say_nearest(Text *t, const Sim *sim, u64 address) {
    enum { NULL_PAGES = 1 << 16 };
    const SimAllocation *a = sim_nearest(sim, address);
    if (address < NULL_PAGES) {
        say(t, address ? "; it is %llu bytes behind a null pointer" : "; it is a null pointer",
            (unsigned long long)address);
        return;
    }
    if (!a) {
        say(t, "; there is no allocation at all");
        return;
    }
    if (address + far < a->address || address > a->address + a->size + far) {
        say(t, "; the GPU has no memory near that: perhaps it is a pointer to memory of the host");
        return;
    }
    const char *name = a->label ? a->label : "";
    say(t, "; the nearest allocation is %s%s0x%llx of %llu byte%s", name, *name ? " at " : "",
        (unsigned long long)a->address, (unsigned long long)a->size, plural(a->size));
    u64 end = a->address + a->size;
    if (address < a->address)
        say(t, ", %llu byte%s behind the address", (unsigned long long)(a->address - address),
            plural(a->address - address));
    else if (address >= end)
        say(t, ", the address is %llu byte%s behind its end", (unsigned long long)(address - end),
            plural(address - end));
    else
        say(t, ", the access crosses its end");
}

static void say_access(Text *t, const Grid *g, const Fault *f, const Exec *x) {
    say(t, "%s %s of %u byte%s at address 0x%llx is %s", space_name(f->space), f->is_store ? "write" : "read", f->width,
        plural(f->width), (unsigned long long)f->address, faults[f->kind].text);
    if (f->space == SPACE_SHARED)
        say(t, " (the block has %u byte%s)", x->shared_size, plural(x->shared_size));
    else if (f->space == SPACE_SHARED_CLUSTER)
        say(t, " (offset %u of the block of rank %u; the cluster has %u blocks with %u bytes)",
            (u32)f->address & SHARED_OFFSET_MASK, (u32)(f->address >> SHARED_RANK_SHIFT) - 1, g->cluster_size,
            x->shared_size);
    else if (f->space == SPACE_LOCAL)
        say(t, " (the thread has %llu bytes)", (unsigned long long)x->local_stride);
    else if (f->space == SPACE_PARAM)
        say(t, " (the kernel has %u bytes of parameters)", x->param_size);
    else if (f->kind == FAULT_PEER) {
        const SimAllocation *a = sim_find(g->sim, f->address);
        say(t, " (of device %u; the kernel runs on device %u; cudaDeviceEnablePeerAccess)", a ? a->device : 0,
            g->kernel->module->device);
    } else if (f->kind == FAULT_OUT_OF_BOUNDS)
        say_nearest(t, g->sim, f->address);
}

void fault_explain(Grid *g, Diag *diag) {
    char buffer[2048];
    Text t = {buffer, sizeof buffer};
    const Exec *x = &g->exec;
    const Fault *f = &x->fault;
    say(&t, "kernel `%s`: ", g->kernel->info.name);
    if (f->kind == FAULT_OUT_OF_BOUNDS || f->kind == FAULT_MISALIGNED || f->kind == FAULT_READ_ONLY ||
        f->kind == FAULT_NO_CTA || f->kind == FAULT_PEER)
        say_access(&t, g, f, x);
    else if (x->message)
        say(&t, "%s", x->message);
    else
        say(&t, "%s", faults[f->kind].text);
    if (f->kind != FAULT_ASSERT) {
        say(&t, ", in ");
        say_thread(&t, x->warp, f->lane);
        say(&t, ", at ");
        say_place(&t, g->program, g->faulting_pc);
    }
    g->sim->fault_code = faults[f->kind].code;
    diag_text(diag, DIAG_ERROR, NULL, 0, 0, "%s", buffer);
}

void overrun_explain(const Exec *x) {
    Grid *g = x->grid;
    if (g->kernel->overran) return;
    g->kernel->overran = true;
    char buffer[2048];
    Text t = {buffer, sizeof buffer};
    say(&t, "kernel `%s`: ", g->kernel->info.name);
    say_access(&t, g, &x->fault, x);
    say(&t, ", in ");
    say_thread(&t, x->warp, x->fault.lane);
    say(&t, ", at ");
    say_place(&t, g->program, (u32)((const PcState *)(const void *)x->count - x->states));
    bool shared = x->fault.space == SPACE_SHARED || x->fault.space == SPACE_SHARED_CLUSTER;
    say(&t, "; a GPU, too, goes on within ");
    if (shared)
        say(&t, "the %u bytes that a block gets for them", cta_shared_end(g, x->shared_size));
    else
        say(&t, "the page of an allocation");
    say(&t, " (--check memory finds all such accesses)");
    g->overrun = mem_copy_str((Str){buffer, strlen(buffer)});
}

// --- deadlock ------------------------------------------------------------------------------------------------------
static void say_barrier(Text *t, const Cta *cta, u32 id) {
    if (id == CLUSTER_BARRIER) {
        u32 live = 0;
        for (u32 i = 0; i < cta->grid->cluster_size; i++) {
            const Cta *c = cluster_cta(cta, i);
            live += c ? c->threads - c->exited_threads : 0;
        }
        say(t, "waits at the cluster's barrier (%u of %u threads arrived)", (cta - cta->rank)->cluster_arrived, live);
        return;
    }
    const Barrier *b = &cta->barriers[id];
    u32 expected = b->open_count ? cta->threads - cta->exited_threads : b->expected;
    say(t, "waits at barrier %u (%u of %u threads arrived)", id, b->arrived, expected);
}

static void say_waiting(Text *t, const Grid *g, const Warp *w, const Split *s) {
    say(t, "\n  block (%u,%u,%u) warp %u lanes 0x%08x: ", w->cta->id[0], w->cta->id[1], w->cta->id[2], w->index,
        s->mask);
    if (s->state == SPLIT_SYNC)
        say(t, "waits for lanes 0x%08x of its warp", s->sync_mask);
    else if (s->state == SPLIT_BARRIER) {
        say_barrier(t, w->cta, s->barrier);
    } else if (s->state == SPLIT_WARPGROUP) {
        say(t, "waits for the other warps of its warpgroup to commit %u groups of wgmma", w->wgmma_awaited);
    } else if (!g->its && s != &w->splits[w->current])
        say(t, "cannot run before the other lanes of its warp (no independent thread scheduling before Volta)");
    else
        say(t, "repeats the same steps forever");
    say(t, " at ");
    say_place(t, g->program, s->pc);
}

static u32 say_converging(Text *t, const Grid *g, const Warp *w) {
    u32 said = 0;
    for (u32 i = 0; i < w->convs.len; i++) {
        const Conv *c = &w->convs.data[i];
        if (!c->arrived || c->arrived == c->mask) continue;
        say(t, "\n  block (%u,%u,%u) warp %u lanes 0x%08x: wait for lanes 0x%08x to reconverge at ", w->cta->id[0],
            w->cta->id[1], w->cta->id[2], w->index, c->arrived, c->mask & ~c->arrived);
        say_place(t, g->program, c->pc);
        said++;
    }
    return said;
}

void deadlock_explain(Grid *g, Diag *diag) {
    char buffer[4096];
    Text t = {buffer, sizeof buffer};
    u32 said = 0;
    say(&t, "kernel `%s` can make no progress:", g->kernel->info.name);
    for (u32 c = 0; c < g->cta_cap; c++) {
        Cta *cta = &g->ctas[c];
        if (!cta->used) continue;
        for (u32 i = 0; i < cta->warp_count && said < 8; i++) {
            const Warp *w = &cta->warps[i];
            for (u32 k = 0; k < w->split_count && said < 8; k++, said++) say_waiting(&t, g, w, &w->splits[k]);
            said += say_converging(&t, g, w);
        }
    }
    if (said >= 8) say(&t, "\n  ...");
    g->sim->fault_code = CUDA_LAUNCH_FAILURE;
    diag_text(diag, DIAG_ERROR, NULL, 0, 0, "%s", buffer);
}
