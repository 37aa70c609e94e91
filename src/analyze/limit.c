// SPDX-License-Identifier: Apache-2.0
#include "analyze/limit.h"

#include <math.h>

#define AT_ONCE 0.6      // of a launch's time, to begin and end it
#define MANY_SMS 0.6     // of the SMs' time: with less the others' are what is missing
#define NEAR_LIMIT 0.8   // busy: a unit that works more than that sets the pace
#define MOST_FIXED 0.95  // what a launch's cost is known to

static f64 ratio(const MetricSet *m, MetricId part, MetricId whole) {
    return m->present[part] && m->value[whole] > 0 ? m->value[part] / m->value[whole] : 0;
}

f64 limit_fixed(const GpuModel *gpu, f64 count, f64 cycles) {
    if (!gpu || count <= 0 || cycles <= 0) return 0;
    return fmin((f64)(gpu->launch_overhead + gpu->launch_end) * count / cycles, MOST_FIXED);
}

// CTAs are handed out one after the other, and start on an SM one after the other, warp by warp.
f64 limit_starts(const GpuModel *gpu, f64 ctas, f64 warps_per_cta, f64 cycles) {
    if (!gpu || !gpu->sms || cycles <= 0) return 0;
    f64 start = (f64)gpu->cta_interval + (f64)gpu->warp_start * warps_per_cta;
    f64 by_sm = ctas / (f64)gpu->sms * start, by_gpu = ctas * fmax((f64)gpu->cta_dispatch, (f64)gpu->cta_retire) / 100;
    return fmax(by_sm, by_gpu) / cycles;
}

static f64 pipe_busy(const MetricSet *m, const GpuModel *gpu, MetricId pipe, u64 interval) {
    f64 slots = m->value[METRIC_SM_ACTIVE] * (f64)gpu->warp_schedulers;
    return m->present[pipe] && slots > 0 ? m->value[pipe] * (f64)interval / slots : 0;
}

static void find_busy(const MetricSet *m, const GpuModel *gpu, f64 fixed, f64 busy[RESOURCE_COUNT]) {
    f64 overall = 1 / (1 - fixed);  // of the time in which there are CTAs
    busy[RESOURCE_LSU] =
        fmax(ratio(m, METRIC_L1_TAG_CYCLES, METRIC_SM_ACTIVE), ratio(m, METRIC_L1_DATA_CYCLES, METRIC_SM_ACTIVE));
    busy[RESOURCE_L2] = ratio(m, METRIC_L2_BUSY, METRIC_L2_ELAPSED) * overall;
    f64 bytes = m->value[METRIC_DRAM_READ_BYTES] + m->value[METRIC_DRAM_WRITE_BYTES];
    if (m->value[METRIC_DRAM_PEAK] > 0) busy[RESOURCE_DRAM] = bytes / m->value[METRIC_DRAM_PEAK] * overall;
    if (!gpu) return;
    busy[RESOURCE_ALU] = pipe_busy(m, gpu, METRIC_PIPE_ALU, gpu->alu_interval);
    busy[RESOURCE_FMA] = pipe_busy(m, gpu, METRIC_PIPE_FMA, gpu->fma_interval);
    busy[RESOURCE_FMAHEAVY] = pipe_busy(m, gpu, METRIC_PIPE_FMAHEAVY, gpu->fmaheavy_interval);
    busy[RESOURCE_FP64] = pipe_busy(m, gpu, METRIC_PIPE_FP64, gpu->fp64_interval);
    busy[RESOURCE_XU] = pipe_busy(m, gpu, METRIC_PIPE_XU, gpu->xu_interval);
}

LimitFacts limit_facts(const MetricSet *m, const GpuModel *gpu, f64 fixed) {
    LimitFacts facts = {.fixed = fixed, .sms = 1};
    f64 slots = m->value[METRIC_ISSUE_ACTIVE] + m->value[METRIC_ISSUE_STALLED];
    if (m->present[METRIC_SM_ACTIVE] && m->value[METRIC_SM_ELAPSED] > 0)
        facts.sms = fmin(m->value[METRIC_SM_ACTIVE] / m->value[METRIC_SM_ELAPSED] / (1 - fixed), 1);
    if (m->present[METRIC_ISSUE_ACTIVE] && slots > 0) facts.issue = m->value[METRIC_ISSUE_ACTIVE] / slots;
    find_busy(m, gpu, fixed, facts.busy);
    return facts;
}

Limit limit_of(const LimitFacts *facts) {
    u32 busiest = 0;
    f64 atomics = facts->busy[RESOURCE_ATOMIC];
    for (u32 r = 1; r < RESOURCE_COUNT; r++)
        if (facts->busy[r] > facts->busy[busiest]) busiest = r;
    // What is in front of a DRAM without rest is held up by it.
    if ((busiest == RESOURCE_LSU || busiest == RESOURCE_L2) && facts->busy[RESOURCE_DRAM] >= 1) busiest = RESOURCE_DRAM;
    if (facts->fixed >= AT_ONCE) return (Limit){.by = HELD_BY_LAUNCH, .part = facts->fixed};
    if (atomics > NEAR_LIMIT) return (Limit){.by = HELD_BY_UNIT, .unit = RESOURCE_ATOMIC, .part = atomics};
    if (facts->sms < MANY_SMS) return (Limit){.by = HELD_BY_SMS, .part = 1 - facts->sms};
    if (facts->busy[busiest] > NEAR_LIMIT)
        return (Limit){.by = HELD_BY_UNIT, .unit = (Resource)busiest, .part = fmin(facts->busy[busiest], 1)};
    if (facts->issue > NEAR_LIMIT) return (Limit){.by = HELD_BY_ISSUE, .part = facts->issue};
    return (Limit){.by = HELD_BY_WAITS};
}
