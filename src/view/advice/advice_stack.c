// SPDX-License-Identifier: Apache-2.0
#include "view/advice/advice_stack.h"

#include <string.h>

#include "base/map.h"
#include "binary/kernel_name.h"
#include "view/utf8.h"

static bool begins(const char *text, const char *with) { return strncmp(text, with, strlen(with)) == 0; }

static const char *base_name(const char *path) {
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

// Frames between the launch and the code that asked for it.
static bool is_machinery(const ProfileFrame *frame) {
    static const char *const objects[] = {"libcuda.so", "libcudart.so", "libcupti.so", "libwarplens"};
    static const char *const symbols[] = {"cudaLaunch",       "cuLaunch",     "cudaGraphLaunch", "cuGraphLaunch",
                                          "libcudart_static", "__cudaLaunch", "__device_stub__"};
    for (u32 i = 0; i < WL_COUNT(objects); i++)
        if (begins(base_name(frame->object), objects[i])) return true;
    for (u32 i = 0; i < WL_COUNT(symbols); i++)
        if (begins(frame->symbol, symbols[i])) return true;
    return begins(frame->symbol, "_Z") && strstr(frame->symbol, "__device_stub__");
}

static u32 first_own(const ProfileFrame *frames, u32 count) {
    u32 first = 0;
    for (u32 i = 0; i < count && (is_machinery(&frames[i]) || !frames[i].symbol[0]); i++) first = i + 1;
    return first;
}

// main(), or what is left when the nameless and the C library's start are cut off.
static u32 last_own(const ProfileFrame *frames, u32 first, u32 count) {
    for (u32 i = first; i < count; i++)
        if (strcmp(frames[i].symbol, "main") == 0) return i + 1;
    while (count > first && (!frames[count - 1].symbol[0] || begins(base_name(frames[count - 1].object), "libc.so")))
        count--;
    return count;
}

// --- which stack ----------------------------------------------------------------------------------------------------
static Status most_frequent(const ViewLaunches *launches, u32 *stack, u32 *times) {
    Map counts = {0};
    Status status = STATUS_OK;
    *stack = *times = 0;
    for (u32 i = 0; i < launches->count && launches->rows && status == STATUS_OK; i++) {
        u32 id = launches->rows[i]->stack;
        if (!id) continue;
        u64 *known = map_get(&counts, id), count = known ? *known + 1 : 1;
        status = map_put(&counts, id, count);
        if (count > *times) *times = (u32)count, *stack = id;
    }
    map_free(&counts);
    return status;
}

static const char *readable(const AdviceReport *report, const char *symbol, Arena *arena) {
    const AdviceReportOptions *o = &report->options;
    const char *signature = *symbol && o->demangle ? o->demangle(o->demangle_context, symbol) : symbol;
    return utf8_clean(arena, kernel_plain_name(signature ? signature : symbol), true);
}

static Status fill(const AdviceReport *report, const ProfileFrame *from, AdviceFrame *to, Arena *arena) {
    const char *object = base_name(from->object);
    *to = (AdviceFrame){.name = readable(report, from->symbol, arena),
                        .file = from->file[0] ? advice_path(report, from->file, arena) : NULL,
                        .line = from->line,
                        .object = utf8_clean(arena, (Str){object, strlen(object)}, true)};
    return to->name && to->object && (to->file || !from->file[0]) ? STATUS_OK : STATUS_NO_MEMORY;
}

Status advice_stack(const AdviceReport *report, const KernelView *view, Arena *arena, AdviceStack *stack) {
    const ProfileFrame *frames;
    u32 id, count;
    *stack = (AdviceStack){0};
    TRY(most_frequent(&view->launches, &id, &stack->launches));
    if (!id || profile_stack(report->profile, id, &frames, &count, NULL) != STATUS_OK) return STATUS_OK;
    u32 first = first_own(frames, count), last = last_own(frames, first, count);
    AdviceFrame *own = ARENA_ARRAY(arena, AdviceFrame, last - first + 1);
    if (!own) return STATUS_NO_MEMORY;
    for (u32 i = first; i < last; i++) TRY(fill(report, &frames[i], &own[i - first], arena));
    stack->frames = own;
    stack->count = last - first;
    return STATUS_OK;
}

const char *advice_stack_text(const AdviceStack *stack, u32 most, Arena *arena) {
    const char *text = "";
    for (u32 i = 0; i < stack->count && i < most && text; i++) {
        const AdviceFrame *f = &stack->frames[i];
        const char *name = *f->name ? f->name : "?", *before = i ? " < " : "";
        text = f->file ? arena_printf(arena, "%s%s%s (%s:%u)", text, before, name, base_name(f->file), f->line)
                       : arena_printf(arena, "%s%s%s (%s)", text, before, name, f->object);
    }
    if (text && stack->count > most) text = arena_printf(arena, "%s < ...", text);
    return text;
}
