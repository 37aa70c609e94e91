// SPDX-License-Identifier: Apache-2.0
// The code of a view: the module's text from the profile, parsed once, and the static analyses over the function.
#include <string.h>

#include "analyze/kernel_view_inside.h"
#include "ptx/ptx.h"

static Status parse_module(KernelViews *views, u32 id, ViewModule *module, Diag *diag) {
    Str text;
    TRY(profile_module_text(views->profile, id, &text, diag));
    if (!text.len) return module->why = "the profile holds no code of its module", STATUS_OK;
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

Status view_load_code(KernelViews *views, KernelView *view, Diag *diag) {
    ViewModule *module;
    TRY(find_module(views, view->function->module_id, &module, diag));
    view->no_code = module->why;
    if (module->ptx) TRY(load_ptx(views, module, view));
    if (view->no_code)
        diag_text(diag, DIAG_NOTE, NULL, 0, 0, "%s: %s; it is analysed without instructions", view->function->name,
                  view->no_code);
    return STATUS_OK;
}
