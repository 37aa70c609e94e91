// SPDX-License-Identifier: Apache-2.0
// kernel-merge: kernels that run one after the other over the same data. Merged, what one writes for the next stays in
// registers, and only one launch is paid for.
#include <math.h>
#include <string.h>

#include "analyze/advice/rule.h"
#include "analyze/advice/shared_arrays.h"

enum { MOST_LINKS = 8, LEAST_TIMES = 2 /* once may be chance */ };
#define NEARLY 1.25     // bytes that go into rows, constants and the like besides
#define MOSTLY 0.5      // of a kernel's launches, those that the next kernel follows
#define NEARLY_ALL 0.9  // of those that any other kernel follows

typedef struct Chain {
    const KernelView *views[MOST_LINKS];
    u32 count;
} Chain;

static u64 threads_of(const ProfileLaunch *l) {
    return (u64)l->grid[0] * l->grid[1] * l->grid[2] * l->block[0] * l->block[1] * l->block[2];
}

static const KernelView *view_of(const AdviceContext *x, u32 function) {
    for (u32 i = 0; i < x->kernel_count; i++)
        if (x->kernels[i]->function->id == function) return x->kernels[i];
    return NULL;
}

static bool has(const Chain *chain, const KernelView *view) {
    for (u32 i = 0; i < chain->count; i++)
        if (chain->views[i] == view) return true;
    return false;
}

// The launch `step` places on, of another kernel on the same stream; NULL: there is none.
static const ProfileLaunch *launch_beside(const ProfileLaunch *launches, u32 count, u32 i, i64 step) {
    i64 at = (i64)i + step;
    if (at < 0 || at >= (i64)count) return NULL;
    const ProfileLaunch *a = &launches[i], *b = &launches[at];
    return a->stream == b->stream && a->device == b->device && b->function != a->function ? b : NULL;
}

static u32 beside(const ProfileLaunch *launches, u32 count, u32 i, u32 function, i64 step) {
    const ProfileLaunch *b = launches[i].function == function ? launch_beside(launches, count, i, step) : NULL;
    return b ? b->function : WL_NONE;
}

// The candidate is that of a majority vote (Boyer and Moore).
u32 launches_beside(const ProfileLaunch *launches, u32 count, u32 function, i64 step) {
    u32 other = WL_NONE, votes = 0, times = 0, all = 0, of_function = 0;
    for (u32 i = 0; i < count; i++) {
        u32 b = beside(launches, count, i, function, step);
        of_function += launches[i].function == function;
        if (b == WL_NONE) continue;
        all++;
        if (!votes) other = b;
        if (b == other)
            votes++;
        else
            votes--;
    }
    for (u32 i = 0; i < count; i++) times += all && beside(launches, count, i, function, step) == other;
    bool mostly = times >= NEARLY_ALL * all && times >= MOSTLY * of_function && times >= LEAST_TIMES;
    return mostly ? other : WL_NONE;
}

static u32 first_launch(const ProfileLaunch *launches, u32 count, u32 function) {
    u32 i = 0;
    while (i < count && launches[i].function != function) i++;
    return i;
}

u32 launches_linked(const ProfileLaunch *launches, u32 count, u32 function, i64 step) {
    u32 other = launches_beside(launches, count, function, step);
    if (other == WL_NONE) return WL_NONE;
    bool later = first_launch(launches, count, other) > first_launch(launches, count, function);
    return later == (step > 0) ? other : WL_NONE;
}

// The same as a kernel that is looked at.
static const KernelView *neighbour(const AdviceContext *x, const ProfileLaunch *launches, u32 count,
                                   const KernelView *view, i64 step) {
    u32 other = launches_linked(launches, count, view->function->id, step);
    return other == WL_NONE ? NULL : view_of(x, other);
}

static bool counted(const KernelView *v, MetricId what) { return v->metrics.present[what]; }

// What each thread accesses of the arrays of a kernel, each array once.
enum { MOST_ARRAYS = 32 };  // that are told apart
typedef struct Arrays {
    u32 bases[MOST_ARRAYS], count;
    f64 bytes[MOST_ARRAYS];
} Arrays;

// Where to add them; NULL: which array it is is not known.
static f64 *bytes_of_array(Arrays *arrays, u32 base) {
    u32 i = 0;
    if (base == WL_NONE) return NULL;
    while (i < arrays->count && arrays->bases[i] != base) i++;
    if (i == MOST_ARRAYS) return NULL;
    if (i == arrays->count) arrays->bases[arrays->count++] = base;
    return &arrays->bytes[i];
}

// Bytes that a thread loads or stores of its own in global memory, outside of loops. What threads share (one word,
// element i % n) is not much; what a thread stores is its own, or it would be a race.
static f64 bytes_of_access(const KernelView *v, u32 access, bool load) {
    const AffineAccess *a = &v->flow.affine->accesses[access];
    const FlowInsn *in = &v->flow.code->insns[a->insn];
    bool own = !a->uniform && (in->is_store || a->stride_kind[0] != AFFINE_STRIDE_UNKNOWN);
    return insn_is_global(in) && own && (load ? in->is_load : in->is_store) ? in->access_bytes : 0;
}

// Bytes of a launch, where they were not counted: of a kernel that has no such accesses in loops, each thread once, and
// no more than the array has, as threads side by side load what is around their element together.
static f64 bytes_of_launch(const KernelView *v, bool load) {
    const Affine *affine = v->flow.affine;
    Arrays arrays = {.count = 0};
    f64 bytes = 0, threads = v->launches.typical ? (f64)threads_of(v->launches.typical) : 0;
    for (u32 i = 0; affine && i < affine->access_count; i++) {
        f64 *array = bytes_of_array(&arrays, affine->accesses[i].base);
        *(array ? array : &bytes) += bytes_of_access(v, i, load);
    }
    bytes *= threads;
    for (u32 i = 0; i < arrays.count; i++) {
        f64 has = (f64)kernel_view_array_bytes(v, &affine->factors[arrays.bases[i]]), all = arrays.bytes[i] * threads;
        bytes += has > 0 ? fmin(all, has) : all;
    }
    return bytes;
}

static f64 loaded(const KernelView *v) {
    return counted(v, METRIC_GLOBAL_LD_BYTES) ? v->metrics.value[METRIC_GLOBAL_LD_BYTES] : bytes_of_launch(v, true);
}

static f64 stored(const KernelView *v) {
    return counted(v, METRIC_GLOBAL_ST_BYTES) ? v->metrics.value[METRIC_GLOBAL_ST_BYTES] : bytes_of_launch(v, false);
}

static f64 stored_by_thread(const KernelView *v) {
    f64 bytes = 0, threads = v->launches.typical ? (f64)threads_of(v->launches.typical) : 0;
    if (counted(v, METRIC_GLOBAL_ST_BYTES)) return threads > 0 ? stored(v) / threads : 0;
    for (u32 i = 0; v->flow.affine && i < v->flow.affine->access_count; i++) bytes += bytes_of_access(v, i, false);
    return bytes;
}

// Values that a place is made of, through as much arithmetic as there is: a coordinate that was loaded, divided by the
// size of a cell, kept within the grid and rounded.
enum { MOST_BEHIND = 128 };

typedef struct Behind {
    u32 nodes[MOST_BEHIND], count;
} Behind;

static void add_behind(Behind *b, u32 node) {
    for (u32 i = 0; i < b->count; i++)
        if (b->nodes[i] == node) return;
    if (node != WL_NONE && b->count < MOST_BEHIND) b->nodes[b->count++] = node;
}

// Goes where data sends it: to what other threads have stored.
static bool gathers(const CasePart *part, u32 pc) {
    const FlowInsn *in = case_insn(part, pc);
    const Chains *chains = part->view->flow.chains;
    Behind behind = {.count = 0};
    if (!in->is_load || (in->space != SPACE_GLOBAL && in->space != SPACE_NONE) || in->address_use == 0xff) return false;
    add_behind(&behind, chains->of_operand[in->operands + in->defs + in->address_use]);
    for (u32 i = 0; i < behind.count; i++) {
        if (node_is_loaded(part, behind.nodes[i], 0)) return true;
        const ChainNode *n = &chains->nodes[behind.nodes[i]];
        for (u32 a = 0; n->insn == WL_NONE && a < n->arg_count; a++) add_behind(&behind, chains->args[n->args + a]);
        const FlowInsn *from = n->insn == WL_NONE ? NULL : case_insn(part, n->insn);
        for (u32 u = 0; from && u < from->uses; u++)
            add_behind(&behind, chains->of_operand[from->operands + from->defs + u]);
    }
    return false;
}

// Each thread makes elements of its own, as many as its code says, of whatever it loads.
static bool makes_elements(const KernelView *v) {
    const FlowCode *code = v->flow.code;
    if (!code || v->flow.loops->loop_count) return false;
    for (u32 pc = 0; pc < code->insn_count; pc++)
        if (code->insns[pc].is_barrier) return false;
    return true;
}

// ... of elements of its own.
static bool element_by_element(const KernelView *v) {
    CasePart part = {.view = v};
    if (!makes_elements(v)) return false;
    for (u32 pc = 0; pc < v->flow.code->insn_count; pc++)
        if (gathers(&part, pc)) return false;
    return true;
}

// Bytes from one thread's element to the next, of the one array that the kernel loads in loops, CTA by CTA each element
// once; 0: it is not so.
static i64 element_of_rows(const KernelView *v) {
    const FlowResults *flow = &v->flow;
    const ProfileLaunch *l = v->launches.typical;
    CasePart part = {.view = v};
    i64 element = 0;
    u32 base = WL_NONE;
    for (u32 i = 0; flow->affine && i < flow->affine->access_count; i++) {
        const AffineAccess *a = &flow->affine->accesses[i];
        const FlowInsn *in = &flow->code->insns[a->insn];
        u32 loop = flow->loops->loop_of[flow->cfg->block_of[a->insn]];
        i64 step = 0;
        if (loop == WL_NONE || !insn_is_global(in)) continue;
        if (in->is_store || in->is_atomic || a->base == WL_NONE || (base != WL_NONE && a->base != base)) return 0;
        base = a->base;
        // Behind a loop that lanes leave in two turns, as what comes before four at once, strides are not known.
        if (a->stride_kind[0] != AFFINE_STRIDE_CONSTANT && !gathers(&part, a->insn)) continue;
        if (a->stride[0] < (i64)in->access_bytes || (element && a->stride[0] != element)) return 0;
        element = a->stride[0];
        AffineStride kind = affine_step(flow->affine, a->form, loop, &step);
        bool all = kind == AFFINE_STRIDE_CONSTANT && l && step && step % (element * (i64)l->block[0]) == 0;
        if (!all && kind != AFFINE_STRIDE_SYMBOLIC) return 0;
    }
    return element;
}

// ... as large as what a thread of the kernel before has stored.
static bool goes_over_stored(const KernelView *first, const KernelView *second) {
    i64 element = element_of_rows(second);
    return element && first->launches.typical && (f64)element == stored_by_thread(first);
}

// The same with what CTAs do together in between: sums over rows, say.
static bool row_by_row(const KernelView *first, const KernelView *v) {
    const FlowResults *flow = &v->flow;
    CasePart part = {.view = v};
    if (!flow->code) return false;
    bool over = goes_over_stored(first, v);
    for (u32 pc = 0; pc < flow->code->insn_count; pc++) {
        const FlowInsn *in = &flow->code->insns[pc];
        bool turns = flow->loops->loop_of[flow->cfg->block_of[pc]] != WL_NONE && !over;
        if (((in->is_load || in->is_store || in->is_atomic) && insn_is_global(in) && (turns || in->is_atomic)) ||
            gathers(&part, pc))
            return false;
    }
    return true;
}

static bool as_many_threads(const KernelView *a, const KernelView *b) {
    const ProfileLaunch *x = a->launches.typical, *y = b->launches.typical;
    return x && y && threads_of(x) == threads_of(y);
}

// Bytes that the second loads, which in loops are taken to be those that the first has stored.
static f64 loaded_after(const KernelView *first, const KernelView *second) {
    bool known = counted(second, METRIC_GLOBAL_LD_BYTES) || !first || !goes_over_stored(first, second);
    return known ? loaded(second) : stored(first);
}

// Each of the bytes that were stored once, and at most as many of something else.
static bool loads_what_was_stored(const KernelView *first, const KernelView *second) {
    f64 bytes = loaded_after(first, second);
    return bytes >= stored(first) / NEARLY && bytes <= 2 * NEARLY * stored(first);
}

// Whether the second may do no more than go on with what the first stored: it loads about as much. Where that was not
// counted, the code has to say so: both without loops and barriers, or rows of what was made element by element.
static bool goes_on(const KernelView *first, const KernelView *second) {
    bool alike = as_many_threads(first, second);
    if (kernel_library(first) || kernel_library(second) || shared_arrays_part(&first, 1, second, false) == 0)
        return false;
    if (!counted(first, METRIC_GLOBAL_ST_BYTES) || !counted(second, METRIC_GLOBAL_LD_BYTES))
        return makes_elements(first) && ((alike && element_by_element(second)) ||
                                         (row_by_row(first, second) && loads_what_was_stored(first, second)));
    return (alike || (makes_elements(first) && row_by_row(first, second))) && loads_what_was_stored(first, second);
}

static void find_chain(const AdviceContext *x, const ProfileLaunch *launches, u32 count, const KernelView *view,
                       Chain *chain) {
    const KernelView *first = view, *before;
    Chain back = {.views = {view}, .count = 1};
    while (back.count < MOST_LINKS && (before = neighbour(x, launches, count, first, -1)) && !has(&back, before) &&
           goes_on(before, first))
        back.views[back.count++] = first = before;
    *chain = (Chain){.views = {first}, .count = 1};
    const KernelView *next;
    while (chain->count < MOST_LINKS && (next = neighbour(x, launches, count, chain->views[chain->count - 1], 1)) &&
           !has(chain, next) && goes_on(chain->views[chain->count - 1], next))
        chain->views[chain->count++] = next;
}

// Each of the words that were stored once, and nothing else: a thread that makes several elements of the first kernel
// has all that one of the second loads.
static bool takes_all_stored(const KernelView *first, const KernelView *second) {
    f64 part = makes_elements(first) && element_by_element(second) ? shared_arrays_part(&first, 1, second, true) : 0;
    return (part < 0 || part == 1) && stored(first) > 0 && loaded(second) == stored(first);
}

// What the next kernel loads of what one stores need not be stored, where both have the same threads, who make one
// thing of it, or where it is all that the next one loads; what is summed up by rows beside others these may want as
// well.
static f64 not_stored(const KernelView *first, const KernelView *second) {
    bool one = as_many_threads(first, second) || goes_over_stored(first, second) || takes_all_stored(first, second);
    return one ? fmin(stored(first), loaded_after(first, second)) : 0;
}

// Nor is it loaded: what those before it have stored, or loaded themselves. Where it is not known whose arrays they
// are, as much as the one before has, and half of what else those before it have.
#define OF_EARLIER 0.5

static f64 not_loaded(const Chain *chain, u32 at) {
    if (!at) return 0;
    f64 before = stored(chain->views[at - 1]), earlier = 0;
    for (u32 i = 0; i + 1 < at; i++) earlier += stored(chain->views[i]);
    f64 all = loaded_after(chain->views[at - 1], chain->views[at]);
    f64 theirs = makes_elements(chain->views[at]) ? shared_arrays_part(chain->views, at, chain->views[at], false) : -1;
    if (theirs >= 0) return all * theirs;
    return fmin(before, all) + OF_EARLIER * fmin(earlier, fmax(all - before, 0));
}

static f64 bytes_left(const Chain *chain) {
    f64 all = 0, gone = 0;
    for (u32 i = 0; i < chain->count; i++) {
        const KernelView *v = chain->views[i], *next = i + 1 < chain->count ? chain->views[i + 1] : NULL;
        all += loaded_after(i ? chain->views[i - 1] : NULL, v) + stored(v);
        gone += not_loaded(chain, i) + (next ? not_stored(v, next) : 0);
    }
    return all > 0 ? 1 - gone / all : 1.0 / chain->count;  // not known: as if each did nothing but load and store
}

f64 merged_bytes_left(const KernelView *first, const KernelView *second) {
    return bytes_left(&(Chain){.views = {first, second}, .count = 2});
}

// What stays of the time of each of them, the longest of which one kernel takes at least: what it stores for the next
// and loads from the one before is not moved. Who goes where data sends it waits for that, not for bytes.
static f64 longest_left(const Chain *chain) {
    f64 longest = 0;
    for (u32 i = 0; i < chain->count; i++) {
        const KernelView *v = chain->views[i];
        f64 all = loaded_after(i ? chain->views[i - 1] : NULL, v) + stored(v), gone = 0;
        if (i + 1 < chain->count) gone += not_stored(v, chain->views[i + 1]);
        gone += not_loaded(chain, i);
        bool bytes = all > 0 && (!makes_elements(v) || element_by_element(v));
        longest = fmax(longest, v->launches.total_ns * (bytes ? 1 - gone / all : 1));
    }
    return longest;
}

// --- short launches, one after the other --------------------------------------------------------------------------
// From the begin of one kernel to that of the next on an H200: on a stream what the host takes for a launch (the median
// of bench/hwref/h200-graph-launch.tsv where the kernel is shorter; 2.6 us on another day: h200-micro.tsv), or the
// kernel's time and 0.95 us more than as nodes of a graph, each of which waits for the one before and begins when that
// has ended.
#define STREAM_NS 3400.0
#define STREAM_GAP_NS 950.0
#define BURST_NS 20000.0  // a longer pause is the host's: it computes, or waits
enum { LEAST_LAUNCHES = 8 };

f64 launches_period(const ProfileLaunch *launches, u32 count, u32 function) {
    f64 sum = 0, times = 0, known = 0;
    for (u32 i = 0; i + 1 < count; i++) {
        const ProfileLaunch *a = &launches[i], *b = &launches[i + 1];
        if (a->function != function || !a->end_ns) continue;
        known++;
        bool next = a->stream == b->stream && a->device == b->device && b->end_ns && b->begin_ns >= a->end_ns;
        if (!next || (f64)(b->begin_ns - a->end_ns) > BURST_NS) continue;
        sum += (f64)(b->begin_ns - a->begin_ns);
        times++;
    }
    return times >= MOSTLY * known && times >= LEAST_LAUNCHES ? sum / times : 0;
}

f64 launch_on_stream(f64 own, f64 period) { return fmax(fmin(period, fmax(STREAM_NS, own + STREAM_GAP_NS)), own); }

static f64 time_on_stream(const KernelView *view, const ProfileLaunch *launches, u32 count) {
    f64 own = view->launches.count ? view->launches.total_ns / view->launches.count : 0;
    if (strcmp(view->provenance, "sampled") != 0) return own;
    return launch_on_stream(own, launches_period(launches, count, view->function->id));
}

// --- as one kernel ---------------------------------------------------------------------------------------------------
// Units of an SM, for which `work` counts already.
static bool is_of_sm(u32 r) {
    return r != RESOURCE_L2 && r != RESOURCE_DRAM && r != RESOURCE_LAUNCH && r != RESOURCE_ATOMIC;
}

// What all SMs share has so much of its time left.
static void shorten_shared(Hit *hit, f64 left) {
    for (u32 r = 0; r < RESOURCE_COUNT; r++)
        if (!is_of_sm(r)) hit_relieve(hit, (Resource)r, hit->c->load.busy[r] * (1 - left));
}

// A thread of the one kernel waits once where those of the others waited one after the other; it computes what they
// did, and moves the bytes that are left, which is the limit. `busy`: the part of the stream's time in which any of
// them runs.
static void become_one(Hit *hit, const Chain *chain, f64 left, f64 busy) {
    const EstimateLoad *load = &hit->c->load;
    EstimateChange *change = &hit->change;
    f64 once = 1.0 / chain->count, computed = merged_issues(hit->c, chain->views, chain->count);
    if (computed <= 0) computed = (1 + once) / 2;  // not known: indices are half of what such kernels compute
    change->work = once * busy;
    change->issues = load->issued * (1 - computed / once);
    for (u32 r = 0; r < RESOURCE_COUNT; r++) {
        bool moves = r == RESOURCE_LSU || r == RESOURCE_L2 || r == RESOURCE_DRAM;
        f64 stays = moves ? left : r == RESOURCE_LAUNCH ? once : computed;
        hit_relieve(hit, (Resource)r, load->busy[r] * (1 - stays * (is_of_sm(r) ? 1 / once : busy)));
    }
}

// A kernel that sums up rows does so afterwards, too, and in place of what was stored for it loads at least as much.
static f64 longest_of_rows(const Chain *chain) {
    f64 longest = 0;
    for (u32 i = 1; i < chain->count; i++)
        if (!as_many_threads(chain->views[i - 1], chain->views[i]))
            longest = fmax(longest, chain->views[i]->launches.total_ns);
    return longest;
}

static void merge(AdviceCase *c, const Chain *chain, const ProfileLaunch *launches, u32 launch_count) {
    f64 ns = 0, fixed = 0, share = 0, shortest = INFINITY, left = bytes_left(chain), own = 0, on_stream = 0;
    f64 overhead = c->gpu && c->gpu->clock_mhz
                       ? (f64)(c->gpu->launch_overhead + c->gpu->launch_end) * 1000 / (f64)c->gpu->clock_mhz
                       : 0;
    for (u32 i = 0; i < chain->count; i++) {
        const ViewLaunches *l = &chain->views[i]->launches;
        ns += l->total_ns;
        shortest = fmin(shortest, l->total_ns);
        share += l->share;
        fixed += fmin(overhead * l->count, 0.95 * l->total_ns);
        own += l->count ? l->total_ns / l->count : 0;
        on_stream += time_on_stream(chain->views[i], launches, launch_count);
    }
    if (ns <= 0 || on_stream <= 0) return;
    Hit *hit = hit_begin(c);
    become_one(hit, chain, left, own / on_stream);
    bool known = counted(c->view, METRIC_GLOBAL_LD_BYTES);
    f64 longest = fmax(longest_left(chain), longest_of_rows(chain));
    hit->change.stays = fmax(known ? shortest : 0, longest) / ns * own / on_stream;  // one of them
    if (on_stream > own) hit->change.stays = fmax(hit->change.stays, STREAM_NS / on_stream);
    hit->share = share;
    hit->of_launch = true;
    hit->doubtful = !known;
    hit_fact(hit, "kernels", chain->count, "kernels",
             "%u kernels follow each other, each of which goes on with what the one before stored", chain->count);
    hit_fact(hit, "launch_overhead_share", 100 * fixed / ns, "%", "%.0f %% of their time is the launches'",
             100 * fixed / ns);
    hit_fact(hit, "intermediate_bytes", 100 * (1 - left), "%",
             "%.0f %% of the bytes are stored by one and loaded by the next", 100 * (1 - left));
    if (on_stream > own)
        hit_fact(hit, "stream_period", on_stream / 1000, "us",
                 "launching all of them takes %.2g us of the stream, in %.2g us of which one of them runs",
                 on_stream / 1000, own / 1000);
    hit_basis(hit, "equation 2: threads wait once instead of %u times, and the bytes that are left are the limit",
              chain->count);
    hit_caution(hit, "only if each thread needs nothing of another thread's results");
    hit_end_kernel(hit, "Merge %s and the kernels before and after it into one", c->view->function->name);
}

// --- CTA by CTA ------------------------------------------------------------------------------------------------------
// Sums over rows and what is made of them, say. Where each CTA has its own, one kernel goes over its part of the arrays
// again when that is still in the L2, or the L1.
static bool still_in_l2(const AdviceCase *c, const KernelView *v, f64 bytes) {
    const u32 *grid = v->launches.typical->grid;
    f64 ctas = (f64)grid[0] * grid[1] * grid[2];
    f64 at_once = c->gpu ? fmin(ctas, (f64)c->gpu->sms * v->occupancy.ctas_per_sm) : 0;
    return c->gpu && at_once > 0 && bytes / ctas * at_once <= (f64)c->gpu->l2_usable;
}

static void merge_ctas(AdviceCase *c, const KernelView *first, const KernelView *second) {
    HandedOn handed;
    if (!shared_arrays_by_cta(first, second, &handed) || !still_in_l2(c, second, handed.again)) return;
    f64 ns = first->launches.total_ns + second->launches.total_ns, gone = handed.again / handed.all;
    f64 of_second = second->launches.total_ns * (1 - gone), left = (first->launches.total_ns + of_second) / ns;
    Hit *hit = hit_begin(c);
    hit_text(hit, TEXT_ctas_of_rows);
    hit->change.work = left;
    hit->change.stays = fmax(first->launches.total_ns, of_second) / ns;
    shorten_shared(hit, left);
    hit->share = first->launches.share + second->launches.share;
    hit->of_launch = true;
    hit->doubtful = true;
    hit_fact(hit, "bytes_again", handed.again, "bytes", "%.3g MB are loaded by %s, and %.3g us later by %s again",
             handed.again / 1e6, first->function->name, first->launches.total_ns / first->launches.count / 1e3,
             second->function->name);
    hit_basis(hit, "the second kernel's time without the %.0f %% of its bytes that the first has loaded", 100 * gone);
    hit_caution(hit, "the CTA has to meet (__syncthreads) between its result and what is made of it");
    hit_end_kernel(hit, "Merge %s and %s into one, each CTA of which makes its result and goes on with it",
                   first->function->name, second->function->name);
}

// Once, for the kernel of the two that takes more time.
static void merge_with_neighbours(AdviceCase *c, const ProfileLaunch *launches, u32 count) {
    const KernelView *before = neighbour(c->context, launches, count, c->view, -1),
                     *after = neighbour(c->context, launches, count, c->view, 1);
    f64 own = c->view->launches.total_ns;
    if (before && before->launches.total_ns < own) merge_ctas(c, before, c->view), merge_map(c, before, c->view);
    if (after && after->launches.total_ns <= own) merge_ctas(c, c->view, after), merge_map(c, c->view, after);
}

// --- as a graph ------------------------------------------------------------------------------------------------------
static void launch_as_graph(AdviceCase *c, const ProfileLaunch *launches, u32 count) {
    const ViewLaunches *l = &c->view->launches;
    f64 own = l->count ? l->total_ns / l->count : 0, before = time_on_stream(c->view, launches, count), after = own;
    if (own <= 0 || after >= before) return;
    f64 period = launches_period(launches, count, c->view->function->id);
    Hit *hit = hit_begin(c);
    hit_text(hit, TEXT_graph);
    hit->change.work = hit->change.stays = after / before;
    shorten_shared(hit, after / before);
    hit->of_launch = true;
    hit_fact(hit, "launch_time", own / 1000, "us",
             "a launch takes %.2g us; the next one begins %.2g us after its begin", own / 1000, period / 1000);
    hit_fact(hit, "launch_period", STREAM_NS / 1000, "us",
             "a stream begins a kernel every %.1f us at best, and %.2f us after the end of the one before",
             STREAM_NS / 1000, STREAM_GAP_NS / 1000);
    hit_basis(hit, "from launch to launch %.2g us instead of %.2g us", after / 1000, before / 1000);
    hit_caution(hit, "only where the host launches the same kernels again and again; one kernel instead saves more");
    hit_end_kernel(hit, "Launch %s and what follows it as one CUDA graph", c->view->function->name);
}

// The advice to merge is given once, for the kernel of the chain that takes most time.
void rule_kernel_merge(AdviceCase *c) {
    const ProfileLaunch *launches;
    u32 count;
    Chain chain;
    if (profile_launches(c->context->profile, 0, &launches, &count, c->context->diag) != STATUS_OK) return;
    launch_as_graph(c, launches, count);
    merge_with_neighbours(c, launches, count);
    find_chain(c->context, launches, count, c->view, &chain);
    if (chain.count < 2) return;
    u32 longest = 0;
    for (u32 i = 1; i < chain.count; i++)
        if (chain.views[i]->launches.total_ns > chain.views[longest]->launches.total_ns) longest = i;
    if (chain.views[longest] != c->view) return;
    merge(c, &chain, launches, count);
}
