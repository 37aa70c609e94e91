// SPDX-License-Identifier: Apache-2.0
#include "sim/time/sample_math.h"

#include <math.h>

#include "base/map.h"

// --- mixes -------------------------------------------------------------------------------------------------------
Mix mix_read(const Grid *g) {
    Mix mix = {0};
    for (u32 pc = 0; pc < g->program->insn_count; pc++) {
        const PcCounters *c = &g->states[pc].counters;
        mix.part[pc % MIX_PARTS] += (f64)c->warps;
        mix.insts += (f64)c->warps;
        mix.threads += (f64)c->threads_on;
        mix.sectors += (f64)(c->sectors + c->local_sectors);
        mix.wavefronts += (f64)c->wavefronts;
    }
    return mix;
}

Mix mix_difference(const Mix *to, const Mix *from) {
    Mix mix = *to;
    for (u32 i = 0; i < MIX_PARTS; i++) mix.part[i] -= from->part[i];
    mix.insts -= from->insts;
    mix.threads -= from->threads;
    mix.sectors -= from->sectors;
    mix.wavefronts -= from->wavefronts;
    return mix;
}

// Of two amounts per instruction. What happens at one instruction in a hundred decides nothing.
static f64 rate_distance(f64 a, f64 b) {
    f64 most = a > b ? a : b;
    return most > 0.01 ? fabs(a - b) / most : 0;
}

f64 mix_distance(const Mix *a, const Mix *b) {
    if (a->insts <= 0 || b->insts <= 0) return a->insts == b->insts ? 0 : 1;
    f64 parts = 0;
    for (u32 i = 0; i < MIX_PARTS; i++) parts += fabs(a->part[i] / a->insts - b->part[i] / b->insts) / 2;
    f64 others[] = {rate_distance(a->threads / a->insts, b->threads / b->insts),
                    rate_distance(a->sectors / a->insts, b->sectors / b->insts),
                    rate_distance(a->wavefronts / a->insts, b->wavefronts / b->insts)};
    for (u32 i = 0; i < WL_COUNT(others); i++)
        if (others[i] > parts) parts = others[i];
    return parts;
}

// --- statistics --------------------------------------------------------------------------------------------------
void sample_add(SampleTally *t, f64 value, f64 weight) {
    if (weight <= 0) return;
    t->count++;
    t->weight += weight;
    f64 before = value - t->mean;
    t->mean += before * weight / t->weight;
    t->spread += weight * before * (value - t->mean);
}

f64 sample_deviation(const SampleTally *t) {
    if (t->count < 2 || t->mean <= 0) return 0;
    return sqrt(t->spread / t->weight * t->count / (t->count - 1)) / t->mean;
}

f64 sample_student(u32 count) {
    static const f64 of[] = {12.71, 4.30, 3.18, 2.78, 2.57, 2.45, 2.36, 2.31, 2.26, 2.23, 2.20, 2.18, 2.16, 2.14, 2.13};
    if (count < 2) return of[0];
    return count - 2 < WL_COUNT(of) ? of[count - 2] : count < 31 ? 2.09 : 1.96;
}

// --- the plan ----------------------------------------------------------------------------------------------------
// CTAs that start side by side go out of step slowly, and rows of DRAM are hit less and less: vector_add on
// quadro-fx5800 takes 12,200 cycles for its first 960 CTAs, 14,100 for each of the next three, 15,400 from the fifth on
// (32 waves). So the first chunk is as long as can be afforded, up to so many waves.
enum { SETTLED = 64 };

static u64 first_chunk(u64 waves, u32 period, u64 measured) {
    u64 least = SAMPLE_FIRST + measured, share = waves / period;
    if (share > SETTLED) share = SETTLED;
    return share > least ? share : least;
}

Status sample_plan(u64 waves, u32 period, u64 seed, u64 *measured, SampleChunks *chunks) {
    chunks->len = 0;
    if (!sample_worth(waves)) return STATUS_OK;
    while (*measured > 1 && (waves - SAMPLE_FIRST - *measured - 1) / SAMPLE_CHUNKS < 2 * (1 + *measured)) --*measured;
    u64 each = 1 + *measured, first = first_chunk(waves, period, *measured), inner = waves - first - 1;
    u64 count = waves / (each * period);
    if (count < SAMPLE_CHUNKS) count = SAMPLE_CHUNKS;
    if (count > UINT32_MAX / 2) count = UINT32_MAX / 2;
    TRY(vec_push(chunks, ((SampleChunk){0, first})));
    for (u64 i = 0; i < count; i++) {
        u64 begin = first + inner * i / count, end = first + inner * (i + 1) / count;
        u64 at = begin + hash_u64(seed + i) % (end - begin - each + 1);
        TRY(vec_push(chunks, ((SampleChunk){at, each})));
    }
    return STATUS_OK;
}
