// SPDX-License-Identifier: Apache-2.0
// Loaded modules: module-scope variables get device memory and their initial bytes, kernels are lowered at first use.
#include <assert.h>
#include <string.h>

#include "ptx/ptx.h"
#include "sim/machine.h"
#include "sim/time/time_code.h"

FuncRef function_from_handle(const Module *module, u64 handle) {
    u64 first = FUNCTION_HANDLE(0);
    if (handle < first || (handle - first) % 16 || (handle - first) / 16 >= module->func_count) return WL_NONE;
    return (FuncRef)((handle - first) / 16);
}

static bool in_memory(const Var *var) {
    return var->space == SPACE_GLOBAL || var->space == SPACE_CONST || var->space == SPACE_TEX;
}

// Memory for one variable. Unsized extern arrays and the like get one byte: they have an address and nothing else.
static Status place_var(SimModule *sm, u32 ref) {
    Sim *sim = sm->sim;
    const Module *m = sm->ptx;
    const Var *var = &m->vars[ref];
    u64 size = var->size ? var->size : 1;
    SimMemoryKind kind = var->managed ? MEMORY_MANAGED : MEMORY_MODULE;
    TRY(sim_alloc(sim, sm->device, kind, size, var->align, &sm->var_address[ref]));
    SimAllocation *a = memory_lookup(sim, sm->var_address[ref]);
    a->label = module_text(m, var->name);
    a->read_only = var->space == SPACE_CONST;
    if (var->init_size) memcpy(a->host, m->init_bytes + var->init, var->init_size);
    return STATUS_OK;
}

static void apply_relocs(SimModule *sm, u32 ref) {
    const Module *m = sm->ptx;
    const Var *var = &m->vars[ref];
    for (u32 i = 0; i < var->reloc_count; i++) {
        const VarReloc *r = &m->relocs[var->reloc + i];
        u64 value = r->is_func ? FUNCTION_HANDLE(r->target) : sm->var_address[r->target];
        value = (value + (u64)r->addend) >> r->shift;
        u8 *at = sim_host_view(sm->sim, sm->var_address[ref] + r->offset, r->size, NULL);
        if (at) memcpy(at, &value, r->size);
    }
}

// A declaration (.extern) shares the address of the definition of the same name.
static u32 definition_of(const Module *m, u32 ref) {
    const Var *var = &m->vars[ref];
    if (var->linkage != LINKAGE_EXTERN) return ref;
    for (u32 i = 0; i < m->global_var_count; i++) {
        const Var *other = &m->vars[m->global_vars[i]];
        if (other->name == var->name && other->linkage != LINKAGE_EXTERN) return m->global_vars[i];
    }
    return ref;
}

static Status place_all(SimModule *sm) {
    const Module *m = sm->ptx;
    for (u32 ref = 0; ref < m->var_count; ref++) {
        const Var *var = &m->vars[ref];
        if (in_memory(var) && definition_of(m, ref) == ref) TRY(place_var(sm, ref));
    }
    for (u32 ref = 0; ref < m->var_count; ref++) {
        if (!in_memory(&m->vars[ref])) continue;
        sm->var_address[ref] = sm->var_address[definition_of(m, ref)];
        apply_relocs(sm, ref);
    }
    return STATUS_OK;
}

Status sim_load_module(Sim *sim, u32 device, Module *module, SimModule **loaded, Diag *diag) {
    SimModule *sm = mem_zero(1, sizeof *sm);
    if (!sm) return STATUS_NO_MEMORY;
    sm->sim = sim;
    sm->device = device;
    sm->ptx = module;
    sm->var_address = mem_zero(module->var_count + 1, sizeof *sm->var_address);
    sm->kernels = mem_zero(module->func_count + 1, sizeof *sm->kernels);
    sm->function_ids = mem_zero(module->func_count + 1, sizeof *sm->function_ids);
    Status status = sm->var_address && sm->kernels && sm->function_ids ? place_all(sm) : STATUS_NO_MEMORY;
    if (status == STATUS_OK) status = vec_push(&sim->devices[device].modules, sm);
    if (status != STATUS_OK) {
        diag_text(diag, DIAG_ERROR, module->path, 0, 0, "no memory for the module's variables");
        sm->ptx = NULL;  // stays the caller's
        sim_unload_module(sim, sm);
        return status;
    }
    *loaded = sm;
    return STATUS_OK;
}

Status sim_keep_text(SimModule *sm, Str text) {
    if (!sm->sim->config.sink || sm->record_id || sm->text) return STATUS_OK;
    sm->text = mem_copy_str(text);
    sm->text_size = text.len;
    return sm->text ? STATUS_OK : STATUS_NO_MEMORY;
}

static void free_kernel(SimKernel *kernel) {
    if (!kernel) return;
    time_code_free(kernel->time_code);
    program_free(kernel->program);
    mem_free(kernel->params);
    mem_free(kernel);
}

void sim_unload_module(Sim *sim, SimModule *sm) {
    for (u32 i = 0; sm->var_address && sm->ptx && i < sm->ptx->var_count; i++)
        if (sm->var_address[i] && definition_of(sm->ptx, i) == i && sim_free(sim, sm->var_address[i]) != STATUS_OK)
            assert(false);
    for (u32 i = 0; sm->kernels && sm->ptx && i < sm->ptx->func_count; i++) free_kernel(sm->kernels[i]);
    SimDevice *device = &sim->devices[sm->device];
    for (u32 i = 0; i < device->modules.len; i++)
        if (device->modules.data[i] == sm) device->modules.data[i] = device->modules.data[--device->modules.len];
    mem_free(sm->var_address);
    mem_free(sm->kernels);
    mem_free(sm->function_ids);
    mem_free(sm->text);
    if (sm->ptx) module_free(sm->ptx);
    mem_free(sm);
}

const Module *sim_module_ptx(const SimModule *module) { return module->ptx; }

Status sim_find_kernel(Sim *sim, SimModule *sm, const char *name, SimKernel **kernel) {
    (void)sim;
    FuncRef func = module_find_function(sm->ptx, (Str){name, strlen(name)});
    if (func == WL_NONE || !sm->ptx->funcs[func].is_entry || !sm->ptx->funcs[func].has_body) return STATUS_NOT_FOUND;
    if (!sm->kernels[func]) {
        SimKernel *k = mem_zero(1, sizeof *k);
        if (!k) return STATUS_NO_MEMORY;
        k->module = sm;
        k->func = func;
        sm->kernels[func] = k;
    }
    *kernel = sm->kernels[func];
    return STATUS_OK;
}

Status sim_find_symbol(Sim *sim, SimModule *sm, const char *name, DevicePtr *address, u64 *size) {
    (void)sim;
    VarRef ref = module_find_global(sm->ptx, (Str){name, strlen(name)});
    if (ref == WL_NONE || !in_memory(&sm->ptx->vars[ref])) return STATUS_NOT_FOUND;
    *address = sm->var_address[ref];
    *size = sm->ptx->vars[definition_of(sm->ptx, ref)].size;
    return STATUS_OK;
}

// --- kernels -----------------------------------------------------------------------------------------------------
static Status describe_params(SimKernel *k) {
    const Module *m = k->module->ptx;
    const Function *f = &m->funcs[k->func];
    k->params = mem_zero(f->param_count + 1, sizeof *k->params);
    if (!k->params) return STATUS_NO_MEMORY;
    u32 at = 0;
    for (u32 i = 0; i < f->param_count; i++) {
        const Var *var = &m->vars[f->params + i];
        at = var->align ? (at + var->align - 1) / var->align * var->align : at;
        k->params[i] = (SimParam){.offset = at, .size = (u32)var->size};
        at += (u32)var->size;
    }
    k->info.params = k->params;
    k->info.param_count = f->param_count;
    k->info.param_bytes = at;
    return STATUS_OK;
}

static u32 const_bytes(const Module *m) {
    u64 bytes = 0;
    for (u32 i = 0; i < m->global_var_count; i++)
        if (m->vars[m->global_vars[i]].space == SPACE_CONST) bytes += m->vars[m->global_vars[i]].size;
    return (u32)bytes;
}

Status sim_kernel_prepare(Sim *sim, SimKernel *k, SimKernelInfo *info, Diag *diag) {
    const GpuModel *gpu = sim_gpu(sim, k->module->device);
    if (!k->program) {
        const Module *m = k->module->ptx;
        const Function *f = &m->funcs[k->func];
        TRY(program_build(k->module, k->func, &k->program, diag));
        if (!k->params) TRY(describe_params(k));
        u64 most = f->max_threads[0] ? (u64)f->max_threads[0] * (f->max_threads[1] ? f->max_threads[1] : 1) *
                                           (f->max_threads[2] ? f->max_threads[2] : 1)
                                     : gpu->max_threads_per_cta;
        k->info.name = module_text(m, f->name);
        k->info.static_shared_bytes = k->program->shared_bytes;
        k->info.local_bytes = k->program->local_bytes;
        k->info.const_bytes = const_bytes(m);
        k->info.max_threads = (u32)(most < gpu->max_threads_per_cta ? most : gpu->max_threads_per_cta);
        memcpy(k->info.required_threads, f->required_threads, sizeof f->required_threads);
        memcpy(k->info.cluster, f->required_cluster, sizeof f->required_cluster);
        k->info.needs_cluster = f->explicit_cluster;
        k->info.max_cluster = f->max_cluster;
        k->info.launches_graphs = k->program->launches_graphs;
        k->info.target_sm = m->target_sm;
    }
    u32 limit = (u32)gpu->max_registers_per_thread;
    k->info.registers = k->known.registers              ? k->known.registers
                        : k->program->registers < 16    ? 16
                        : k->program->registers > limit ? limit
                                                        : k->program->registers;
    if (info) *info = k->info;
    return STATUS_OK;
}

void sim_kernel_set_code(SimKernel *kernel, SimMachineCode known) { kernel->known = known; }
