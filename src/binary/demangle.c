// SPDX-License-Identifier: Apache-2.0
// Over libiberty's cp-demangle.c (GPL with the exception that lets anything link it). It offers a callback, which is
// what bounds the output: substitutions can make it exponentially longer than the name.
#include "binary/demangle.h"

#include <libiberty/demangle.h>
#include <pthread.h>
#include <setjmp.h>
#include <string.h>

#include "base/vec.h"

enum {
    SHORT_INPUT = 1000,      // up to here the library itself limits recursion
    NAME_IN_TEXT = 160,      // longer names would hide the rest of a message
    STACK_SIZE = 128 << 20,  // for longer names: it recurses up to once per character, some kB each
};

typedef struct Demangling {
    const char *mangled;
    int options;
    Vec(char) text;
    bool done;
    jmp_buf stop;
} Demangling;

static void collect(const char *text, size_t len, void *context) {
    Demangling *d = context;
    if (d->text.len + len > DEMANGLE_MAX_OUTPUT || vec_reserve(&d->text, len + 1) != STATUS_OK) longjmp(d->stop, 1);
    memcpy(d->text.data + d->text.len, text, len);
    d->text.len += (u32)len;
    d->text.data[d->text.len] = 0;
}

// The library keeps everything on the stack, so leaving it by longjmp loses nothing.
static void *demangle(void *context) {
    Demangling *d = context;
    if (!setjmp(d->stop)) d->done = cplus_demangle_v3_callback(d->mangled, d->options, collect, d) != 0;
    return NULL;
}

static void demangle_with_stack(Demangling *d) {
    pthread_attr_t attributes;
    pthread_t thread;
    if (pthread_attr_init(&attributes)) return;
    bool started =
        !pthread_attr_setstacksize(&attributes, STACK_SIZE) && !pthread_create(&thread, &attributes, demangle, d);
    if (started) pthread_join(thread, NULL);
    pthread_attr_destroy(&attributes);
}

// The length without the "$2" that link.c gives to private names that clash.
static size_t own_length(const char *mangled, size_t len) {
    size_t at = len;
    while (at > 0 && mangled[at - 1] >= '0' && mangled[at - 1] <= '9') at--;
    return at > 0 && at < len && mangled[at - 1] == '$' ? at - 1 : len;
}

// Functions that are static in a file are renamed by nvcc -rdc: __nv_static_N__ and N characters that name the file
// stand before their own name.
static const char *without_file(const char *mangled) {
    static const char prefix[] = "__nv_static_";
    if (strncmp(mangled, prefix, sizeof prefix - 1)) return mangled;
    const char *at = mangled + sizeof prefix - 1;
    size_t skip = 0;
    while (*at >= '0' && *at <= '9' && skip < DEMANGLE_MAX_INPUT) skip = skip * 10 + (size_t)(*at++ - '0');
    if (skip == 0 || strncmp(at, "__", 2) || strnlen(at + 2, skip + 1) <= skip) return mangled;
    return at + 2 + skip;
}

// A source name, "6kernel", is appended; 0 where there is none, else its length with the number.
static size_t append_source_name(Demangling *d, const char *at, size_t left) {
    static const char unnamed[] = "_GLOBAL__N_1";
    size_t digits = 0, len = 0;
    while (digits < left && at[digits] >= '0' && at[digits] <= '9' && len <= left)
        len = len * 10 + (size_t)(at[digits++] - '0');
    if (len == 0 || len > left - digits) return 0;
    if (d->text.len) collect("::", 2, d);
    if (len == sizeof unnamed - 1 && !strncmp(at + digits, unnamed, len))
        collect("(anonymous namespace)", 21, d);
    else
        collect(at + digits, len, d);
    return digits + len;
}

// The library does not know how to read some lambdas within lambdas. What stands before the first template arguments
// is read here then: "ns::kernel<..>". (Itanium C++ ABI, 5.1.2 and 5.1.3: nested-name, source-name.)
static bool read_beginning(Demangling *d) {
    bool nested = d->mangled[2] == 'N';
    const char *at = d->mangled + 2 + nested;
    size_t size;
    d->text.len = 0;
    do {
        size = append_source_name(d, at, strlen(at));
        at += size;
    } while (nested && size && *at != 'I');
    if (!size || *at != 'I' || !strchr(at, 'E')) return false;
    collect("<..>", 4, d);
    return true;
}

static void demangle_beginning(Demangling *d) {
    if (!setjmp(d->stop)) d->done = read_beginning(d);
}

static char *demangle_with(const char *mangled, int options) {
    mangled = without_file(mangled);
    size_t all = strnlen(mangled, DEMANGLE_MAX_INPUT + 1), len = own_length(mangled, all);
    Demangling d = {.options = options | DMGL_ANSI};
    bool mangled_name = len > 2 && all <= DEMANGLE_MAX_INPUT && mangled[0] == '_' && mangled[1] == 'Z';
    char *own = mangled_name ? mem_copy_str((Str){mangled, len}) : NULL;
    d.mangled = own;
    if (own && len <= SHORT_INPUT) {
        demangle(&d);
    } else if (own) {
        d.options |= DMGL_NO_RECURSE_LIMIT;
        demangle_with_stack(&d);
    }
    if (own && !d.done) demangle_beginning(&d);
    mem_free(own);
    if (d.done && d.text.len && vec_reserve(&d.text, all - len + 1) == STATUS_OK) {
        memcpy(d.text.data + d.text.len, mangled + len, all - len + 1);
        return d.text.data;
    }
    vec_free(&d.text);
    return mem_copy_str((Str){mangled, strlen(mangled)});
}

char *demangle_name(const char *mangled) { return demangle_with(mangled, DMGL_PARAMS); }
char *demangle_short(const char *mangled) { return demangle_with(mangled, DMGL_NO_OPTS); }

static bool is_name_char(char c) {
    return c == '_' || c == '$' || (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

typedef Vec(char) Text;

static bool append(Text *text, const char *from, size_t len) {
    if (vec_reserve(text, len + 1) != STATUS_OK) return false;
    memcpy(text->data + text->len, from, len);
    text->len += (u32)len;
    text->data[text->len] = 0;
    return true;
}

static const char *next_mangled(const char *text) {
    for (const char *at = text; (at = strchr(at, '_')); at++)
        if ((at == text || !is_name_char(at[-1])) && (at[1] == 'Z' || without_file(at) != at)) return at;
    return NULL;
}

// What is between the names is kept. False when memory is out.
static bool append_plain(Text *text, const char *from) {
    for (const char *end; *from; from = end) {
        const char *at = next_mangled(from);
        if (!at) return append(text, from, strlen(from));
        for (end = at; is_name_char(*end);) end++;
        char *name = mem_copy_str((Str){at, (size_t)(end - at)}), *plain = name ? demangle_short(name) : NULL;
        size_t len = plain ? strlen(plain) : 0;
        bool fits = len <= NAME_IN_TEXT;
        bool good = plain && append(text, from, (size_t)(at - from)) &&
                    append(text, plain, fits ? len : NAME_IN_TEXT - 2) && (fits || append(text, "..", 2));
        mem_free(name);
        mem_free(plain);
        if (!good) return false;
    }
    return true;
}

char *demangle_text(const char *message) {
    Text text = {0};
    if (append(&text, "", 0) && append_plain(&text, message)) return text.data;
    vec_free(&text);
    return NULL;
}
