// SPDX-License-Identifier: Apache-2.0
// The code of a view: the module's text from the profile, parsed once, and the static analyses over the function.
#include <string.h>

#include "analyze/kernel_view_inside.h"
#include "ptx/ptx.h"
#include "sass/control.h"
#include "sass/latency.h"

static Status read_machine_code(KernelViews *views, u32 id, Str bytes, ViewModule *module, Diag *diag) {
    module->machine = mem_zero(1, sizeof *module->machine);
    if (!module->machine) return STATUS_NO_MEMORY;
    TRY(machine_code_read(views->profile, id, bytes, &views->disassemble_ms, module->machine, diag));
    module->why = module->machine->why;
    return STATUS_OK;
}

static Status parse_module(KernelViews *views, u32 id, ViewModule *module, Diag *diag) {
    Str text;
    TRY(profile_module_text(views->profile, id, &text, diag));
    if (!text.len) return module->why = "the profile holds no code of its module", STATUS_OK;
    if (machine_code_is(text)) return read_machine_code(views, id, text, module, diag);
    Status status = ptx_parse(text, "", &module->ptx, NULL);
    if (status == STATUS_NO_MEMORY) return status;
    if (status != STATUS_OK) module->why = "the code of its module in the profile cannot be read as PTX";
    return STATUS_OK;
}

static Status find_module(KernelViews *views, u32 id, ViewModule **module, Diag *diag) {
    u64 *known = map_get(&views->modules, id);
    if (!known) {
        TRY(map_put(&views->modules, id, views->module_rows.len));
        TRY(vec_push(&views->module_rows, (ViewModule){0}));
        TRY(parse_module(views, id, &views->module_rows.data[views->module_rows.len - 1], diag));
    }
    *module = &views->module_rows.data[known ? *known : views->module_rows.len - 1u];
    return STATUS_OK;
}

static Status analyse_ptx(KernelViews *views, ViewModule *module, FuncRef func, KernelView *view) {
    FlowCode *code;
    CallGraph *calls;
    if (!module->calls) {
        TRY(flow_callgraph(module->ptx, &views->arena, &calls));
        module->calls = calls;
    }
    TRY(flow_from_ptx(module->ptx, func, &views->arena, &code));
    TRY(flow_analyse(code, &views->arena, &view->flow));
    view->flow.calls = module->calls;
    view->kind = VIEW_PTX;
    return STATUS_OK;
}

static Status load_ptx(KernelViews *views, ViewModule *module, KernelView *view) {
    const ProfileFunction *function = view->function;
    FuncRef func = module_find_function(module->ptx, (Str){function->name, strlen(function->name)});
    if (func == WL_NONE || !module->ptx->funcs[func].has_body) {
        view->no_code = "the function is not in the code of its module";
    } else if (function->insn_count && module->ptx->funcs[func].insn_count != function->insn_count) {
        view->no_code = "the code of its module is not the one that was measured";
    } else {
        return analyse_ptx(views, module, func, view);
    }
    return STATUS_OK;
}

static Status load_sass(KernelViews *views, const ViewModule *module, KernelView *view) {
    FlowCode *code;
    u32 expected = view->function->insn_count;
    Status status = machine_code_flow(module->machine, view->function->name, &views->arena, &code);
    if (status == STATUS_NOT_FOUND) return view->no_code = "the function is not in the code of its module", STATUS_OK;
    TRY(status);
    if (expected && code->insn_count != expected)
        return view->no_code = "the code of its module is not the one that was measured", STATUS_OK;
    TRY(flow_analyse(code, &views->arena, &view->flow));
    view->kind = VIEW_SASS;
    view->latency_known = sass_latencies(code->sass->sm)->known;
    return STATUS_OK;
}

// As the profile's reader has it: code inlined from a header of the toolkit is shown at the program's line that called
// it.
static ProfilePlace place_of(const Cubin *cubin, const CubinLine *line) {
    if (line->file == WL_NONE) return (ProfilePlace){0};
    const char *file = cubin->files.data[line->file];
    bool moved = line->inlined && line->call_file != WL_NONE && record_is_system_file(file) &&
                 !record_is_system_file(cubin->files.data[line->call_file]);
    return moved ? (ProfilePlace){cubin->files.data[line->call_file], line->call_line}
                 : (ProfilePlace){file, line->line};
}

Status view_machine_places(KernelViews *views, const KernelView *view, ProfilePlace **places, u32 *count) {
    const u64 *at = map_get(&views->modules, view->function->module_id);
    const MachineCode *code = at ? views->module_rows.data[*at].machine : NULL;
    const char *name = view->function->name;
    const CubinFunction *function = code ? cubin_find_function(&code->cubin, (Str){name, strlen(name)}) : NULL;
    *count = 0;
    if (!function || !function->line_count) return STATUS_OK;
    u32 insns = (u32)(function->code_size / SASS_INSN_BYTES);
    *places = ARENA_ARRAY(&views->arena, ProfilePlace, insns + 1);
    if (!*places) return STATUS_NO_MEMORY;
    for (u32 i = 0; i < insns; i++) {
        const CubinLine *line = cubin_find_line(&code->cubin, function, (u64)i * SASS_INSN_BYTES);
        if (line) (*places)[i] = place_of(&code->cubin, line);
    }
    *count = insns;
    return STATUS_OK;
}

Status view_load_code(KernelViews *views, KernelView *view, Diag *diag) {
    ViewModule *module;
    TRY(find_module(views, view->function->module_id, &module, diag));
    view->no_code = module->why;
    if (module->ptx) TRY(load_ptx(views, module, view));
    if (module->machine && !module->why) TRY(load_sass(views, module, view));
    if (view->no_code)
        diag_text(diag, DIAG_NOTE, NULL, 0, 0, "%s: %s; it is analysed without instructions", view->function->name,
                  view->no_code);
    return STATUS_OK;
}
