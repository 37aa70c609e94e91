// SPDX-License-Identifier: Apache-2.0
#include "ptx/ir.h"

#include <string.h>

#include "base/mem.h"
#include "ptx/ptx.h"

FuncRef module_find_function(const Module *m, Str name) {
    TextRef text = intern_find(&m->texts, name);
    FuncRef declared = WL_NONE;
    if (text == WL_NONE) return WL_NONE;
    for (FuncRef i = 0; i < m->func_count; i++) {
        if (m->funcs[i].name != text) continue;
        if (m->funcs[i].has_body) return i;
        if (declared == WL_NONE) declared = i;
    }
    return declared;
}

VarRef module_find_global(const Module *m, Str name) {
    TextRef text = intern_find(&m->texts, name);
    VarRef declared = WL_NONE;
    if (text == WL_NONE) return WL_NONE;
    for (u32 i = 0; i < m->global_var_count; i++) {
        const Var *var = &m->vars[m->global_vars[i]];
        if (var->name != text) continue;
        if (var->linkage != LINKAGE_EXTERN) return m->global_vars[i];
        if (declared == WL_NONE) declared = m->global_vars[i];
    }
    return declared;
}

const File *module_file(const Module *m, u32 index) {
    for (u32 i = 0; i < m->file_count; i++) {
        if (m->files[i].index == index) return &m->files[i];
    }
    return NULL;
}

// array, count
// clang-format off
#define MODULE_ARRAYS(X) \
    X(forms, form_count) X(insns, insn_count) X(operands, operand_count) X(regs, reg_count) \
    X(reg_decls, reg_decl_count) X(vars, var_count) X(global_vars, global_var_count) \
    X(global_directives, global_directive_count) X(funcs, func_count) X(labels, label_count) \
    X(scopes, scope_count) X(locs, loc_count) X(files, file_count) X(directives, directive_count) \
    X(sections, section_count) X(relocs, reloc_count) X(dims, dims_count) X(refs, refs_count) \
    X(init_bytes, init_bytes_count)
// clang-format on

size_t module_memory(const Module *m) {
    size_t bytes = sizeof *m + strlen(m->path) + 1;
#define X(array, count) bytes += (size_t)m->count * sizeof *m->array;
    MODULE_ARRAYS(X)
#undef X
    bytes += m->texts.arena.reserved + (size_t)m->texts.cap * sizeof *m->texts.entries;
    return bytes + (size_t)m->texts.table_cap * sizeof *m->texts.table;
}

void module_free(Module *m) {
    if (!m) return;
#define X(array, count) mem_free(m->array);
    MODULE_ARRAYS(X)
#undef X
    intern_free(&m->texts);
    mem_free((char *)m->path);
    mem_free(m);
}
