// SPDX-License-Identifier: Apache-2.0
// Module to PTX text. The order of what stands at module scope is that of the lines it was read from; labels, locs,
// nested blocks and pragmas are merged into the instructions by their positions.
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/map.h"
#include "ptx/ptx.h"

typedef struct Printer {
    const Module *m;
    TextBuffer *out;
    Status status;
    Map latest;  // hash of a loc's triple to the loc that a reader would now take for it
} Printer;

static void put(Printer *p, const char *text, size_t len) {
    if (p->status != STATUS_OK) return;
    p->status = vec_reserve(p->out, len);
    if (p->status != STATUS_OK) return;
    memcpy(p->out->data + p->out->len, text, len);
    p->out->len += (u32)len;
}

static void puts_(Printer *p, const char *text) { put(p, text, strlen(text)); }

static void printf_(Printer *p, const char *format, ...) WL_PRINTF(2, 3);
static void printf_(Printer *p, const char *format, ...) {
    char text[128];
    va_list args;
    va_start(args, format);
    int len = vsnprintf(text, sizeof text, format, args);
    va_end(args);
    put(p, text, (size_t)len < sizeof text ? (size_t)len : sizeof text - 1);
}

static void put_text(Printer *p, TextRef ref) {
    Str text = intern_str(&p->m->texts, ref);
    put(p, text.data, text.len);
}

static void put_number(Printer *p, u64 value) {
    char digits[20];
    u32 at = sizeof digits;
    do digits[--at] = (char)('0' + value % 10);
    while (value /= 10);
    put(p, digits + at, sizeof digits - at);
}

// ---- operands

static void put_reg(Printer *p, RegRef ref) {
    const Reg *reg = &p->m->regs[ref];
    put_text(p, reg->prefix);
    if (reg->number != WL_NONE) put_number(p, reg->number);
}

static void put_component(Printer *p, const Operand *operand) {
    static const char *const names[] = {"",    ".x",  ".y",  ".z",  ".w", ".b0", ".b1",
                                        ".b2", ".b3", ".h0", ".h1", ".b", ".h"};
    if (operand->component >= WL_COUNT(names)) return;
    puts_(p, names[operand->component]);
    if (operand->component < COMPONENT_BYTES) return;
    for (u32 i = (u32)(operand->value >> 32 & 15); i-- > 0;) put_number(p, operand->value >> i * 4 & 15);
}

static void put_offset(Printer *p, u64 offset) {
    if (!offset) return;
    bool negative = (i64)offset < 0;
    puts_(p, negative ? "+-" : "+");
    put_number(p, negative ? 0 - offset : offset);
}

static void put_integer(Printer *p, const Operand *operand) {
    bool negative = operand->flags & OPERAND_NEGATIVE;
    if (negative) puts_(p, "-");
    put_number(p, negative ? 0 - operand->value : operand->value);
    if (operand->flags & OPERAND_UNSIGNED) puts_(p, "U");
}

static void put_symbol(Printer *p, u8 kind, const Operand *operand) {
    const Module *m = p->m;
    switch (kind) {
    case OPERAND_REG: put_reg(p, operand->ref); break;
    case OPERAND_VAR: put_text(p, m->vars[operand->ref].name); break;
    case OPERAND_LABEL: put_text(p, m->labels[operand->ref].name); break;
    case OPERAND_FUNC: put_text(p, m->funcs[operand->ref].name); break;
    default: break;
    }
}

static void put_operand(Printer *p, const Operand *operand);

static void put_elements(Printer *p, const Operand *operand, const char *between) {
    for (u32 i = 0; i < operand->count; i++) {
        if (i) puts_(p, between);
        const Operand *element = &p->m->operands[operand->ref + i];
        bool bare =
            operand->kind == OPERAND_GROUP && !(operand->flags & OPERAND_PAREN) && element->kind == OPERAND_ADDRESS;
        if (!bare) {
            put_operand(p, element);
            continue;
        }
        put_symbol(p, element->base, element);
        put_offset(p, element->value);
    }
}

static void put_address(Printer *p, const Operand *operand) {
    puts_(p, "[");
    if (operand->base == OPERAND_INT) {
        bool negative = operand->flags & OPERAND_NEGATIVE;
        if (negative) puts_(p, "-");
        put_number(p, negative ? 0 - operand->value : operand->value);
        if (operand->flags & OPERAND_UNSIGNED) puts_(p, "U");
    } else {
        put_symbol(p, operand->base, operand);
        if (operand->base == OPERAND_REG && operand->component && operand->component < COMPONENT_BYTES)
            put_component(p, operand);
        put_offset(p, operand->value);
    }
    puts_(p, operand->flags & OPERAND_UNIFIED ? "].unified" : "]");
}

static void put_operand(Printer *p, const Operand *operand) {
    if (operand->flags & OPERAND_NEGATED) puts_(p, operand->flags & OPERAND_MINUS ? "-" : "!");
    switch ((OperandKind)operand->kind) {
    case OPERAND_REG:
        put_reg(p, operand->ref);
        if (operand->component) put_component(p, operand);
        break;
    case OPERAND_INT: put_integer(p, operand); break;
    case OPERAND_F32: printf_(p, "0f%08" PRIX32, (u32)operand->value); break;
    case OPERAND_F64: printf_(p, "0d%016" PRIX64, operand->value); break;
    case OPERAND_SREG:
        puts_(p, ptx_sregs[operand->ref].text);
        if (operand->component < 4) printf_(p, ".%c", "xyzw"[operand->component]);
        break;
    case OPERAND_VAR:
        put_symbol(p, OPERAND_VAR, operand);
        put_offset(p, operand->value);
        break;
    case OPERAND_LABEL:
    case OPERAND_FUNC: put_symbol(p, operand->kind, operand); break;
    case OPERAND_ADDRESS: put_address(p, operand); break;
    case OPERAND_VECTOR: puts_(p, "{"), put_elements(p, operand, ", "), puts_(p, "}"); break;
    case OPERAND_GROUP: {
        bool paren = operand->flags & OPERAND_PAREN;
        puts_(p, paren ? "(" : "["), put_elements(p, operand, ", "), puts_(p, paren ? ")" : "]");
        break;
    }
    case OPERAND_PAIR: put_elements(p, operand, "|"); break;
    case OPERAND_SINK: puts_(p, "_"); break;
    case OPERAND_NONE: break;
    }
}

static void put_insn(Printer *p, const Insn *insn) {
    if (insn->guard != WL_NONE) {
        puts_(p, insn->guard_negated ? "@!" : "@");
        put_reg(p, insn->guard);
        puts_(p, " ");
    }
    put_text(p, insn_form(p->m, insn)->text);
    for (u32 i = 0; i < insn->operands; i++) {
        puts_(p, i ? ", " : " ");
        put_operand(p, insn_operand(p->m, insn, i));
    }
    puts_(p, ";\n");
}

// ---- variables

static const char *const space_texts[SPACE_COUNT] = {
    [SPACE_REG] = ".reg",
    [SPACE_CONST] = ".const",
    [SPACE_GLOBAL] = ".global",
    [SPACE_LOCAL] = ".local",
    [SPACE_PARAM] = ".param",
    [SPACE_SHARED] = ".shared",
    [SPACE_SHARED_CLUSTER] = ".shared::cluster",
    [SPACE_TEX] = ".tex",
};

static const char *const linkage_texts[] = {[LINKAGE_VISIBLE] = ".visible ",
                                            [LINKAGE_EXTERN] = ".extern ",
                                            [LINKAGE_WEAK] = ".weak ",
                                            [LINKAGE_COMMON] = ".common "};

static void put_linkage(Printer *p, u8 linkage) {
    if (linkage) puts_(p, linkage_texts[linkage]);
}

static void put_reloc(Printer *p, const VarReloc *reloc, u32 element_size) {
    const Module *m = p->m;
    bool masked = element_size == 1 || reloc->shift;
    if (masked) printf_(p, "0x%" PRIX64 "(", (u64)0xff << reloc->shift);
    if (reloc->generic) puts_(p, "generic(");
    put_text(p, reloc->is_func ? m->funcs[reloc->target].name : m->vars[reloc->target].name);
    if (reloc->generic) puts_(p, ")");
    put_offset(p, (u64)reloc->addend);
    if (masked) puts_(p, ")");
}

static void put_element(Printer *p, const Var *var, u64 position, u32 *reloc) {
    u32 size = type_bytes(var->type);
    u64 offset = position * size;
    while (*reloc < var->reloc_count && p->m->relocs[var->reloc + *reloc].offset < offset) ++*reloc;
    const VarReloc *record = *reloc < var->reloc_count ? &p->m->relocs[var->reloc + *reloc] : NULL;
    if (record && record->offset == offset) {
        put_reloc(p, record, size);
        return;
    }
    u64 value = 0;
    for (u32 i = 0; i < size && i < 8; i++) {
        if (offset + i < var->init_size) value |= (u64)p->m->init_bytes[var->init + offset + i] << i * 8;
    }
    if (var->type == TYPE_F32)
        printf_(p, "0f%08" PRIX32, (u32)value);
    else if (var->type == TYPE_F64)
        printf_(p, "0d%016" PRIX64, value);
    else
        put_number(p, value);
}

// A list for `level` of the variable's dimensions (vectors are the innermost), whose elements begin at `position`.
static void put_list(Printer *p, const Var *var, u32 level, u64 position, u32 *reloc) {
    u32 levels = var->dim_count + (var->vector > 1);
    u64 span = 1, total = var->init_size / type_bytes(var->type);
    for (u32 i = level + 1; i < levels; i++) span *= i < var->dim_count ? p->m->dims[var->dims + i] : var->vector;
    u64 extent = level < var->dim_count ? p->m->dims[var->dims + level] : var->vector;
    if (!extent) extent = UINT64_MAX;
    puts_(p, "{");
    for (u64 i = 0; i < extent && position < total; i++, position += span) {
        if (i) puts_(p, ", ");
        if (level + 1 < levels)
            put_list(p, var, level + 1, position, reloc);
        else
            put_element(p, var, position, reloc);
    }
    puts_(p, "}");
}

static const Directive *attribute(const Printer *p, const Var *var, const char *name) {
    for (u32 i = 0; i < var->attribute_count; i++) {
        const Directive *one = &p->m->directives[var->attributes + i];
        if (strcmp(module_text(p->m, one->name), name) == 0) return one;
    }
    return NULL;
}

static void put_attributes(Printer *p, u32 first, u32 count) {
    u32 put_count = 0;
    for (u32 i = first; i < first + count; i++) {
        const Directive *one = &p->m->directives[i];
        const char *name = module_text(p->m, one->name);
        if (strcmp(name, "bank") == 0 || strcmp(name, "opaque") == 0) continue;
        puts_(p, put_count++ ? ", ." : " .attribute(.");
        puts_(p, name);
        for (u32 v = 0; v + 1 < one->value_count; v += 2) {
            puts_(p, v ? ", " : "(");
            put_number(p, (u64)p->m->refs[one->values + v + 1] << 32 | p->m->refs[one->values + v]);
        }
        if (one->value_count) puts_(p, ")");
    }
    if (put_count) puts_(p, ")");
}

// Everything but the initialiser and the end.
static void put_var(Printer *p, const Var *var) {
    const Directive *bank = attribute(p, var, "bank");
    put_linkage(p, var->linkage);
    puts_(p, space_texts[var->space]);
    if (bank) printf_(p, "[%u]", p->m->refs[bank->values]);
    put_attributes(p, var->attributes, var->attribute_count);
    bool opaque = ptx_types[var->type].class == TYPE_CLASS_OPAQUE;
    if (var->space != SPACE_REG && (!opaque || var->align > type_bytes(var->type)))
        printf_(p, " .align %u", var->align);
    if (var->vector > 1) printf_(p, " .v%u", var->vector);
    printf_(p, " .%s", ptx_types[var->type].text);
    if (var->ptr_space) {
        puts_(p, " .ptr");
        if (var->ptr_space > 1) printf_(p, " %s", space_texts[var->ptr_space - 1]);
        if (var->ptr_align) printf_(p, " .align %u", var->ptr_align);
    }
    puts_(p, " ");
    put_text(p, var->name);
    for (u32 i = 0; i < var->dim_count; i++) {
        u32 extent = p->m->dims[var->dims + i];
        puts_(p, "[");
        if (extent) put_number(p, extent);
        puts_(p, "]");
    }
}

static void put_variable(Printer *p, const Var *var) {
    put_var(p, var);
    const Directive *opaque = attribute(p, var, "opaque");
    if (opaque) {
        puts_(p, " = {");
        put_text(p, p->m->refs[opaque->values]);
        puts_(p, "}");
    }
    if (var->init_size) {
        u32 reloc = 0;
        puts_(p, " = ");
        if (var->dim_count || var->vector > 1)
            put_list(p, var, 0, 0, &reloc);
        else
            put_element(p, var, 0, &reloc);
    }
    puts_(p, ";\n");
}

// ---- locs

static u64 triple_key(const Loc *loc) {
    u32 triple[3] = {loc->file, loc->line, loc->column};
    return hash_bytes(triple, sizeof triple);
}

static void put_loc(Printer *p, LocRef ref) {
    const Loc *loc = &p->m->locs[ref];
    if (loc->inlined_at) {
        const Loc *site = &p->m->locs[loc->inlined_at];
        const u64 *latest = map_get(&p->latest, triple_key(site));
        // A reader finds the call site by its triple, and ptxas wants it to be there: say it when it is not the latest.
        if (!latest || *latest != loc->inlined_at) put_loc(p, loc->inlined_at);
    }
    printf_(p, "\t.loc\t%u %u %u", loc->file, loc->line, loc->column);
    if (loc->function_label != WL_NONE) {
        const Loc *site = &p->m->locs[loc->inlined_at];
        puts_(p, ", function_name ");
        put_text(p, loc->function_label);
        if (loc->function_offset) printf_(p, "+%u", loc->function_offset);
        printf_(p, ", inlined_at %u %u %u", site->file, site->line, site->column);
    }
    puts_(p, "\n");
    if (p->status == STATUS_OK) p->status = map_put(&p->latest, triple_key(loc), ref);
}

// ---- functions

static void put_params(Printer *p, u32 first, u32 count) {
    puts_(p, "(");
    for (u32 i = first; i < first + count; i++) {
        puts_(p, i == first ? "" : ", ");
        put_var(p, &p->m->vars[i]);
    }
    puts_(p, ")");
}

static void put_directive(Printer *p, const Directive *directive) {
    puts_(p, ".");
    put_text(p, directive->name);
    for (u32 i = 0; i < directive->value_count; i++) {
        puts_(p, i ? ", " : " ");
        u32 value = p->m->refs[directive->values + i];
        if (!directive->is_text)
            put_number(p, value);
        else
            puts_(p, "\""), put_text(p, value), puts_(p, "\"");
    }
    if (directive->is_text) puts_(p, ";");
}

static bool is_attribute(const Printer *p, const Directive *directive) {
    const char *name = module_text(p->m, directive->name);
    return strcmp(name, "unified") == 0 || strcmp(name, "managed") == 0;
}

static void put_header_directives(Printer *p, const Function *func) {
    for (u32 i = 0; i < func->directive_count; i++) {
        const Directive *directive = &p->m->directives[func->directives + i];
        if (directive->insn != WL_NONE || is_attribute(p, directive)) continue;
        puts_(p, "\n");
        put_directive(p, directive);
    }
}

static void put_header(Printer *p, const Function *func) {
    put_linkage(p, func->linkage);
    puts_(p, func->is_entry ? ".entry" : ".func");
    for (u32 i = 0; i < func->directive_count; i++) {
        const Directive *directive = &p->m->directives[func->directives + i];
        if (directive->insn == WL_NONE && is_attribute(p, directive)) put_attributes(p, func->directives + i, 1);
    }
    puts_(p, " ");
    if (func->return_count) put_params(p, func->returns, func->return_count), puts_(p, " ");
    put_text(p, func->name);
    put_params(p, func->params, func->param_count);
    put_header_directives(p, func);
}

static void put_label(Printer *p, const Label *label) {
    const Module *m = p->m;
    put_text(p, label->name);
    puts_(p, ":");
    if (label->kind == LABEL_PROTOTYPE) {
        const Function *proto = &m->funcs[label->proto];
        puts_(p, " .callprototype ");
        if (proto->return_count) put_params(p, proto->returns, proto->return_count), puts_(p, " ");
        puts_(p, "_ ");
        put_params(p, proto->params, proto->param_count);
        put_header_directives(p, proto);
        puts_(p, ";");
    } else if (label->kind != LABEL_CODE) {
        bool branch = label->kind == LABEL_BRANCH_TARGETS;
        puts_(p, branch ? " .branchtargets " : " .calltargets ");
        for (u32 i = 0; i < label->target_count; i++) {
            u32 target = m->refs[label->targets + i];
            puts_(p, i ? ", " : "");
            put_text(p, branch ? m->labels[target].name : m->funcs[target].name);
        }
        puts_(p, ";");
    }
    puts_(p, "\n");
}

static void put_reg_decl(Printer *p, const RegDecl *decl) {
    puts_(p, "\t.reg ");
    if (decl->vector > 1) printf_(p, ".v%u ", decl->vector);
    printf_(p, ".%s ", ptx_types[decl->type].text);
    put_text(p, decl->prefix);
    if (decl->ranged) printf_(p, "<%u>", decl->count);
    puts_(p, ";\n");
}

// What is merged into the instructions of a body, in the order of the text.
typedef enum EventKind { EVENT_REGS, EVENT_VAR, EVENT_LABEL, EVENT_PRAGMA, EVENT_OPEN, EVENT_CLOSE } EventKind;

typedef struct Event {
    u32 order, insn;
    u8 kind;    // EventKind
    u32 index;  // in the module's array
} Event;

static int by_order(const void *a, const void *b) {
    u32 x = ((const Event *)a)->order, y = ((const Event *)b)->order;
    return x < y ? -1 : x > y;
}

typedef Vec(Event) Events;

static Status collect_events(const Module *m, const Function *func, Events *events) {
    u32 total =
        func->reg_decl_count + func->var_count + func->label_count + func->directive_count + 2 * func->scope_count;
    TRY(vec_reserve(events, total));
    for (u32 i = func->reg_decls; i < func->reg_decls + func->reg_decl_count; i++) {
        events->data[events->len++] = (Event){m->reg_decls[i].order, m->reg_decls[i].insn, EVENT_REGS, i};
    }
    for (u32 i = func->vars; i < func->vars + func->var_count; i++) {
        events->data[events->len++] = (Event){m->vars[i].order, m->vars[i].insn, EVENT_VAR, i};
    }
    for (u32 i = func->labels; i < func->labels + func->label_count; i++) {
        events->data[events->len++] = (Event){m->labels[i].order, m->labels[i].insn, EVENT_LABEL, i};
    }
    for (u32 i = func->directives; i < func->directives + func->directive_count; i++) {
        if (m->directives[i].insn == WL_NONE) continue;
        events->data[events->len++] = (Event){m->directives[i].order, m->directives[i].insn, EVENT_PRAGMA, i};
    }
    for (u32 i = func->scopes + 1; i < func->scopes + func->scope_count; i++) {  // the first is the body
        events->data[events->len++] = (Event){m->scopes[i].order, m->scopes[i].begin, EVENT_OPEN, i};
        events->data[events->len++] = (Event){m->scopes[i].order_end, m->scopes[i].end, EVENT_CLOSE, i};
    }
    if (events->len) qsort(events->data, events->len, sizeof *events->data, by_order);
    return STATUS_OK;
}

static void put_event(Printer *p, const Event *event) {
    const Module *m = p->m;
    switch ((EventKind)event->kind) {
    case EVENT_REGS: put_reg_decl(p, &m->reg_decls[event->index]); break;
    case EVENT_VAR: puts_(p, "\t"), put_variable(p, &m->vars[event->index]); break;
    case EVENT_LABEL: put_label(p, &m->labels[event->index]); break;
    case EVENT_PRAGMA: puts_(p, "\t"), put_directive(p, &m->directives[event->index]), puts_(p, "\n"); break;
    case EVENT_OPEN: puts_(p, "\t{\n"); break;
    case EVENT_CLOSE: puts_(p, "\t}\n"); break;
    }
}

static void put_body(Printer *p, const Function *func) {
    Events events = {0};
    Status status = collect_events(p->m, func, &events);
    if (status != STATUS_OK) p->status = status;
    puts_(p, "\n{\n");
    map_free(&p->latest);  // each function names its call sites anew
    LocRef loc = 0;
    u32 next = 0;
    for (u32 i = 0; i <= func->insn_count && p->status == STATUS_OK; i++) {
        while (next < events.len && events.data[next].insn <= i) put_event(p, &events.data[next++]);
        if (i == func->insn_count) break;
        const Insn *insn = &p->m->insns[func->insns + i];
        if (insn->loc != loc && insn->loc) put_loc(p, insn->loc);
        loc = insn->loc;
        puts_(p, "\t");
        put_insn(p, insn);
    }
    puts_(p, "}\n");
    vec_free(&events);
}

static void put_function(Printer *p, const Function *func) {
    puts_(p, "\n");
    put_header(p, func);
    if (func->has_body)
        put_body(p, func);
    else
        puts_(p, ";\n");
}

// ---- the module

enum { ITEM_FUNCTION, ITEM_VARIABLE, ITEM_DIRECTIVE };

static Status collect_items(const Module *m, Events *items) {
    TRY(vec_reserve(items, m->func_count + m->global_var_count + m->global_directive_count));
    for (u32 i = 0; i < m->func_count; i++) {
        if (m->funcs[i].is_prototype) continue;
        items->data[items->len++] = (Event){m->funcs[i].order, 0, ITEM_FUNCTION, i};
    }
    for (u32 i = 0; i < m->global_var_count; i++) {
        u32 var = m->global_vars[i];
        items->data[items->len++] = (Event){m->vars[var].order, 0, ITEM_VARIABLE, var};
    }
    for (u32 i = 0; i < m->global_directive_count; i++) {
        u32 directive = m->global_directives[i];
        items->data[items->len++] = (Event){m->directives[directive].order, 0, ITEM_DIRECTIVE, directive};
    }
    if (items->len) qsort(items->data, items->len, sizeof *items->data, by_order);
    return STATUS_OK;
}

static void put_global_directive(Printer *p, const Directive *directive) {
    if (strcmp(module_text(p->m, directive->name), "alias") != 0) {
        put_directive(p, directive);
    } else {
        puts_(p, ".alias ");
        put_text(p, p->m->refs[directive->values]);
        puts_(p, ", ");
        put_text(p, p->m->refs[directive->values + 1]);
        puts_(p, ";");
    }
    puts_(p, "\n");
}

static void put_start(Printer *p) {
    const Module *m = p->m;
    printf_(p, ".version %u.%u\n", m->version / 10, m->version % 10);
    if (m->target != WL_NONE) {
        puts_(p, ".target ");
        put_text(p, m->target);
        if (m->target_options != WL_NONE) puts_(p, ", "), put_text(p, m->target_options);
        puts_(p, "\n");
    }
    if (m->version >= 23 || m->address_size != 32) printf_(p, ".address_size %u\n", m->address_size);
}

static void put_end(Printer *p) {
    const Module *m = p->m;
    for (u32 i = 0; i < m->file_count; i++) {
        const File *file = &m->files[i];
        printf_(p, "\t.file\t%u \"", file->index);
        put_text(p, file->path);
        puts_(p, "\"");
        if (file->has_timestamp) printf_(p, ", %" PRIu64 ", %" PRIu64, file->timestamp, file->size);
        puts_(p, "\n");
    }
    for (u32 i = 0; i < m->section_count; i++) {
        puts_(p, "\t.section\t");
        put_text(p, m->sections[i].name);
        puts_(p, "\n\t{");
        put_text(p, m->sections[i].body);
        puts_(p, "}\n");
    }
}

Status ptx_print(const Module *module, TextBuffer *out) {
    Printer p = {.m = module, .out = out};
    Events items = {0};
    p.status = collect_items(module, &items);
    put_start(&p);
    for (u32 i = 0; i < items.len && p.status == STATUS_OK; i++) {
        u32 index = items.data[i].index;
        if (items.data[i].kind == ITEM_FUNCTION)
            put_function(&p, &module->funcs[index]);
        else if (items.data[i].kind == ITEM_VARIABLE)
            put_variable(&p, &module->vars[index]);
        else
            put_global_directive(&p, &module->directives[index]);
    }
    put_end(&p);
    vec_free(&items);
    map_free(&p.latest);
    return p.status;
}

Status ptx_print_insn(const Module *module, const Function *func, const Insn *insn, TextBuffer *out) {
    (void)func;  // every name that an instruction uses is complete in itself
    Printer p = {.m = module, .out = out};
    put_insn(&p, insn);
    if (p.status == STATUS_OK) out->len -= 1;  // the line end
    return p.status;
}
