// SPDX-License-Identifier: Apache-2.0
// A timed launch as records: totals, stalls by instruction, causes, samples, latencies, timelines.
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "sim/time/machine.h"
#include "sim/time/sample.h"
#include "sim/time/sums.h"
#include "sim/time/timeline_inside.h"

typedef struct Out {
    Timeline *timeline;
    TimelineRun *run;
    TimeResult result;
    Sink *sink;
    u32 launch, source;
    u64 *totals;  // by column of the GPU's group: what the launch added
    Arena scratch;
} Out;

// A count of what was simulated in detail, as one of the whole launch.
static u64 scaled(const Out *out, u64 count) {
    return out->result.scale == 1 ? count : (u64)((f64)count * out->result.scale + 0.5);
}

// --- totals ------------------------------------------------------------------------------------------------------
typedef struct Counts {
    f64 values[METRIC_COUNT];  // 0: nothing to tell
} Counts;

static void add(Counts *counts, MetricId metric, f64 value) { counts->values[metric] = value; }

// The end of a launch is known before the machine gets there: nothing is issued until then.
static f64 unwatched_slots(const Out *out) {
    const TimeMachine *machine = out->timeline->machine;
    f64 elapsed = (f64)(out->result.detail_end - out->result.begin);
    f64 watched = (f64)(time_now(machine) - out->run->begin_cycle);
    return elapsed > watched ? (elapsed - watched) * time_sms(machine) * time_schedulers(machine) : 0;
}

// What the machine's counters say, but for time itself: that is the launch's own.
static void add_machine(const Out *out, Counts *counts) {
    const Timeline *t = out->timeline;
    const Group *gpu = &t->groups[TIMELINE_GPU];
    f64 elapsed = (f64)(out->result.end - out->result.begin);
    bool done[METRIC_COUNT] = {false};
    for (u32 r = 0; r < gpu->rows; r++) {
        const TimeMetric *row = gpu->row[r];
        if (!row->total || done[row->metric]) continue;
        done[row->metric] = true;
        u32 column = gpu->column[r];
        f64 value = (f64)out->totals[column];
        if (row->metric == METRIC_ISSUE_EMPTY) value += unwatched_slots(out);
        value *= out->result.scale;
        if (row->source == TIME_SOURCE_CYCLES)
            value = elapsed * t->units[time_metric_unit(row)] * t->factors[row->factor];
        add(counts, (MetricId)row->metric, value);
    }
}

static u64 counter_total(const Out *out, MetricId metric) {
    const Group *gpu = &out->timeline->groups[TIMELINE_GPU];
    for (u32 c = 0; c < gpu->metrics; c++)
        if (gpu->ids[c] == metric) return scaled(out, out->totals[c]);
    return 0;
}

static void add_launch(const Out *out, Counts *counts) {
    const Grid *grid = out->run->grid;
    const GpuModel *gpu = out->timeline->gpu;
    u32 threads = grid->block[0] * grid->block[1] * grid->block[2], warps = (threads + LANES - 1) / LANES;
    u32 fit = out->result.ctas_per_sm;
    SimKernelInfo info = grid->kernel->info;
    info.registers = out->result.registers;
    GpuOccupancy limits = sim_occupancy_limits(gpu, &info, threads, grid->dynamic_shared);
    f64 active = (f64)counter_total(out, METRIC_SM_ACTIVE);
    add(counts, METRIC_DURATION, time_ns(out->timeline->machine, out->result.end - out->result.begin));
    add(counts, METRIC_WARPS_THEORETICAL, active * fit * warps);
    add(counts, METRIC_REGISTERS, out->result.registers);
    if (fit) add(counts, METRIC_WAVES, (f64)grid->cta_count / ((f64)fit * time_sms(out->timeline->machine)));
    add(counts, METRIC_LIMIT_BLOCKS, limits.by_ctas);
    add(counts, METRIC_LIMIT_WARPS, limits.by_warps);
    add(counts, METRIC_LIMIT_REGISTERS, limits.by_registers);
    add(counts, METRIC_LIMIT_SHARED, limits.by_shared);
}

// In the order of their ids, as a profile keeps them.
static Status write_totals(Out *out) {
    Counts counts = {0};
    RecordCount rows[METRIC_COUNT];
    u32 kept = 0;
    add_machine(out, &counts);
    add_launch(out, &counts);
    for (u32 m = 0; m < METRIC_COUNT; m++)
        if (counts.values[m] != 0) rows[kept++] = (RecordCount){.metric = m, .value = counts.values[m]};
    RecordLaunchCounts head = {.launch = out->launch, .count = kept};
    return sink_write(out->sink, RECORD_LAUNCH_COUNTS, &head, rows, sizeof *rows * kept);
}

static Status write_time(Out *out) {
    const TimeResult *r = &out->result;
    const TimeMachine *machine = out->timeline->machine;
    RecordLaunchTime time = {.launch = out->launch,
                             .source = out->source,
                             .begin_cycle = r->begin,
                             .end_cycle = r->end,
                             .first_cta_cycle = r->first_cta,
                             .last_cta_cycle = r->last_cta,
                             .begin_ns = time_ns(machine, r->begin),
                             .end_ns = time_ns(machine, r->end),
                             .registers = r->registers,
                             .ctas_per_sm = r->ctas_per_sm,
                             .overlapped = out->run->overlapped};
    return sink_write(out->sink, RECORD_LAUNCH_TIME, &time, NULL, 0);
}

// Bucket b holds loads of 2^(b/2) cycles and more, times 1.5 for odd b.
static u32 latency_low(u32 bucket) {
    u32 power = 1u << bucket / 2;
    return bucket % 2 ? power + power / 2 : power;
}

static Status write_latencies(Out *out) {
    RecordLatency rows[LATENCY_BUCKETS];
    u32 count = 0;
    for (u32 b = 0; b < LATENCY_BUCKETS; b++) {
        u32 low = b ? latency_low(b) : 0, high = b + 1 < LATENCY_BUCKETS ? latency_low(b ? b + 1 : 2) : UINT32_MAX;
        u64 loads = scaled(out, out->result.load_latency[b]);
        if (loads) rows[count++] = (RecordLatency){low, high, loads};
    }
    RecordLatencies head = {.launch = out->launch, .source = out->source, .count = count};
    return count ? sink_write(out->sink, RECORD_LATENCIES, &head, rows, sizeof *rows * count) : STATUS_OK;
}

// --- stalls ------------------------------------------------------------------------------------------------------
static Status write_stall_names(Out *out) {
    for (u32 i = 0; i < STALL_COUNT; i++) {
        RecordStallName head = {.source = out->source, .stall = i};
        char tail[256];
        int size = snprintf(tail, sizeof tail, "%s%c%s%c", stall_names[i], 0, stall_helps[i], 0);
        TRY(sink_write(out->sink, RECORD_STALL_NAME, &head, tail, (size_t)size));
    }
    out->timeline->named = true;
    return STATUS_OK;
}

typedef struct Place {
    u32 function, pc;  // of the records
} Place;

static Place place_of(const Out *out, u32 pc) {
    const Grid *grid = out->run->grid;
    const SimProgram *p = grid->program;
    for (u32 f = 0; f < p->func_count; f++) {
        const SimFunc *func = &p->funcs[f];
        if (pc - func->entry < func->insn_count)
            return (Place){grid->kernel->module->function_ids[func->func], pc - func->entry};
    }
    return (Place){0, 0};
}

typedef Vec(RecordPcCount) PcCounts;

static Status add_pc(PcCounts *rows, u32 pc, u32 metric, f64 value) {
    return value != 0 ? vec_push(rows, ((RecordPcCount){.pc = pc, .metric = metric, .value = value})) : STATUS_OK;
}

// Scheduler cycles that were lost for device memory, shared out to instructions by the cycles that warps waited there
// for it while their schedulers issued nothing.
static f64 exposed_share(const Out *out) {
    const TimeResult *r = &out->result;
    u64 all = 0;
    for (u32 pc = 0; pc < out->run->grid->program->insn_count; pc++) all += r->pcs[pc].latency[STALL_LONG_SCOREBOARD];
    return all ? (f64)r->slot_stalls[STALL_LONG_SCOREBOARD] / (f64)all : 0;
}

// The reasons that have a metric.
typedef struct StallRows {
    const TimeMetric *row[STALL_COUNT];
    u32 count;
} StallRows;

static StallRows stall_rows(void) {
    StallRows rows = {.count = 0};
    for (u32 i = 0; i < time_metric_count; i++)
        if (time_metrics[i].source == TIME_SOURCE_STALL && rows.count < STALL_COUNT)
            rows.row[rows.count++] = &time_metrics[i];
    return rows;
}

// Warp cycles by reason, as far as the reason has a metric.
static Status add_stalls(const Out *out, const StallRows *stalls, const TimePc *from, u32 pc, PcCounts *rows) {
    for (u32 i = 0; i < stalls->count; i++)
        TRY(add_pc(rows, pc, stalls->row[i]->metric, (f64)scaled(out, from->stalls[stalls->row[i]->counter])));
    return STATUS_OK;
}

// By pc of the program: how many machine instructions stand before its own, on average. Unrolled loops as such, around
// the place where they stand.
static Status find_places(Out *out, f64 **places) {
    const TimeCode *code = out->run->time->code;
    u32 count = code->program->insn_count;
    f64 *place = *places = ARENA_ARRAY(&out->scratch, f64, count + 1);
    u32 *steps = ARENA_ARRAY(&out->scratch, u32, count + 1);
    if (!place || !steps) return STATUS_NO_MEMORY;
    f64 before = 0;
    for (u32 b = 0; b < code->block_count; before += code->blocks[b].op_count, b += code->blocks[b].parts) {
        const TimeBlock *block = &code->blocks[b];
        u32 ops = block->unrolled_count ? block->unrolled_count : block->op_count;
        const TimeOp *first = &code->ops[block->unrolled_count ? block->unrolled : block->ops];
        for (u32 i = 0; i < ops; i++) {
            place[first[i].pc] += before + i - (ops - block->op_count) / 2.0;
            steps[first[i].pc]++;
        }
    }
    for (u32 pc = 0; pc < count; pc++)
        if (steps[pc]) place[pc] /= steps[pc];
    return STATUS_OK;
}

static Status add_function(const Out *out, const SimFunc *func, const f64 *places, f64 exposed, PcCounts *rows) {
    const StallRows stalls = stall_rows();
    for (u32 i = 0; i < func->insn_count; i++) {
        const TimePc *pc = &out->result.pcs[func->entry + i];
        f64 place = fmax(places[func->entry + i], 0), issued = (f64)scaled(out, pc->issued);
        TRY(add_pc(rows, i, METRIC_ISSUED, issued));
        TRY(add_pc(rows, i, METRIC_ISSUE_PLACE, place * issued));
        TRY(add_pc(rows, i, METRIC_ISSUE_SPILLED, (f64)scaled(out, pc->spilled)));
        TRY(add_stalls(out, &stalls, pc, i, rows));
        TRY(add_pc(rows, i, METRIC_EXPOSED_MEMORY, exposed * (f64)pc->latency[STALL_LONG_SCOREBOARD]));
    }
    return STATUS_OK;
}

static Status write_pcs(Out *out) {
    const Grid *grid = out->run->grid;
    PcCounts rows = {0};
    f64 exposed = exposed_share(out) * out->result.scale, *places;
    Status status = find_places(out, &places);
    for (u32 f = 0; f < grid->program->func_count && status == STATUS_OK; f++) {
        const SimFunc *func = &grid->program->funcs[f];
        rows.len = 0;
        status = add_function(out, func, places, exposed, &rows);
        RecordPcCounts head = {
            .function = grid->kernel->module->function_ids[func->func], .source = out->source, .count = rows.len};
        if (status == STATUS_OK && rows.len)
            status = sink_write(out->sink, RECORD_PC_COUNTS, &head, rows.data, sizeof *rows.data * rows.len);
    }
    vec_free(&rows);
    return status;
}

// Edges and samples are sorted by pc, so those of one function follow each other.
static Status write_causes(Out *out) {
    const TimeResult *r = &out->result;
    RecordStallCause *rows = ARENA_ARRAY(&out->scratch, RecordStallCause, r->edge_count + 1);
    if (!rows) return STATUS_NO_MEMORY;
    for (u32 i = 0, count = 0; i < r->edge_count; i++) {
        const TimeEdge *e = &r->edges[i];
        Place at = place_of(out, e->pc), cause = place_of(out, e->cause);
        rows[count++] = (RecordStallCause){
            at.pc, e->reason, cause.function, cause.pc, scaled(out, e->cycles), scaled(out, e->times)};
        bool last = i + 1 == r->edge_count || place_of(out, r->edges[i + 1].pc).function != at.function;
        if (!last) continue;
        RecordStallCauses head = {.function = at.function, .source = out->source, .count = count};
        TRY(sink_write(out->sink, RECORD_STALL_CAUSES, &head, rows, sizeof *rows * count));
        count = 0;
    }
    return STATUS_OK;
}

static Status write_samples(Out *out) {
    const TimeResult *r = &out->result;
    RecordSample *rows = ARENA_ARRAY(&out->scratch, RecordSample, r->sample_count + 1);
    if (!rows) return STATUS_NO_MEMORY;
    for (u32 i = 0, count = 0; i < r->sample_count; i++) {
        const TimeSample *s = &r->samples[i];
        Place at = place_of(out, s->pc);
        rows[count++] = (RecordSample){at.pc, s->reason, scaled(out, s->count), scaled(out, s->latency_count)};
        bool last = i + 1 == r->sample_count || r->samples[i + 1].period != s->period ||
                    place_of(out, r->samples[i + 1].pc).function != at.function;
        if (!last) continue;
        RecordSamples head = {.function = at.function, .source = out->source, .count = count, .period = s->period};
        TRY(sink_write(out->sink, RECORD_SAMPLES, &head, rows, sizeof *rows * count));
        count = 0;
    }
    return STATUS_OK;
}

typedef Vec(RecordSample) Samples;

static Status add_cycles(const Out *out, u32 pc, const TimePc *at, Samples *rows) {
    for (u32 r = 0; r < STALL_COUNT; r++)
        if (at->stalls[r])
            TRY(vec_push(rows, ((RecordSample){pc, r, scaled(out, at->stalls[r]), scaled(out, at->latency[r])})));
    return STATUS_OK;
}

// The same, but every cycle of every warp.
static Status write_cycles(Out *out) {
    const Grid *grid = out->run->grid;
    Samples rows = {0};
    Status status = STATUS_OK;
    for (u32 f = 0; f < grid->program->func_count && status == STATUS_OK; f++) {
        const SimFunc *func = &grid->program->funcs[f];
        rows.len = 0;
        for (u32 pc = 0; pc < func->insn_count && status == STATUS_OK; pc++)
            status = add_cycles(out, pc, &out->result.pcs[func->entry + pc], &rows);
        RecordSamples head = {.function = grid->kernel->module->function_ids[func->func],
                              .source = out->source,
                              .count = rows.len,
                              .period = 1};
        if (status == STATUS_OK && rows.len)
            status = sink_write(out->sink, RECORD_SAMPLES, &head, rows.data, sizeof *rows.data * rows.len);
    }
    vec_free(&rows);
    return status;
}

// --- timelines ---------------------------------------------------------------------------------------------------

// Bytes of the profile for one point of the GPU's timeline. They add up to 440; with the file's pages that are not full
// it is less than 600. What one leaves is for those that come after it.
static const struct {
    u8 unit;
    u32 bytes;
} shares[] = {{TIMELINE_GPU, 230}, {TIMELINE_PC, 20},   {TIMELINE_SLICE, 25}, {TIMELINE_CHANNEL, 25},
              {TIMELINE_SM, 120},  {TIMELINE_PORT, 10}, {TIMELINE_BANK, 10}};

static u32 share_of(TimelineUnit unit) {
    u32 i = 0;
    while (shares[i].unit != unit) i++;
    return shares[i].bytes;
}

typedef struct Plot {  // what of a track makes one record
    TimelineUnit unit;
    u32 function;
    u32 units, metrics, first;  // first: of the values of a point
    const MetricId *ids;
} Plot;

// Metrics that are zero throughout take no place. *any: by metric, 0 when it is.
static void find_counted(const Track *track, const Plot *plot, u64 *any) {
    memset(any, 0, sizeof *any * plot->metrics);
    for (u32 p = 0; p < track->points; p++) {
        const u64 *values = track->values + (u64)p * track->width + plot->first;
        if (plot->units == 1)
            for (u32 m = 0; m < plot->metrics; m++) any[m] |= values[m];
        else
            for (u32 m = 0; m < plot->metrics; m++, values += plot->units) any[m] |= sums_bits(values, plot->units);
    }
}

// The points of one metric, unit by unit, as bytes.
static u8 *put_metric(const Track *track, u32 first, u32 units, u8 *to) {
    u32 points = track->points;
    for (u32 p = 0; p < points; p++) {
        const u64 *from = track->values + (u64)p * track->width + first;
        u8 *at = to + p * sizeof *from;
        _Pragma("GCC unroll 4") for (u32 u = 0; u < units; u++, at += points * sizeof *from)
            memcpy(at, from + u, sizeof *from);
    }
    return to + (u64)units * points * sizeof(u64);
}

static Status write_plot(Out *out, Plot plot) {
    const Track *track = &out->run->tracks[plot.unit];
    const Track *gpu = &out->run->tracks[TIMELINE_GPU];
    MetricId ids[METRIC_COUNT];
    u32 firsts[METRIC_COUNT];
    u64 any[METRIC_COUNT];
    Plot all = plot;
    plot.metrics = 0;
    plot.ids = ids;
    if (!track->width) return STATUS_OK;
    find_counted(track, &all, any);
    for (u32 m = 0; m < all.metrics; m++)
        if (any[m]) firsts[plot.metrics] = all.first + m * all.units, ids[plot.metrics++] = all.ids[m];
    if (!plot.metrics) return STATUS_OK;
    u64 values = (u64)plot.metrics * plot.units * track->points;
    size_t size = plot.metrics * sizeof(u32) + values * sizeof(u64);
    if (size > UINT32_MAX / 2) return STATUS_LIMIT;
    TRY(vec_reserve(&out->timeline->tail, size));
    u8 *tail = out->timeline->tail.data, *to = tail;
    for (u32 m = 0; m < plot.metrics; m++, to += sizeof(u32)) memcpy(to, &(u32){plot.ids[m]}, sizeof(u32));
    for (u32 m = 0; m < plot.metrics; m++) to = put_metric(track, firsts[m], plot.units, to);
    RecordTimeline head = {.launch = out->launch,
                           .source = out->source,
                           .unit = plot.unit,
                           .function = plot.function,
                           .units = plot.units,
                           .metrics = plot.metrics,
                           .points = track->points,
                           .max_bytes = share_of(plot.unit) * gpu->points,
                           .first = track->first,
                           .step = track->step,
                           .tick_ns = time_ns(out->timeline->machine, 1)};
    return sink_write(out->sink, RECORD_TIMELINE, &head, tail, size);
}

static Status write_pc_plots(Out *out) {
    static const MetricId ids[] = {METRIC_ISSUED};
    const Grid *grid = out->run->grid;
    for (u32 f = 0; f < grid->program->func_count; f++) {
        const SimFunc *func = &grid->program->funcs[f];
        u32 function = grid->kernel->module->function_ids[func->func];
        if (func->insn_count)
            TRY(write_plot(out, (Plot){TIMELINE_PC, function, func->insn_count, 1, func->entry, ids}));
    }
    return STATUS_OK;
}

// A launch of one point says nothing that its totals do not.
static Status write_timelines(Out *out) {
    static const RecordDropped lost = {.count = 1};
    if (out->run->failed) return sink_write(out->sink, RECORD_DROPPED, &lost, "timelines", sizeof "timelines");
    if (out->run->tracks[TIMELINE_GPU].points < 2) return STATUS_OK;
    for (u32 i = 0; i < WL_COUNT(shares); i++) {
        TimelineUnit unit = (TimelineUnit)shares[i].unit;
        const Group *group = &out->timeline->groups[unit];
        if (unit == TIMELINE_PC)
            TRY(write_pc_plots(out));
        else if (group->metrics && group->units)
            TRY(write_plot(out, (Plot){unit, 0, group->units, group->metrics, 0, group->ids}));
    }
    return STATUS_OK;
}

// Partial simulation: how much was simulated, and how far the rest of the time may be from what it was estimated at.
static Status write_estimate(Out *out) {
    const TimeResult *r = &out->result;
    if (r->detail_end == r->end) return STATUS_OK;
    RecordLaunchEstimate estimate = {.launch = out->launch,
                                     .source = out->source,
                                     .low_cycles = r->low,
                                     .high_cycles = r->high,
                                     .detail = r->detail};
    return sink_write(out->sink, RECORD_LAUNCH_ESTIMATE, &estimate, NULL, 0);
}

static Status write_all(Out *out) {
    if (!out->timeline->named) TRY(write_stall_names(out));
    TRY(write_time(out));
    TRY(write_estimate(out));
    TRY(write_totals(out));
    TRY(write_latencies(out));
    TRY(write_pcs(out));
    TRY(write_causes(out));
    TRY(write_samples(out));
    TRY(write_cycles(out));
    return write_timelines(out);
}

// The machine's counters, or those of the launch that this one is told from.
static Status find_totals(Out *out) {
    Timeline *t = out->timeline;
    const Group *gpu = &t->groups[TIMELINE_GPU];
    const SampleFigures *figures = sample_figures(out->run->time);
    timeline_read_group(t, TIMELINE_GPU);
    out->totals = ARENA_ARRAY(&out->scratch, u64, gpu->metrics + 1u);
    if (!out->totals) return STATUS_NO_MEMORY;
    for (u32 c = 0; c < gpu->metrics; c++)
        out->totals[c] =
            figures && figures->total_count == gpu->metrics ? figures->totals[c] : gpu->now[c] - out->run->begin[c];
    return sample_keep(out->run->time, &out->result, out->totals, gpu->metrics);
}

Status timeline_record(Timeline *t, TimelineRun *run, const TimeResult *result, u32 launch) {
    const SimConfig *config = &run->grid->sim->config;
    Out out = {
        .timeline = t, .run = run, .result = *result, .sink = config->sink, .launch = launch, .source = config->source};
    if (!out.sink) return STATUS_OK;
    Status status = find_totals(&out);
    if (status == STATUS_OK) status = write_all(&out);
    arena_free(&out.scratch);
    return status;
}
