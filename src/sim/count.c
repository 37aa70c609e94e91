// SPDX-License-Identifier: Apache-2.0
// From the counters of each instruction to records: the module, its functions and their line maps once, the totals of
// each launch, and what each instruction added.
#include <string.h>

#include "metric/metric.h"
#include "sim/grid.h"

typedef Vec(RecordPcCount) PcCountVec;

// --- announcing ----------------------------------------------------------------------------------------------------
// The path and its NUL, then the text.
static Status announce_module(SimModule *sm) {
    if (sm->record_id) return STATUS_OK;
    Sim *sim = sm->sim;
    const char *path = sm->ptx->path ? sm->ptx->path : "";
    size_t path_size = strlen(path) + 1;
    char *tail = mem_alloc(path_size + sm->text_size);
    if (!tail) return STATUS_NO_MEMORY;
    memcpy(tail, path, path_size);
    if (sm->text) memcpy(tail + path_size, sm->text, sm->text_size);
    sm->record_id = ++sim->next_module_id;
    RecordModule record = {.module = sm->record_id, .hash = sm->ptx->hash, .text_size = sm->text_size};
    Status status = sink_write(sim->config.sink, RECORD_MODULE, &record, tail, path_size + sm->text_size);
    mem_free(tail);
    mem_free(sm->text);
    sm->text = NULL;
    return status;
}

static Status file_id(Sim *sim, const char *path, u32 *id) {
    u64 key = hash_bytes(path, strlen(path));
    u64 *known = map_get(&sim->file_ids, key);
    if (known) return *id = (u32)*known, STATUS_OK;
    *id = ++sim->next_file_id;
    TRY(map_put(&sim->file_ids, key, *id));
    return sink_write(sim->config.sink, RECORD_FILE_NAME, &(RecordFileName){*id}, path, strlen(path) + 1);
}

static u32 op_class(const Form *form) {
    u32 flags = form_op(form)->flags, unit = form_op(form)->unit;
    if (!(flags & (OPF_LOAD | OPF_ATOMIC))) return unit;
    return unit | (1u + form->space) << INSN_SPACE_BIT | (flags & OPF_ATOMIC ? INSN_ATOMIC : 0u);
}

static Status describe_insn(SimModule *sm, const Insn *insn, RecordInsn *out) {
    const Module *m = sm->ptx;
    *out = (RecordInsn){.text_line = insn->line, .op_class = op_class(insn_form(m, insn))};
    if (!insn->loc) return STATUS_OK;
    const Loc *loc = &m->locs[insn->loc];
    const File *file = module_file(m, loc->file);
    if (!file) return STATUS_OK;
    TRY(file_id(sm->sim, module_text(m, file->path), &out->file));
    out->line = loc->line;
    out->column = loc->column;
    for (LocRef up = loc->inlined_at; up && out->inlined < 64; up = m->locs[up].inlined_at) {
        const File *caller = module_file(m, m->locs[up].file);
        out->inlined++;
        if (!caller) continue;
        TRY(file_id(sm->sim, module_text(m, caller->path), &out->call_file));
        out->call_line = m->locs[up].line;
    }
    return STATUS_OK;
}

static Status announce_function(SimModule *sm, FuncRef ref, const SimKernel *kernel) {
    if (sm->function_ids[ref]) return STATUS_OK;
    const Module *m = sm->ptx;
    const Function *f = &m->funcs[ref];
    Sim *sim = sm->sim;
    sm->function_ids[ref] = ++sim->next_function_id;
    RecordFunction record = {.function = sm->function_ids[ref],
                             .module = sm->record_id,
                             .is_entry = f->is_entry,
                             .insn_count = f->insn_count};
    if (kernel) {
        record.registers = kernel->info.registers;
        record.shared_bytes = kernel->info.static_shared_bytes;
        record.local_bytes = kernel->info.local_bytes;
        record.const_bytes = kernel->info.const_bytes;
    }
    const char *name = module_text(m, f->name);
    TRY(sink_write(sim->config.sink, RECORD_FUNCTION, &record, name, strlen(name) + 1));
    RecordInsn *insns = mem_zero(f->insn_count + 1, sizeof *insns);
    if (!insns) return STATUS_NO_MEMORY;
    Status status = STATUS_OK;
    for (u32 i = 0; i < f->insn_count && status == STATUS_OK; i++)
        status = describe_insn(sm, &m->insns[f->insns + i], &insns[i]);
    RecordInsns head = {.function = record.function, .count = f->insn_count};
    if (status == STATUS_OK)
        status = sink_write(sim->config.sink, RECORD_INSN, &head, insns, sizeof *insns * f->insn_count);
    mem_free(insns);
    return status;
}

Status count_announce(SimKernel *kernel) {
    if (!kernel->module->sim->config.sink) return STATUS_OK;
    TRY(announce_module(kernel->module));
    const SimProgram *p = kernel->program;
    for (u32 i = 0; i < p->func_count; i++)
        TRY(announce_function(kernel->module, p->funcs[i].func, i == 0 ? kernel : NULL));
    return STATUS_OK;
}

// --- counting ------------------------------------------------------------------------------------------------------
typedef struct CountOut {
    PcCountVec *rows;
    f64 *totals;
    u32 pc;
    Status status;
} CountOut;

static void add(CountOut *out, MetricId metric, u64 value) {
    if (value == 0 || out->status != STATUS_OK) return;
    out->totals[metric] += (f64)value;
    out->status = vec_push(out->rows, ((RecordPcCount){.pc = out->pc, .metric = metric, .value = (f64)value}));
}

static void add_memory(CountOut *out, const SimInsn *in, u32 flags, const PcCounters *c) {
    bool store = flags & OPF_STORE && !(flags & OPF_LOAD), atomic = flags & OPF_ATOMIC;
    if (atomic) {  // an atomic whose result nobody reads is a reduction, as ptxas makes it
        bool red = in->dst == SIM_NO_OPERAND && in->form_op != OP_ATOM_CAS;
        add(out, red ? METRIC_GLOBAL_RED_REQ : METRIC_GLOBAL_ATOM_REQ, c->requests);
        add(out, red ? METRIC_GLOBAL_RED_SECT : METRIC_GLOBAL_ATOM_SECT, c->sectors);
    } else {
        add(out, store ? METRIC_GLOBAL_ST_REQ : METRIC_GLOBAL_LD_REQ, c->requests);
        add(out, store ? METRIC_GLOBAL_ST_SECT : METRIC_GLOBAL_LD_SECT, c->sectors);
        add(out, store ? METRIC_GLOBAL_ST_BYTES : METRIC_GLOBAL_LD_BYTES, c->bytes);
    }
    add(out, atomic ? METRIC_SHARED_ATOM : store ? METRIC_SHARED_ST : METRIC_SHARED_LD, c->shared);
    add(out,
        atomic  ? METRIC_SHARED_ATOM_WAVEFRONTS
        : store ? METRIC_SHARED_ST_WAVEFRONTS
                : METRIC_SHARED_LD_WAVEFRONTS,
        c->wavefronts);
    add(out,
        atomic  ? METRIC_SHARED_ATOM_CONFLICTS
        : store ? METRIC_SHARED_ST_CONFLICTS
                : METRIC_SHARED_LD_CONFLICTS,
        c->conflicts);
    add(out, store ? METRIC_LOCAL_ST_REQ : METRIC_LOCAL_LD_REQ, c->local_requests);
    add(out, store ? METRIC_LOCAL_ST_SECT : METRIC_LOCAL_LD_SECT, c->local_sectors);
}

static bool is_gmma(const SimInsn *in) { return in->form_op == OP_WGMMA || in->form_op == OP_WGMMA_SP; }

static void add_gmma(CountOut *out, const PcCounters *c) {
    add(out, METRIC_GMMA, c->warps);
    add(out, METRIC_SHARED_GMMA_WAVEFRONTS, c->wavefronts);
    add(out, METRIC_SHARED_GMMA_BYTES, c->bytes);
}

static void add_insn(CountOut *out, const SimInsn *in, const PcCounters *c) {
    u32 flags = ptx_ops[in->form_op].flags;
    add(out, METRIC_INST, c->warps);
    add(out, METRIC_THREAD_INST, c->threads);
    add(out, METRIC_THREAD_INST_ON, c->threads_on);
    bool decides = in->kind == SIM_SWITCH || (in->kind == SIM_BRANCH && in->guard != WL_NONE);
    if (decides) add(out, METRIC_BRANCH, c->warps);
    add(out, METRIC_BRANCH_DIVERGENT, c->divergent);
    if (flags & OPF_TEXTURE)
        add(out, METRIC_TEX, c->warps);
    else if (flags & OPF_SURFACE)
        add(out, METRIC_SURFACE, c->warps);
    else if (in->space == SPACE_CONST || (in->space == SPACE_PARAM && flags & OPF_LOAD))
        add(out, METRIC_CONST_LD, c->warps);
    else if (is_gmma(in))
        add_gmma(out, c);
    else
        add_memory(out, in, flags, c);
    if (flags & OPF_BARRIER)
        add(out, METRIC_BARRIER, c->warps);
    else if (flags & OPF_MATRIX)
        add(out, METRIC_MATRIX, c->warps);
    else if (flags & OPF_WARP_SYNC && in->form_op != OP_BAR_WARP_SYNC && ptx_ops[in->form_op].unit != UNIT_TENSOR)
        add(out, METRIC_SHUFFLE, c->warps);
    else if (in->form_op == OP_MEMBAR || in->form_op == OP_FENCE)
        add(out, METRIC_FENCE, c->warps);
}

static Status write_function(Grid *g, const SimFunc *f, PcCountVec *rows, f64 *totals) {
    Sim *sim = g->sim;
    rows->len = 0;
    CountOut out = {.rows = rows, .totals = totals};
    for (u32 i = 0; i < f->insn_count; i++) {
        PcState *state = &g->states[f->entry + i];
        if (state->counters.warps == 0) continue;
        out.pc = i;
        add_insn(&out, &g->program->insns[f->entry + i], &state->counters);
    }
    TRY(out.status);
    if (rows->len == 0) return STATUS_OK;
    RecordPcCounts head = {
        .function = g->kernel->module->function_ids[f->func], .source = sim->config.source, .count = rows->len};
    return sink_write(sim->config.sink, RECORD_PC_COUNTS, &head, rows->data, sizeof *rows->data * rows->len);
}

static Status write_totals(Grid *g, u32 launch_id, const f64 *totals) {
    RecordCount counts[METRIC_COUNT];
    u32 count = 0;
    for (u32 m = 0; m < METRIC_COUNT; m++)
        if (totals[m] != 0) counts[count++] = (RecordCount){.metric = m, .value = totals[m]};
    RecordLaunchCounts head = {.launch = launch_id, .count = count};
    return sink_write(g->sim->config.sink, RECORD_LAUNCH_COUNTS, &head, counts, sizeof *counts * count);
}

Status count_launch(Grid *g, u32 launch_id, u64 host_ns) {
    f64 totals[METRIC_COUNT] = {0};
    PcCountVec rows = {0};
    Status status = STATUS_OK;
    for (u32 i = 0; i < g->program->func_count && status == STATUS_OK; i++)
        status = write_function(g, &g->program->funcs[i], &rows, totals);
    totals[METRIC_CTAS] = (f64)g->cta_count;
    u64 threads = (u64)g->block[0] * g->block[1] * g->block[2];
    totals[METRIC_WARPS] = (f64)(g->cta_count * ((threads + LANES - 1) / LANES));
    totals[METRIC_HOST_NS] = (f64)host_ns;
    if (status == STATUS_OK) status = write_totals(g, launch_id, totals);
    vec_free(&rows);
    return status;
}
