// SPDX-License-Identifier: Apache-2.0
// What is written down of timed launches, on a small GPU made from h200: every metric lives, the accounts close,
// watching changes nothing.
#include "sim/time/timeline_inside.h"

#include "sim/device_testing.h"
#include "sim/time/timeline_kernels.h"

// --- a sink that remembers -----------------------------------------------------------------------------------------
typedef struct Catch {
    Sink sink;
    MetricSet launch, all, pcs;  // of the last launch, of all, of instructions
    RecordLaunchTime time;
    f64 points[TIMELINE_UNIT_COUNT][METRIC_COUNT];  // of the last launch: timelines added up
    u32 point_count[TIMELINE_UNIT_COUNT], unit_count[TIMELINE_UNIT_COUNT];
    u64 step[TIMELINE_UNIT_COUNT];
    u64 latencies, causes, cause_cycles, samples, names;
    u64 stall_samples[STALL_COUNT];             // of period 16
    u64 period_samples[32], period_places[32];  // by the period's logarithm: samples; where they fell, as one number
    u64 warp_cycles[STALL_COUNT], idle_cycles[STALL_COUNT];  // idle: of the warp's scheduler
    RecordStallCause cause[64];                              // of the last launch, as many as fit
    u32 cause_count;
    f64 issued[64], place[64];  // METRIC_ISSUED and METRIC_ISSUE_PLACE by pc
} Catch;

static void take_timeline(Catch *c, const RecordTimeline *t, const u8 *tail) {
    const u8 *values = tail + t->metrics * sizeof(u32);
    assert_true(t->unit < TIMELINE_UNIT_COUNT && t->points <= TIMELINE_POINTS);
    c->point_count[t->unit] = t->points;
    c->unit_count[t->unit] = t->units;
    c->step[t->unit] = t->step;
    for (u32 m = 0; m < t->metrics; m++) {
        u32 metric;
        memcpy(&metric, tail + m * sizeof metric, sizeof metric);
        assert_true(metric_has_scope((MetricId)metric, timeline_unit_scope((TimelineUnit)t->unit)));
        for (u64 i = 0; i < (u64)t->units * t->points; i++, values += sizeof(u64)) {
            u64 value;
            memcpy(&value, values, sizeof value);
            assert_true(value < 1ull << 62);  // no counter runs backwards
            c->points[t->unit][metric] += (f64)value;
        }
    }
}

static void take_counts(Catch *c, const void *tail, u32 count) {
    const RecordCount *rows = tail;
    for (u32 i = 0; i < count; i++) {
        metric_add(&c->launch, (MetricId)rows[i].metric, rows[i].value);
        metric_add(&c->all, (MetricId)rows[i].metric, rows[i].value);
    }
}

static Status take(Sink *sink, RecordKind kind, const void *fixed, const void *tail, size_t size) {
    Catch *c = (Catch *)sink;
    (void)size;
    switch (kind) {
    case RECORD_LAUNCH: {
        c->launch = (MetricSet){0};
        memset(c->points, 0, sizeof c->points);
        memset(c->point_count, 0, sizeof c->point_count);
        break;
    }
    case RECORD_LAUNCH_TIME: c->time = *(const RecordLaunchTime *)fixed; break;
    case RECORD_LAUNCH_COUNTS: take_counts(c, tail, ((const RecordLaunchCounts *)fixed)->count); break;
    case RECORD_PC_COUNTS: {
        const RecordPcCount *rows = tail;
        for (u32 i = 0; i < ((const RecordPcCounts *)fixed)->count; i++) {
            metric_add(&c->pcs, (MetricId)rows[i].metric, rows[i].value);
            if (rows[i].pc < 64 && rows[i].metric == METRIC_ISSUED) c->issued[rows[i].pc] = rows[i].value;
            if (rows[i].pc < 64 && rows[i].metric == METRIC_ISSUE_PLACE) c->place[rows[i].pc] = rows[i].value;
        }
        break;
    }
    case RECORD_TIMELINE: take_timeline(c, fixed, tail); break;
    case RECORD_LATENCIES: {
        const RecordLatency *rows = tail;
        for (u32 i = 0; i < ((const RecordLatencies *)fixed)->count; i++) c->latencies += rows[i].count;
        break;
    }
    case RECORD_STALL_CAUSES: {
        const RecordStallCause *rows = tail;
        c->cause_count = 0;
        for (u32 i = 0; i < ((const RecordStallCauses *)fixed)->count; i++, c->causes++) {
            c->cause_cycles += rows[i].cycles;
            if (c->cause_count < 64) c->cause[c->cause_count++] = rows[i];
        }
        break;
    }
    case RECORD_SAMPLES: {
        const RecordSamples *head = fixed;
        const RecordSample *rows = tail;
        if (head->period != 1) c->samples += head->count;
        for (u32 i = 0; i < head->count; i++) {
            u32 period = (u32)__builtin_ctzll(head->period);
            c->period_samples[period] += rows[i].samples;
            if (head->period == 16) c->stall_samples[rows[i].stall] += rows[i].samples;
            c->period_places[period] += (u64)rows[i].samples * (rows[i].pc + 1) * (rows[i].stall + 1);
        }
        for (u32 i = 0; i < head->count && head->period == 1; i++) {
            assert_true(rows[i].not_issued <= rows[i].samples);
            c->warp_cycles[rows[i].stall] += rows[i].samples;
            c->idle_cycles[rows[i].stall] += rows[i].not_issued;
        }
        break;
    }
    case RECORD_STALL_NAME: c->names++; break;
    default: break;
    }
    return STATUS_OK;
}

static Status no_flush(Sink *sink) {
    (void)sink;
    return STATUS_OK;
}

// --- a small GPU ---------------------------------------------------------------------------------------------------
typedef struct Timed {
    TestDevice d;
    Catch *catch;
} Timed;

enum { SMS = 4 };

// Caches small enough to be used up in a test.
static void open_sampled(Timed *t, const char *ptx, bool record, u64 interval, u32 periods, u64 offset) {
    memset(t, 0, sizeof *t);
    TestDevice *d = &t->d;
    assert_int_equal(gpu_load("gpus", "h200", &d->gpu, &d->diag), STATUS_OK);
    d->gpu.sms = SMS;
    d->gpu.gpcs_18 = d->gpu.gpcs_16 = d->gpu.gpcs_8 = 0;
    d->gpu.l2_bytes = d->gpu.l2_usable = 1 << 20;
    d->gpu.l1_mshrs = 64;
    d->gpu.t_rfc = 1;  // a load that waits for a refresh comes after later ones
    t->catch = mem_zero(1, sizeof *t->catch);
    assert_non_null(t->catch);
    t->catch->sink = (Sink){.write = take, .flush = no_flush};
    SimConfig config = {.gpu = &d->gpu,
                        .devices = 1,
                        .threads = 1,
                        .sink = record ? &t->catch->sink : NULL,
                        .source = 1,
                        .timing = true,
                        .interval = interval,
                        .pc_periods = periods,
                        .pc_offset = offset};
    assert_int_equal(sim_create(&config, &d->sim), STATUS_OK);
    Module *module;
    Status status = ptx_load((Str){ptx, strlen(ptx)}, "test.ptx", &module, &d->diag);
    if (status != STATUS_OK) device_show(d);
    assert_int_equal(status, STATUS_OK);
    assert_int_equal(sim_load_module(d->sim, 0, module, &d->module, &d->diag), STATUS_OK);
}

static void open_device(Timed *t, const char *ptx, bool record, u64 interval) {
    open_sampled(t, ptx, record, interval, 0, 0);
}

static void close_device(Timed *t) {
    device_close(&t->d);
    mem_free(t->catch);
}

// --- kernels -------------------------------------------------------------------------------------------------------
typedef struct Params {
    u64 buffer, texture;
} Params;

static Params make_params(Timed *t) {
    TestDevice *d = &t->d;
    SimTexture texture = {.data = device_memory(d, NULL, 512 * 512 * 4),
                          .width = 512,
                          .height = 512,
                          .pitch = 512 * 4,
                          .slice = 512 * 512 * 4,
                          .channels = 1,
                          .channel_bits = 32,
                          .channel_kind = CHANNEL_FLOAT,
                          .filter = FILTER_LINEAR};
    Params params = {.buffer = device_memory(d, NULL, 4 << 20)};
    assert_int_equal(sim_texture_create(d->sim, &texture, &params.texture), STATUS_OK);
    return params;
}

typedef struct Case {
    const char *kernel;
    u32 ctas, threads;
} Case;
static const Case cases[] = {{"stream", 64, 512},  {"shared", 16, 256}, {"units", 16, 256}, {"spaces", 8, 128},
                             {"texture", 16, 256}, {"matrix", 8, 128},  {"long", 1, 32},    {"spills", 8, 64}};

// --- tests ---------------------------------------------------------------------------------------------------------
// From the first metric of the timing model on, and those over time that the functional simulator counts.
static void every_metric_is_alive(void **state) {
    (void)state;
    Timed t;
    open_device(&t, kernels, true, 1000);
    Params params = make_params(&t);
    f64 seen[METRIC_COUNT] = {0};
    for (u32 i = 0; i < WL_COUNT(cases); i++) {
        device_run(&t.d, cases[i].kernel, cases[i].ctas, cases[i].threads, &params);
        for (u32 unit = 0; unit < TIMELINE_UNIT_COUNT; unit++)
            for (u32 m = 0; m < METRIC_COUNT; m++) seen[m] += t.catch->points[unit][m];
    }
    metric_evaluate(&t.catch->all);
    metric_evaluate(&t.catch->pcs);
    u32 dead = 0, alive = 0;
    for (u32 m = METRIC_ISSUED; m < METRIC_COUNT; m++) {
        if (strcmp(metric_table[m].scopes, "G") == 0) continue;  // a GPU's
        bool lives = t.catch->all.value[m] != 0 || t.catch->pcs.value[m] != 0 || seen[m] != 0;
        if (!lives) print_message("dead: %s\n", metric_table[m].name);
        dead += !lives;
        alive += lives;
    }
    for (u32 i = 0; i < time_metric_count; i++) {
        MetricId m = (MetricId)time_metrics[i].metric;
        if (metric_has_scope(m, 'T') && seen[m] == 0) {
            print_message("dead over time: %s\n", metric_table[m].name);
            dead++;
        }
    }
    assert_int_equal(dead, 0);
    assert_true(alive >= 60);
    close_device(&t);
}

static f64 value(const Timed *t, MetricId metric) { return t->catch->launch.value[metric]; }

// Every cycle of every scheduler is issued, stalled or empty, and every lost one has a reason.
static void the_accounts_close(void **state) {
    (void)state;
    Timed t;
    open_device(&t, kernels, true, 1000);
    Params params = make_params(&t);
    for (u32 i = 0; i < WL_COUNT(cases); i++) {
        device_run(&t.d, cases[i].kernel, cases[i].ctas, cases[i].threads, &params);
        f64 elapsed = value(&t, METRIC_ELAPSED), schedulers = (f64)t.d.gpu.warp_schedulers;
        assert_true(elapsed == (f64)(t.catch->time.end_cycle - t.catch->time.begin_cycle) && elapsed > 0);
        assert_true(value(&t, METRIC_SM_ELAPSED) == elapsed * SMS);
        f64 slots = value(&t, METRIC_ISSUE_ACTIVE) + value(&t, METRIC_ISSUE_STALLED) + value(&t, METRIC_ISSUE_EMPTY);
        assert_true(slots == elapsed * SMS * schedulers);
        f64 lost = 0, waited = 0;
        for (u32 r = 0; r < time_metric_count; r++) {
            if (time_metrics[r].source == TIME_SOURCE_SLOT) lost += value(&t, (MetricId)time_metrics[r].metric);
            if (time_metrics[r].source == TIME_SOURCE_STALL) waited += value(&t, (MetricId)time_metrics[r].metric);
        }
        assert_true(lost == value(&t, METRIC_ISSUE_STALLED));
        f64 resident = value(&t, METRIC_WARPS_ACTIVE);  // before its first instruction a warp waits for nothing
        assert_true(waited <= resident && waited > 0.9 * resident);
        f64 lanes = 0;
        for (u32 m = METRIC_LANES_1_4; m <= METRIC_LANES_29_32; m++) lanes += value(&t, (MetricId)m);
        assert_true(lanes == value(&t, METRIC_ISSUED));
        assert_true(value(&t, METRIC_CTAS_ENDED) == cases[i].ctas);
        assert_true(t.catch->time.first_cta_cycle < t.catch->time.last_cta_cycle);
    }
    assert_int_equal(t.catch->names, STALL_COUNT);  // once
    assert_true(t.catch->causes && t.catch->samples);
    assert_true((f64)t.catch->latencies == t.catch->all.value[METRIC_LOADS_ENDED]);
    close_device(&t);
}

static void instructions_add_up_to_launches(void **state) {
    (void)state;
    Timed t;
    open_device(&t, kernels, true, 0);
    Params params = make_params(&t);
    for (u32 i = 0; i < WL_COUNT(cases); i++)
        device_run(&t.d, cases[i].kernel, cases[i].ctas, cases[i].threads, &params);
    const MetricSet *all = &t.catch->all, *pcs = &t.catch->pcs;
    assert_true(pcs->value[METRIC_ISSUED] == all->value[METRIC_ISSUED] && pcs->value[METRIC_ISSUED] > 0);
    for (u32 r = 0; r < time_metric_count; r++) {
        MetricId metric = (MetricId)time_metrics[r].metric;
        if (time_metrics[r].source == TIME_SOURCE_STALL) assert_true(pcs->value[metric] == all->value[metric]);
    }
    f64 exposed = pcs->value[METRIC_EXPOSED_MEMORY], lost = all->value[METRIC_LOST_LONG_SCOREBOARD];
    assert_true(exposed > lost * 0.5 && exposed < lost * 1.001);
    close_device(&t);
}

// Samples of period 1 are every cycle of every warp. The scheduler of a single warp idles when the warp waits.
static void every_cycle_is_sampled(void **state) {
    (void)state;
    Timed t;
    open_device(&t, kernels, true, 0);
    Params params = make_params(&t);
    device_run(&t.d, "long", 1, 32, &params);
    const MetricSet *all = &t.catch->all;
    u64 idle = 0;
    for (u32 r = 0; r < STALL_COUNT; r++) idle += t.catch->idle_cycles[r];
    assert_int_equal(t.catch->warp_cycles[STALL_SELECTED], (u64)all->value[METRIC_ISSUED]);
    assert_int_equal(idle, (u64)all->value[METRIC_ISSUE_STALLED]);
    device_run(&t.d, "units", 16, 256, &params);
    for (u32 r = 0; r < time_metric_count; r++)
        if (time_metrics[r].source == TIME_SOURCE_STALL)
            assert_int_equal(t.catch->warp_cycles[time_metrics[r].counter],
                             (u64)all->value[(MetricId)time_metrics[r].metric]);
    assert_int_equal(t.catch->idle_cycles[STALL_SELECTED], 0);
    close_device(&t);
}

// Warps that find their unit taken again and again: while it is taken they wait for it, in the cycles between another
// warp is taken, and neither depends on when samples are taken. These see the same.
static void warps_wait_for_a_unit(void **state) {
    (void)state;
    f64 waits[2], turns[2];
    for (u32 i = 0; i < 2; i++) {
        Timed t;
        open_sampled(&t, kernels, true, 0, i ? 1024 : 16, 0);
        Params params = make_params(&t);
        device_run(&t.d, "integers", 2 * SMS, 512, &params);
        waits[i] = value(&t, METRIC_STALL_MATH_PIPE_THROTTLE);
        turns[i] = value(&t, METRIC_STALL_NOT_SELECTED);
        const u64 *samples = t.catch->stall_samples;
        f64 all = (f64)(samples[STALL_MATH_PIPE_THROTTLE] + samples[STALL_NOT_SELECTED]) * 16 * 16;
        if (!i) assert_true(all > 0.95 * (waits[0] + turns[0]) && all < 1.05 * (waits[0] + turns[0]));
        close_device(&t);
    }
    print_message("%.0f cycles for the unit, %.0f not selected\n", waits[0], turns[0]);
    assert_true(waits[0] == waits[1] && turns[0] == turns[1]);
    assert_true(waits[0] > 0.8 * turns[0] && waits[0] < 1.25 * turns[0]);
}

// Each period has its samples: one place of 16 in turn, every 2^n cycles; another offset gives other ones, and nothing
// else changes.
static void periods_are_sampled_side_by_side(void **state) {
    (void)state;
    u64 cycles[3], samples[3][2], places[3];
    static const u32 periods[3] = {64 + 512, 64 + 512, 64};
    for (u32 i = 0; i < 3; i++) {
        Timed t;
        open_sampled(&t, kernels, true, 0, periods[i], i == 1 ? 37 : 0);
        Params params = make_params(&t);
        device_run(&t.d, "shared", 16, 256, &params);
        cycles[i] = t.catch->period_samples[0];
        samples[i][0] = t.catch->period_samples[6];
        samples[i][1] = t.catch->period_samples[9];
        places[i] = t.catch->period_places[6];
        assert_int_equal(t.catch->period_samples[10], 0);
        close_device(&t);
    }
    assert_true(cycles[0] == cycles[1] && cycles[0] == cycles[2]);
    assert_true(samples[0][0] == samples[2][0] && samples[2][1] == 0);
    assert_true(places[0] == places[2] && places[0] != places[1]);
    for (u32 i = 0; i < 2; i++) {
        f64 fine = (f64)samples[i][0] * 64 * 16, coarse = (f64)samples[i][1] * 512 * 16;
        assert_true(fine > 0.7 * (f64)cycles[i] && fine < 1.3 * (f64)cycles[i]);
        assert_true(coarse > 0.4 * (f64)cycles[i] && coarse < 1.6 * (f64)cycles[i]);
    }
}

// Whatever the order of its operands, an instruction waits for the load that comes last, from the first cycle on.
static void the_last_result_is_the_cause(void **state) {
    (void)state;
    Timed t;
    open_device(&t, kernels, true, 0);
    Params params = make_params(&t);
    device_run(&t.d, "two_loads", 1, 32, &params);
    u64 waited = 0;
    for (u32 i = 0; i < t.catch->cause_count; i++) {
        const RecordStallCause *c = &t.catch->cause[i];
        if (c->stall != STALL_LONG_SCOREBOARD || c->pc != 29) continue;
        assert_int_equal(c->cause_pc, 28);
        waited += c->cycles;
    }
    assert_true(waited > 200);
    close_device(&t);
}

// ... also of more than two: what comes in between is no cause.
static void of_three_results_one_is_the_cause(void **state) {
    (void)state;
    Timed t;
    open_device(&t, kernels, true, 0);
    Params params = make_params(&t);
    device_run(&t.d, "three_loads", 1, 32, &params);
    u32 causes = 0;
    for (u32 i = 0; i < t.catch->cause_count; i++) {
        const RecordStallCause *c = &t.catch->cause[i];
        if (c->stall != STALL_LONG_SCOREBOARD || c->pc != 10) continue;
        causes++;
        assert_true(c->cycles > 200 && c->times == 1);
    }
    assert_int_equal(causes, 1);
    close_device(&t);
}

// The cycles that `pc` waits for `cause` under a stall's name.
static u64 caused(const Timed *t, u32 pc, StallReason stall, u32 cause) {
    u64 cycles = 0;
    for (u32 i = 0; i < t->catch->cause_count; i++) {
        const RecordStallCause *c = &t->catch->cause[i];
        if (c->pc == pc && c->stall == (u32)stall && c->cause_pc == cause) cycles += c->cycles;
    }
    return cycles;
}

// A stall count is for a result that is not there, or for the unit that the instruction before has.
static void stall_counts_have_their_causes(void **state) {
    (void)state;
    static const char text[] = HEAD ".visible .entry k(.param .u64 out) {\n.reg .b64 %d<4>;\n.reg .b32 %r<9>;\n"
                                    "ld.param.u64 %d1, [out];\nmov.u32 %r1, %tid.x;\n"
                                    "mul.lo.u32 %r4, %r1, %r1;\n"         // 2
                                    "mul.lo.u32 %r5, %r4, %r4;\n"         // 3: the product before
                                    "shf.l.wrap.b32 %r2, %r5, %r5, 3;\n"  // 4
                                    "shf.l.wrap.b32 %r3, %r5, %r5, 5;\n"  // 5: has everything, but not the unit
                                    "st.global.v4.u32 [%d1], {%r2, %r3, %r5, %r1};\nret;\n}\n";
    Timed t;
    open_device(&t, text, true, 0);
    u64 params[] = {device_memory(&t.d, NULL, 4096)};
    device_run(&t.d, "k", 1, 32, params);
    assert_int_equal(caused(&t, 3, STALL_WAIT, 2), t.d.gpu.alu_latency - 1);
    u64 unit = caused(&t, 5, STALL_WAIT, 4) + caused(&t, 4, STALL_WAIT, 5);  // in either order
    assert_int_equal(unit, t.d.gpu.alu_interval - 1);
    close_device(&t);
}

// Calls of the device's runtime are what the instruction behind them waits for.
static void calls_of_the_runtime_are_causes(void **state) {
    (void)state;
    static const char text[] =
        HEAD ".extern .func (.param .b64 r) malloc (.param .b64 s);\n"
             ".visible .entry k(.param .u64 out) {\n.reg .b64 %d<4>;\nld.param.u64 %d1, [out];\nmov.u64 %d2, 16;\n"
             "{ .param .b64 a; .param .b64 q; st.param.b64 [a+0], %d2; call.uni (q), malloc, (a); ld.param.b64 %d3, "
             "[q+0]; }\n"
             "st.global.u64 [%d1], %d3;\nret;\n}\n";
    Timed t;
    open_device(&t, text, true, 0);
    u64 params[] = {device_memory(&t.d, NULL, 4096)};
    device_run(&t.d, "k", 1, 32, params);
    u64 waited = 0;
    for (u32 pc = 4; pc < 7; pc++) waited += caused(&t, pc, STALL_LONG_SCOREBOARD, 3);
    assert_true(waited > t.d.gpu.heap_malloc - 20);
    close_device(&t);
}

// On an H200 the slow unit and indexed constants are behind the queue of shared memory, and what constants are waited
// for with is a short scoreboard, also when they come from memory (bench/hwref/h200-stall-reasons.tsv: row_ex2,
// constant_indexed).
static void the_slow_unit_and_constants_have_the_reasons_of_an_h200(void **state) {
    (void)state;
    static const char text[] =
        HEAD ".visible .entry k(.param .u64 out) {\n.reg .b64 %d<4>;\n.reg .b32 %r<9>;\n.reg .f32 %f<9>;\n"
             "ld.param.u64 %d1, [out];\nmov.u32 %r1, %tid.x;\nshr.u32 %r2, %r1, 5;\nshl.b32 %r2, %r2, 2;\ncvt.u64.u32 "
             "%d2, %r2;\n"
             "mov.u64 %d3, table;\nadd.u64 %d3, %d3, %d2;\nld.const.f32 %f1, [%d3];\n"
             "ex2.approx.ftz.f32 %f2, %f1;\nsin.approx.ftz.f32 %f3, %f1;\ncos.approx.ftz.f32 %f4, %f1;\n"
             "lg2.approx.ftz.f32 %f5, %f1;\nrsqrt.approx.ftz.f32 %f6, %f1;\nrcp.approx.ftz.f32 %f7, %f1;\n"
             "add.f32 %f2, %f2, %f3;\nadd.f32 %f4, %f4, %f5;\nadd.f32 %f6, %f6, %f7;\nadd.f32 %f2, %f2, %f4;\n"
             "add.f32 %f6, %f6, %f2;\nst.global.f32 [%d1], %f6;\nret;\n}\n";
    Timed t;
    open_device(&t, text, true, 0);
    u64 params[] = {device_memory(&t.d, NULL, 4096)};
    device_run(&t.d, "k", 1, 1024, params);
    const u64 *cycles = t.catch->warp_cycles;
    assert_true(cycles[STALL_SHORT_SCOREBOARD] > 32 * 400 && cycles[STALL_LONG_SCOREBOARD] == 0);
    assert_true(cycles[STALL_MIO_THROTTLE] > cycles[STALL_MATH_PIPE_THROTTLE]);
    close_device(&t);
}

// A warp keeps its place for 8 cycles behind its exit, and then until its last store has read what it stores: 21 cycles
// (bench/hwref/h200-stall-reasons.tsv: frame, tid_stored).
static void warps_end_as_on_an_h200(void **state) {
    (void)state;
    static const char text[] =
        HEAD ".visible .entry none(.param .u64 out) {\nret;\n}\n.visible .entry stores(.param .u64 out) {\n.reg .b64 "
             "%d<4>;\n"
             ".reg .b32 %r<9>;\nld.param.u64 %d1, [out];\nmov.u32 %r1, %tid.x;\nst.global.u32 [%d1], %r1;\nret;\n}\n";
    for (u32 k = 0; k < 2; k++) {
        Timed t;
        open_device(&t, text, true, 0);
        u64 params[] = {device_memory(&t.d, NULL, 4096)};
        device_run(&t.d, k ? "stores" : "none", 1, 32, params);
        assert_int_equal(t.catch->warp_cycles[STALL_BRANCH_RESOLVING], 8);
        assert_int_equal(t.catch->warp_cycles[STALL_DRAIN], k ? 21 : 0);
        close_device(&t);
    }
}

// What warps wait for at a barrier is where the last one to arrive spent its time since the barrier before, and so for
// all of their waiting: also with accounts brought up to date meanwhile, every `interval` cycles.
static void late_warp(u64 interval) {
    Timed t;
    open_device(&t, kernels, true, interval);
    Params params = make_params(&t);
    device_run(&t.d, "late", 64, 64, &params);
    u64 waited = 0, for_loop = 0, for_first = 0;
    u32 second = 0;
    for (u32 i = 0; i < t.catch->cause_count; i++)
        if (t.catch->cause[i].stall == STALL_BARRIER && t.catch->cause[i].pc > second) second = t.catch->cause[i].pc;
    for (u32 i = 0; i < t.catch->cause_count; i++) {
        const RecordStallCause *c = &t.catch->cause[i];
        if (c->stall != STALL_BARRIER || c->pc != second) continue;
        waited += c->cycles;
        if (c->cause_pc < second && c->cause_pc >= second - 5) for_loop += c->cycles;
        if (c->cause_pc == second - 5) for_first += c->cycles;
    }
    assert_true(waited > 64 * 200 * 10);
    assert_true((f64)waited > 0.9 * value(&t, METRIC_STALL_BARRIER));
    assert_true(for_loop > waited * 9 / 10);                           // not for the end of the barrier before
    assert_in_range(for_first, for_loop * 3 / 10, for_loop * 7 / 10);  // both products take as long
    close_device(&t);
}

static void barriers_wait_for_what_held_the_last_warp_up(void **state) {
    (void)state;
    late_warp(0);
    late_warp(500);
}

// A warp waits for a barrier until it is released, whatever code it has to fetch then: in one of these kernels the
// instruction behind, which waits there, is the first of a line.
static void code_behind_a_barrier_is_fetched_after_it(void **state) {
    (void)state;
    static const char store[] = "st.volatile.shared.u32 [tile], %r1;\n";
    char text[2048], before[8 * sizeof store] = "";
    for (u32 i = 0; i < 8; i++) {
        snprintf(text, sizeof text,
                 HEAD ".visible .entry k() {\n.reg .b32 %%r<9>;\n.reg .pred %%p1;\n.shared .b32 tile;\n"
                      "mov.u32 %%r1, %%tid.x;\nmov.u32 %%r2, %%clock;\nsetp.lt.u32 %%p1, %%r1, 32;\n@%%p1 bra there;\n"
                      "again: mov.u32 %%r3, %%clock;\nsub.u32 %%r4, %%r3, %%r2;\nsetp.lt.u32 %%p1, %%r4, 5000;\n"
                      "@%%p1 bra again;\nthere:\n%sbar.sync 0;\n%sret;\n}\n",
                 before, store);
        strcat(before, store);
        Timed t;
        open_device(&t, text, true, 0);
        device_run(&t.d, "k", 1, 64, NULL);
        const u64 *cycles = t.catch->warp_cycles;
        assert_true(cycles[STALL_BARRIER] > 4500 && cycles[STALL_NO_INSTRUCTIONS] < 1000);
        close_device(&t);
    }
}

// What warps wait for does not depend on how often accounts are brought up to date: a warp that could go on waits for
// its turn from then on.
static void waiting_for_a_turn_is_the_same_for_every_interval(void **state) {
    (void)state;
    u64 cycles[2][STALL_COUNT];
    for (u32 k = 0; k < 2; k++) {
        Timed t;
        open_device(&t, kernels, true, k ? 1 : 0);  // rounded up to a quantum
        Params params = make_params(&t);
        device_run(&t.d, "units", 4 * SMS, 512, &params);
        memcpy(cycles[k], t.catch->warp_cycles, sizeof cycles[k]);
        close_device(&t);
    }
    assert_true(cycles[0][STALL_NOT_SELECTED] > 100000);
    for (u32 r = 0; r < STALL_COUNT; r++) assert_int_equal(cycles[0][r], cycles[1][r]);
}

// The machine's order: what is needed stands before what needs it, and no two stand at one place.
static void places_are_the_order_of_issue(void **state) {
    (void)state;
    Timed t;
    open_device(&t, kernels, true, 0);
    Params params = make_params(&t);
    device_run(&t.d, "two_loads", 1, 32, &params);
    f64 place[30];
    for (u32 pc = 0; pc < 30; pc++) place[pc] = t.catch->place[pc] / t.catch->issued[pc];
    for (u32 pc = 14; pc < 25; pc++) assert_true(place[pc] >= place[pc - 1] + 1);  // each needs the one before
    assert_true(place[11] < place[29] && place[28] < place[29]);
    close_device(&t);
}

static void points_add_up_to_launches(void **state) {
    (void)state;
    Timed t;
    open_device(&t, kernels, true, 1000);
    Params params = make_params(&t);
    for (u32 i = 0; i < WL_COUNT(cases); i++) {
        device_run(&t.d, cases[i].kernel, cases[i].ctas, cases[i].threads, &params);
        if (t.catch->point_count[TIMELINE_GPU] == 0) continue;  // shorter than two intervals
        for (u32 r = 0; r < time_metric_count; r++) {
            const TimeMetric *row = &time_metrics[r];
            f64(*points)[METRIC_COUNT] = t.catch->points;
            TimelineUnit native = time_metric_unit(row);
            MetricId metric = (MetricId)row->metric;
            bool time = row->source == TIME_SOURCE_CYCLES || metric == METRIC_ISSUE_EMPTY;  // launch_end is not watched
            bool of_gpu = metric_has_scope(metric, 'T');
            if (row->total && of_gpu && !time) assert_true(points[TIMELINE_GPU][metric] == value(&t, metric));
            if (of_gpu && native != TIMELINE_GPU && metric_has_scope(metric, timeline_unit_scope(native)))
                if (row->factor == TIME_FACTOR_ONE) assert_true(points[native][metric] == points[TIMELINE_GPU][metric]);
        }
        assert_true(t.catch->points[TIMELINE_GPU][METRIC_THREAD_INST] == value(&t, METRIC_THREAD_INST));
        assert_true(t.catch->points[TIMELINE_PC][METRIC_ISSUED] == value(&t, METRIC_ISSUED));
    }
    assert_int_equal(t.catch->unit_count[TIMELINE_SM], SMS);
    close_device(&t);
}

static u64 cycles_of(const Case *c, bool record, u64 interval) {
    Timed t;
    open_device(&t, kernels, record, interval);
    Params params = make_params(&t);
    SimKernel *k;
    SimLaunchResult result[2];
    assert_int_equal(sim_find_kernel(t.d.sim, t.d.module, c->kernel, &k), STATUS_OK);
    SimLaunch launch = {
        .kernel = k, .grid = {c->ctas, 1, 1}, .block = {c->threads, 1, 1}, .params = &params, .record = true};
    for (u32 i = 0; i < 2; i++) assert_int_equal(sim_launch(t.d.sim, &launch, &result[i], &t.d.diag), STATUS_OK);
    close_device(&t);
    return result[0].cycles << 32 | result[1].cycles;
}

static void watching_changes_nothing(void **state) {
    (void)state;
    for (u32 i = 0; i < WL_COUNT(cases); i++) {
        u64 alone = cycles_of(&cases[i], false, 0);
        assert_true(alone >> 32 > 0);
        assert_int_equal(cycles_of(&cases[i], true, 0), alone);
        assert_int_equal(cycles_of(&cases[i], true, 1000), alone);
        assert_int_equal(cycles_of(&cases[i], true, 1), alone);  // every quantum
    }
}

static void long_launches_have_longer_points(void **state) {
    (void)state;
    Timed t;
    open_device(&t, kernels, true, 1);
    Params params = make_params(&t);
    device_run(&t.d, "long", 1, 32, &params);
    u64 cycles = t.catch->time.end_cycle - t.catch->time.begin_cycle, step = t.catch->step[TIMELINE_GPU];
    u32 points = t.catch->point_count[TIMELINE_GPU];
    assert_true(points >= TIMELINE_POINTS / 2 - 1 && points < TIMELINE_POINTS);
    assert_true(step * points < cycles + step && step * points + 2000 > cycles);
    assert_true(t.catch->points[TIMELINE_GPU][METRIC_ISSUED] == value(&t, METRIC_ISSUED));
    assert_true(t.catch->points[TIMELINE_SM][METRIC_INST] == t.catch->points[TIMELINE_GPU][METRIC_INST]);
    close_device(&t);
}

static void without_an_interval_there_are_totals_only(void **state) {
    (void)state;
    Timed t;
    open_device(&t, kernels, true, 0);
    Params params = make_params(&t);
    device_run(&t.d, "shared", 16, 256, &params);
    assert_true(value(&t, METRIC_ISSUED) > 0);
    for (u32 unit = 0; unit < TIMELINE_UNIT_COUNT; unit++) assert_int_equal(t.catch->point_count[unit], 0);
    close_device(&t);
}

// A counter over time has a row in time_metrics.def, by a unit that counts it; and no counter of the model is left out.
static void tables_are_complete(void **state) {
    (void)state;
    bool sm[SM_COUNTER_COUNT] = {false}, memory[MEM_COUNTER_COUNT] = {false};
    for (u32 m = 0; m < METRIC_COUNT; m++) {
        if (metric_table[m].formula || m == METRIC_ISSUED) continue;  // instructions have no row
        for (u32 unit = 0; unit < TIMELINE_UNIT_COUNT; unit++) {
            if (!metric_has_scope((MetricId)m, timeline_unit_scope((TimelineUnit)unit))) continue;
            u32 rows = 0;
            for (u32 r = 0; r < time_metric_count; r++)
                rows += time_metrics[r].metric == m &&
                        (unit == TIMELINE_GPU || time_metric_unit(&time_metrics[r]) == (TimelineUnit)unit);
            if (!rows) fail_msg("%s has no row for %s", metric_table[m].name, timeline_unit_name((TimelineUnit)unit));
        }
    }
    for (u32 r = 0; r < time_metric_count; r++) {
        if (time_metrics[r].source == TIME_SOURCE_SM) sm[time_metrics[r].counter] = true;
        if (time_metrics[r].source == TIME_SOURCE_MEM) memory[time_metrics[r].counter] = true;
        assert_true(metric_table[time_metrics[r].metric].formula == NULL);
    }
    for (u32 i = 0; i < SM_COUNTER_COUNT; i++) assert_true(sm[i]);
    for (u32 i = 0; i < MEM_COUNTER_COUNT; i++) assert_true(memory[i]);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_metric_is_alive),
        cmocka_unit_test(the_accounts_close),
        cmocka_unit_test(instructions_add_up_to_launches),
        cmocka_unit_test(every_cycle_is_sampled),
        cmocka_unit_test(warps_wait_for_a_unit),
        cmocka_unit_test(periods_are_sampled_side_by_side),
        cmocka_unit_test(barriers_wait_for_what_held_the_last_warp_up),
        cmocka_unit_test(code_behind_a_barrier_is_fetched_after_it),
        cmocka_unit_test(waiting_for_a_turn_is_the_same_for_every_interval),
        cmocka_unit_test(the_last_result_is_the_cause),
        cmocka_unit_test(of_three_results_one_is_the_cause),
        cmocka_unit_test(stall_counts_have_their_causes),
        cmocka_unit_test(calls_of_the_runtime_are_causes),
        cmocka_unit_test(warps_end_as_on_an_h200),
        cmocka_unit_test(the_slow_unit_and_constants_have_the_reasons_of_an_h200),
        cmocka_unit_test(places_are_the_order_of_issue),
        cmocka_unit_test(points_add_up_to_launches),
        cmocka_unit_test(watching_changes_nothing),
        cmocka_unit_test(long_launches_have_longer_points),
        cmocka_unit_test(without_an_interval_there_are_totals_only),
        cmocka_unit_test(tables_are_complete),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
