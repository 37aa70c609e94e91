// SPDX-License-Identifier: Apache-2.0
// Counters at intervals. A track holds the points of one kind of unit; when it is full, neighbouring points are joined
// and it goes on with points twice as long, so that its size is bounded and nothing is lost but resolution.
#include "sim/time/timeline_inside.h"

#include <string.h>

#include "sim/time/machine.h"
#include "sim/time/sums.h"

const TimeMetric time_metrics[] = {
#define TIME_SM(name) SMC_##name
#define TIME_STALL(name) STALL_##name
#define TIME_SLOT(name) STALL_##name
#define TIME_MEM(name) MEMC_##name
#define TIME_CYCLES(name) TIMELINE_##name
#define TIME_TOTAL(metric, source, counter, factor) \
    {METRIC_##metric, TIME_SOURCE_##source, TIME_##source(counter), TIME_FACTOR_##factor, true},
#define TIME_SERIES(metric, source, counter, factor) \
    {METRIC_##metric, TIME_SOURCE_##source, TIME_##source(counter), TIME_FACTOR_##factor, false},
#include "sim/time/time_metrics.def"
#undef TIME_TOTAL
#undef TIME_SERIES
};
const u32 time_metric_count = WL_COUNT(time_metrics);

TimelineUnit time_metric_unit(const TimeMetric *row) {
    static const u8 scopes[] = {
#define MEM_COUNTER(id, scope, help) [MEMC_##id] = MEM_SCOPE_##scope,
#include "sim/time/memsys_counters.def"
#undef MEM_COUNTER
    };
    static const TimelineUnit units[] = {[MEM_SCOPE_NOC] = TIMELINE_PORT,
                                         [MEM_SCOPE_SLICE] = TIMELINE_SLICE,
                                         [MEM_SCOPE_CHANNEL] = TIMELINE_CHANNEL,
                                         [MEM_SCOPE_BANK] = TIMELINE_BANK};
    switch ((TimeSource)row->source) {
    case TIME_SOURCE_MEM: return units[scopes[row->counter]];
    case TIME_SOURCE_CYCLES: return (TimelineUnit)row->counter;
    default: return TIMELINE_SM;
    }
}

// --- groups ------------------------------------------------------------------------------------------------------
static bool in_group(const TimeMetric *row, TimelineUnit unit) {
    bool native = unit == TIMELINE_GPU || time_metric_unit(row) == unit;
    return native && metric_has_scope((MetricId)row->metric, timeline_unit_scope(unit));
}

static u32 column_of(const Group *group, MetricId metric) {
    u32 at = 0;
    while (at < group->metrics && group->ids[at] != metric) at++;
    return at;
}

// Where among what an SM counts (time_sm_values) the counter of a row lies.
static u32 value_of(const TimeMetric *row) {
    static const u16 first[] = {
        [TIME_SOURCE_SM] = 0, [TIME_SOURCE_STALL] = SM_STALLS, [TIME_SOURCE_SLOT] = SM_SLOT_STALLS};
    return first[row->source] + row->counter;
}

static bool is_term(const TimeMetric *row) { return row->source < TIME_SOURCE_MEM && row->factor == TIME_FACTOR_ONE; }

static Status make_group(Timeline *t, TimelineUnit unit) {
    Group *group = &t->groups[unit];
    group->units = t->units[unit];
    group->empty = WL_NONE;
    group->ids = ARENA_ARRAY(&t->arena, MetricId, time_metric_count);
    group->row = ARENA_ARRAY(&t->arena, const TimeMetric *, time_metric_count);
    group->column = ARENA_ARRAY(&t->arena, u32, time_metric_count);
    group->term = ARENA_ARRAY(&t->arena, Term, time_metric_count);
    if (!group->ids || !group->row || !group->column || !group->term) return STATUS_NO_MEMORY;
    for (u32 i = 0; i < time_metric_count; i++) {
        const TimeMetric *row = &time_metrics[i];
        if (!in_group(row, unit)) continue;
        u32 column = column_of(group, (MetricId)row->metric);
        if (column == group->metrics) group->ids[group->metrics++] = (MetricId)row->metric;
        if (is_term(row)) group->term[group->terms++] = (Term){value_of(row), column * group->units};
        if (row->source == TIME_SOURCE_SM && row->counter == SMC_SLOTS_EMPTY) group->empty = column;
        group->row[group->rows] = row;
        group->column[group->rows++] = column;
    }
    group->now = ARENA_ARRAY(&t->arena, u64, (u64)group->metrics * group->units + 1);
    return group->now ? STATUS_OK : STATUS_NO_MEMORY;
}

static u64 scaled(const Timeline *t, const TimeMetric *row, u64 value) {
    return row->factor == TIME_FACTOR_ONE ? value : (u64)((f64)value * t->factors[row->factor]);
}

// Of SMs that have not been furnished, only time has passed. What is a sum of other counters is one of their sums.
static void sum_sms(Timeline *t) {
    u32 furnished = 0;
    u64 empty = 0, not_eligible = 0;
    for (u32 i = 0; i < t->units[TIMELINE_SM]; i++) {
        const Sm *sm = &t->machine->sms[i];
        if (sm->furnished)
            t->furnished[furnished++] = sm->values, not_eligible += sm->not_eligible;
        else
            empty += sm->counters[SMC_SLOTS_EMPTY];
    }
    sums_rows(t->sm_sums, t->furnished, furnished, SM_VALUES);
    sm_sum_up_values(t->sm_sums, not_eligible, t->gpu->issue_interval);
    t->sm_sums[SMC_SLOTS_EMPTY] += empty;
}

// A counter of the memory system, by unit, as of this cycle.
static const u64 *read_counter(Timeline *t, u32 counter) {
    u64 cycle = time_now(t->machine);
    if (t->memory[counter].read != cycle)
        t->memory[counter].values = memsys_counter(time_memsys(t->machine), (MemCounter)counter);
    t->memory[counter].read = cycle;
    return t->memory[counter].values;
}

// What was read may have changed since: groups are read again, also in the same cycle.
static void forget(Timeline *t) {
    for (u32 unit = 0; unit < TIMELINE_UNIT_COUNT; unit++) t->groups[unit].read = UINT64_MAX;
    for (u32 i = 0; i < MEM_COUNTER_COUNT; i++) t->memory[i].read = UINT64_MAX;
}

static u64 sum_memory(Timeline *t, const TimeMetric *row) {
    return sums_all(read_counter(t, row->counter), t->units[time_metric_unit(row)]);
}

// What SMs count goes to the columns of unit `unit`.
static void add_terms(const Group *group, const u64 *from, u32 unit) {
    u64 *to = group->now + unit;
    const Term *term = group->term;
    _Pragma("GCC unroll 4") for (u32 i = 0, count = group->terms; i < count; i++) to[term[i].at] += from[term[i].value];
}

static void read_gpu(Timeline *t, u64 cycle) {
    Group *group = &t->groups[TIMELINE_GPU];
    sum_sms(t);
    add_terms(group, t->sm_sums, 0);
    bool summed[MEM_COUNTER_COUNT] = {false};
    for (u32 r = 0; r < group->rows; r++) {
        const TimeMetric *row = group->row[r];
        if (is_term(row)) continue;
        bool memory = row->source == TIME_SOURCE_MEM;
        if (memory && !summed[row->counter]) t->memory_sums[row->counter] = sum_memory(t, row);
        if (memory) summed[row->counter] = true;
        u64 sum = memory                              ? t->memory_sums[row->counter]
                  : row->source == TIME_SOURCE_CYCLES ? cycle * t->units[time_metric_unit(row)]
                                                      : t->sm_sums[value_of(row)];
        group->now[group->column[r]] += scaled(t, row, sum);
    }
}

static void read_sms(Timeline *t, u64 cycle) {
    Group *group = &t->groups[TIMELINE_SM];
    Sm *sms = t->machine->sms;
    for (u32 sm = 0; sm < group->units; sm++) {
        if (sms[sm].furnished)
            sm_sum_up(&sms[sm]), add_terms(group, sms[sm].values, sm);
        else if (group->empty != WL_NONE)
            group->now[group->empty * group->units + sm] += sms[sm].counters[SMC_SLOTS_EMPTY];
    }
    for (u32 r = 0; r < group->rows; r++) {
        const TimeMetric *row = group->row[r];
        if (is_term(row)) continue;
        u64 *to = group->now + group->column[r] * group->units;
        for (u32 sm = 0; sm < group->units; sm++)
            to[sm] += scaled(t, row, row->source == TIME_SOURCE_CYCLES ? cycle : sms[sm].values[value_of(row)]);
    }
}

static void read_memory(Timeline *t, Group *group, u64 cycle) {
    u32 columns = 0;  // begun: in the order of their first rows (make_group)
    for (u32 r = 0; r < group->rows; r++) {
        const TimeMetric *row = group->row[r];
        const u64 *from = row->source == TIME_SOURCE_CYCLES ? NULL : read_counter(t, row->counter);
        u64 *to = group->now + group->column[r] * group->units;
        bool plain = from && row->factor == TIME_FACTOR_ONE, first = group->column[r] == columns;  // most are both
        if (plain && !first) sums_add(to, from, group->units);
        if (plain && first) memcpy(to, from, sizeof *to * group->units);
        for (u32 u = 0; !plain && u < group->units; u++)
            to[u] = (first ? 0 : to[u]) + scaled(t, row, from ? from[u] : cycle);
        columns += first;
    }
}

// Whether a group has still what was read last: without commands, the counters of banks stay as they are.
static bool is_unchanged(Timeline *t, TimelineUnit unit) {
    if (unit != TIMELINE_BANK) return false;
    timeline_read_group(t, TIMELINE_GPU);
    const u64 *sums = t->memory_sums;
    u64 commands = sums[MEMC_DRAM_READS] + sums[MEMC_DRAM_WRITES] + sums[MEMC_DRAM_ACTIVATES];
    if (t->bank_commands == commands) return true;
    t->bank_commands = commands;
    return false;
}

void timeline_read_group(Timeline *t, TimelineUnit unit) {
    Group *group = &t->groups[unit];
    u64 cycle = time_now(t->machine);
    if (group->read == cycle) return;
    group->read = cycle;
    if (is_unchanged(t, unit)) return;
    if (unit == TIMELINE_GPU || unit == TIMELINE_SM)
        memset(group->now, 0, sizeof *group->now * group->units * group->metrics);
    switch (unit) {
    case TIMELINE_GPU: read_gpu(t, cycle); break;
    case TIMELINE_SM: read_sms(t, cycle); break;
    default: read_memory(t, group, cycle);
    }
}

// --- tracks ------------------------------------------------------------------------------------------------------
// Values of a track; points that every track may have; values that may be read at every interval.
enum { TRACK_VALUES = 1 << 19, TRACK_LEAST = 16, TRACK_WIDTH = 1024 };

// At least `count` values at *block, whose content is kept.
static Status have(u64 **block, u64 *cap, u64 count) {
    if (count <= *cap) return STATUS_OK;
    u64 *bigger = mem_resize(*block, sizeof *bigger * count);
    if (!bigger) return STATUS_NO_MEMORY;
    *block = bigger;
    *cap = count;
    return STATUS_OK;
}

// A track that was used before keeps its memory.
static Status track_begin(Track *track, u32 width, u64 first, u64 step) {
    u32 most = width ? TRACK_VALUES / width : 0;
    most = most > TIMELINE_POINTS ? TIMELINE_POINTS : most < TRACK_LEAST ? TRACK_LEAST : most & ~1u;
    for (u32 part = width; part > TRACK_WIDTH; part /= 2) step *= 2;
    track->width = width;
    track->points = 0;
    track->most = most;
    track->first = first;
    track->step = step;
    return have(&track->base, &track->base_cap, width);
}

static void join(Track *track) {
    for (u32 p = 0; p < track->points / 2; p++) {
        const u64 *from = track->values + (u64)p * 2 * track->width;
        u64 *to = track->values + (u64)p * track->width;
        memmove(to, from, sizeof *to * track->width);
        sums_add(to, from + track->width, track->width);
    }
    track->points /= 2;
    track->step *= 2;
}

static Status add_point(Track *track, const u64 *now) {
    u64 used = (u64)track->points * track->width,
        room = used > track->width * TRACK_LEAST ? used : track->width * TRACK_LEAST;
    if (used + track->width > track->value_cap) TRY(have(&track->values, &track->value_cap, used + room));
    sums_note(track->values + used, now, track->base, track->width);
    if (++track->points == track->most) join(track);
    return STATUS_OK;
}

static u64 track_edge(const Track *track) { return track->first + track->points * track->step; }

// Points up to `cycle`. When the machine has passed several at once, the first of them has it all.
static Status advance(Track *track, const u64 *now, u64 cycle) {
    while (track_edge(track) + track->step <= cycle) TRY(add_point(track, now));
    return STATUS_OK;
}

static const u64 *read_unit(Timeline *t, TimelineRun *run, TimelineUnit unit) {
    if (unit == TIMELINE_PC) {
        memset(run->issued, 0, sizeof *run->issued * run->grid->program->insn_count);
        time_run_issued(run->time, run->issued);
        return run->issued;
    }
    timeline_read_group(t, unit);
    return t->groups[unit].now;
}

// The bases of banks, of which there are thousands, are those of t->bank_commands: a launch that takes the memory of
// another need not copy them while there are no commands.
static void note_base(const Timeline *t, TimelineRun *run, TimelineUnit unit) {
    if (unit == TIMELINE_BANK) run->base_commands = run->failed ? UINT64_MAX : t->bank_commands;
}

static void watch(void *context, TimeMachine *machine, u64 cycle) {
    Timeline *t = context;
    (void)machine;
    for (u32 i = 0; i < t->runs.len; i++) {
        TimelineRun *run = t->runs.data[i];
        for (u32 unit = 0; unit < TIMELINE_UNIT_COUNT && !run->failed; unit++) {
            Track *track = &run->tracks[unit];
            if (!track->width || track_edge(track) + track->step > cycle) continue;
            run->failed = advance(track, read_unit(t, run, (TimelineUnit)unit), cycle) != STATUS_OK;
            note_base(t, run, (TimelineUnit)unit);
        }
    }
}

void timeline_finish_tracks(Timeline *t, TimelineRun *run) {
    u64 cycle = time_now(t->machine);
    for (u32 unit = 0; unit < TIMELINE_UNIT_COUNT && !run->failed; unit++) {
        Track *track = &run->tracks[unit];
        if (!track->width) continue;
        const u64 *now = read_unit(t, run, (TimelineUnit)unit);
        if (unit == TIMELINE_BANK && t->bank_commands == run->begin_commands) {  // nothing to tell
            track->width = 0;
            continue;
        }
        run->failed = advance(track, now, cycle) != STATUS_OK;
        if (!run->failed && cycle > track_edge(track)) run->failed = add_point(track, now) != STATUS_OK;
        note_base(t, run, (TimelineUnit)unit);
    }
}

// --- runs --------------------------------------------------------------------------------------------------------
static Status begin_tracks(Timeline *t, TimelineRun *run) {
    u64 first = time_now(t->machine) / t->interval * t->interval;
    u32 insns = run->grid->program->insn_count;
    TRY(have(&run->issued, &run->issued_cap, insns));
    for (u32 unit = 0; unit < TIMELINE_UNIT_COUNT; unit++) {
        const Group *group = &t->groups[unit];
        u32 width = unit == TIMELINE_PC ? insns : group->units * group->metrics;
        run->tracks[unit].width = 0;
        if (!width) continue;
        TRY(track_begin(&run->tracks[unit], width, first, t->interval));
        const u64 *now = read_unit(t, run, (TimelineUnit)unit);
        bool there = unit == TIMELINE_BANK && run->base_commands == t->bank_commands;
        if (!there) memcpy(run->tracks[unit].base, now, sizeof *now * width);
        note_base(t, run, (TimelineUnit)unit);
    }
    run->begin_commands = t->bank_commands;
    return STATUS_OK;
}

static void run_free(TimelineRun *run) {
    if (!run) return;
    for (u32 unit = 0; unit < TIMELINE_UNIT_COUNT; unit++) {
        mem_free(run->tracks[unit].base);
        mem_free(run->tracks[unit].values);
    }
    mem_free(run->begin);
    mem_free(run->issued);
    mem_free(run);
}

static Status run_start(Timeline *t, TimelineRun *run) {
    const Group *gpu = &t->groups[TIMELINE_GPU];
    if (!run->begin) run->begin = mem_alloc(sizeof *run->begin * (gpu->metrics + 1));
    if (!run->begin) return STATUS_NO_MEMORY;
    timeline_read_group(t, TIMELINE_GPU);
    run->begin_cycle = time_now(t->machine);
    memcpy(run->begin, gpu->now, sizeof *gpu->now * gpu->metrics);
    return t->interval ? begin_tracks(t, run) : STATUS_OK;
}

static void give_back(Timeline *t, TimelineRun *run) {
    if (t->spare) {
        run_free(run);
    } else {
        t->spare = run;
    }
}

Status timeline_begin(Timeline *t, TimeRun *time, Grid *grid, TimelineRun **run) {
    *run = NULL;
    TimelineRun *made = t->spare ? t->spare : mem_zero(1, sizeof *made);
    if (!made) return STATUS_NO_MEMORY;
    if (!t->spare) made->base_commands = UINT64_MAX;
    t->spare = NULL;
    made->time = time;
    made->grid = grid;
    made->overlapped = made->failed = false;
    Status status = run_start(t, made);
    if (status == STATUS_OK) status = vec_push(&t->runs, made);
    if (status != STATUS_OK) {
        give_back(t, made);
        return status;
    }
    for (u32 i = 0; t->runs.len > 1 && i < t->runs.len; i++) t->runs.data[i]->overlapped = true;
    *run = made;
    return STATUS_OK;
}

void timeline_drop(Timeline *t, TimelineRun *run) {
    if (!run) return;
    u32 kept = 0;
    for (u32 i = 0; i < t->runs.len; i++)
        if (t->runs.data[i] != run) t->runs.data[kept++] = t->runs.data[i];
    t->runs.len = kept;
    give_back(t, run);
}

Status timeline_end(Timeline *t, TimelineRun *run, const TimeResult *result, u32 launch) {
    forget(t);
    timeline_finish_tracks(t, run);
    Status status = timeline_record(t, run, result, launch);
    timeline_drop(t, run);
    return status;
}

// --- the machine -------------------------------------------------------------------------------------------------
static void count_units(Timeline *t) {
    const MemSys *memory = time_memsys(t->machine);
    t->units[TIMELINE_GPU] = 1;
    t->units[TIMELINE_SM] = time_sms(t->machine);
    t->units[TIMELINE_PORT] = memsys_units(memory, MEM_SCOPE_NOC);
    t->units[TIMELINE_SLICE] = memsys_units(memory, MEM_SCOPE_SLICE);
    t->units[TIMELINE_CHANNEL] = memsys_units(memory, MEM_SCOPE_CHANNEL);
    t->units[TIMELINE_BANK] = memsys_units(memory, MEM_SCOPE_BANK);
}

Status timeline_create(TimeMachine *machine, const GpuModel *gpu, u64 interval, Timeline **timeline) {
    *timeline = NULL;
    Timeline *t = mem_zero(1, sizeof *t);
    if (!t) return STATUS_NO_MEMORY;
    t->machine = machine;
    t->gpu = gpu;
    u64 quantum = time_quantum(machine);
    t->interval = (interval + quantum - 1) / quantum * quantum;
    t->factors[TIME_FACTOR_ONE] = 1;
    t->factors[TIME_FACTOR_WARPS] = (f64)(gpu->max_threads_per_sm / LANES);
    f64 burst = gpu->t_burst ? (f64)gpu->dram_burst / (f64)gpu->t_burst : 0;  // bytes per cycle of the DRAM clock
    t->factors[TIME_FACTOR_DRAM_BYTES] = burst * (f64)gpu->dram_clock_mhz / (f64)gpu->clock_mhz;
    count_units(t);
    t->furnished = ARENA_ARRAY(&t->arena, const u64 *, t->units[TIMELINE_SM] + 1);
    Status status = t->furnished ? STATUS_OK : STATUS_NO_MEMORY;
    for (u32 unit = 0; unit < TIMELINE_UNIT_COUNT && status == STATUS_OK; unit++)
        status = make_group(t, (TimelineUnit)unit);
    forget(t);
    if (status != STATUS_OK) {
        timeline_destroy(t);
        return status;
    }
    TimeWatcher watcher = {.interval = watch, .context = t, .cycles = t->interval};
    time_watch(machine, t->interval ? &watcher : NULL);
    *timeline = t;
    return STATUS_OK;
}

void timeline_destroy(Timeline *t) {
    if (!t) return;
    if (t->interval) time_watch(t->machine, NULL);
    while (t->runs.len) timeline_drop(t, t->runs.data[0]);
    run_free(t->spare);
    vec_free(&t->runs);
    vec_free(&t->tail);
    arena_free(&t->arena);
    mem_free(t);
}
