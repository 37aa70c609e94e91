// SPDX-License-Identifier: Apache-2.0
// The device's printf: the conversions of C, with arguments packed by nvcc (4 bytes for int, 8 for everything longer,
// each aligned to its size; float arrives as double). The host's snprintf formats each conversion; the text of one call
// goes out as one piece. What CUDA does not have (%zu, %td, %jd, %Lf, %.*f, %n, %1$d, ...) is text and takes no
// argument, as with driver 580 on an H200.
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "sim/builtin.h"
#include "sim/exec/access.h"
#include "sim/time/trace.h"

#define MAX_FIELD 65535  // widths and precisions beyond are cut

typedef Vec(char) CharVec;

typedef struct Printer {
    Exec *x;
    u32 lane;
    u64 args;  // address of the next argument
    CharVec out;
    i32 used;     // arguments taken
    u32 length;   // for trace_print
    bool failed;  // memory out, or a fault
} Printer;

// One conversion, "%-08.3lld" taken apart. A width of 0 and a negative precision are the same as none.
typedef struct Conversion {
    char flags[6];
    int width, precision;
    u32 int_bytes;  // of an integer argument, by the length modifier
    char letter;
} Conversion;

// --- device memory -------------------------------------------------------------------------------------------------
static bool read_device(Exec *x, u32 lane, u64 address, void *to, u32 size) {
    u8 space;
    const u8 *from = access_resolve(x, lane, address, size, SPACE_NONE, false, &space);
    if (from) memcpy(to, from, size);
    return from != NULL;
}

bool device_string(Exec *x, u32 lane, u64 address, char *buffer, size_t size) {
    size_t used = 0;
    for (; used + 1 < size; used++) {
        if (!read_device(x, lane, address + used, &buffer[used], 1)) return false;
        if (buffer[used] == 0) return true;
    }
    buffer[used] = 0;
    return true;
}

// A whole string of any length, at most `limit` characters when that is not negative; NUL-terminated.
static bool read_string(Printer *p, u64 address, int limit, CharVec *text) {
    for (char c = 1; c; address++) {
        c = 0;
        if (limit != 0 && !read_device(p->x, p->lane, address, &c, 1)) return false;
        if (vec_push(text, c) != STATUS_OK) return false;
        if (limit > 0) limit--;
    }
    return true;
}

static u64 next_arg(Printer *p, u32 size) {
    u64 value = 0;
    p->args = (p->args + size - 1) & ~(u64)(size - 1);
    if (!read_device(p->x, p->lane, p->args, &value, size)) p->failed = true;
    p->args += size;
    p->used++;
    return value;
}

// --- output --------------------------------------------------------------------------------------------------------
void device_print(const Exec *x, const char *text, size_t size) {
    const SimConfig *config = &x->grid->sim->config;
    if (size == 0) return;
    if (config->print)
        config->print(config->print_context, text, size);
    else
        fwrite(text, 1, size, stdout);
}

static void put(Printer *p, char c) {
    if (vec_push(&p->out, c) != STATUS_OK) p->failed = true;
}

static void put_formatted(Printer *p, const char *format, ...) {
    va_list args, again;
    va_start(args, format);
    va_copy(again, args);
    int size = vsnprintf(NULL, 0, format, args);
    if (size < 0 || vec_reserve(&p->out, size + 1) != STATUS_OK) {
        p->failed = true;
    } else {
        vsnprintf(p->out.data + p->out.len, (size_t)size + 1, format, again);
        p->out.len += (u32)size;
    }
    va_end(again);
    va_end(args);
}

// --- conversions ---------------------------------------------------------------------------------------------------
typedef void (*PutFn)(Printer *p, const Conversion *c, const char *format);

static void put_signed(Printer *p, const Conversion *c, const char *format) {
    u64 value = next_arg(p, c->int_bytes == 8 ? 8 : 4);
    u32 shift = 64 - c->int_bytes * 8;
    put_formatted(p, format, c->width, c->precision, (long long)((i64)(value << shift) >> shift));
}

static void put_unsigned(Printer *p, const Conversion *c, const char *format) {
    u64 value = next_arg(p, c->int_bytes == 8 ? 8 : 4);
    u32 shift = 64 - c->int_bytes * 8;
    put_formatted(p, format, c->width, c->precision, (unsigned long long)(value << shift >> shift));
}

static void put_float(Printer *p, const Conversion *c, const char *format) {
    u64 bits = next_arg(p, 8);
    f64 value;
    memcpy(&value, &bits, sizeof value);
    put_formatted(p, format, c->width, c->precision, value);
}

// glibc's %c writes a NUL as it is; so do we, by hand.
static void put_char(Printer *p, const Conversion *c, const char *format) {
    char value = (char)next_arg(p, 4);
    if (value)
        put_formatted(p, format, c->width, c->precision, value);
    else
        put(p, 0);
}

static void put_pointer(Printer *p, const Conversion *c, const char *format) {
    put_formatted(p, format, c->width, c->precision, (void *)(uintptr_t)next_arg(p, 8));
}

static void put_string(Printer *p, const Conversion *c, const char *format) {
    u64 address = next_arg(p, 8);
    CharVec text = {0};
    if (p->failed) return;
    if (address == 0)
        put_formatted(p, format, c->width, c->precision, "(null)");
    else if (read_string(p, address, c->precision, &text)) {
        put_formatted(p, format, c->width, c->precision, text.data);
        p->length += 2 * text.len;
    } else
        p->failed = true;
    vec_free(&text);
}

// Letters, what follows "*.*" in the host's format before the letter, and who fetches the argument.
static const struct {
    const char *letters, *length;
    PutFn put;
} kinds[] = {
    {"di", "ll", put_signed}, {"ouxX", "ll", put_unsigned}, {"fFeEgGaA", "", put_float},
    {"c", "", put_char},      {"p", "", put_pointer},       {"s", "", put_string},
};

static int clamp_field(i64 value) {
    return (int)(value > MAX_FIELD ? MAX_FIELD : value < -MAX_FIELD ? -MAX_FIELD : value);
}

// A number in the text, or * for an argument.
static const char *parse_number(Printer *p, const char *at, int *number) {
    if (*at == '*') {
        *number = clamp_field((i32)next_arg(p, 4));
        return at + 1;
    }
    i64 value = 0;
    for (; *at >= '0' && *at <= '9'; at++) value = clamp_field(value * 10 + (*at - '0'));
    *number = (int)value;
    return at;
}

static const char *parse_length(const char *at, u32 *bytes) {
    static const struct {
        const char *text;
        u32 bytes;
    } lengths[] = {{"hh", 1}, {"h", 2}, {"ll", 8}, {"l", 8}};
    *bytes = 4;
    for (u32 i = 0; i < WL_COUNT(lengths); i++) {
        size_t size = strlen(lengths[i].text);
        if (strncmp(at, lengths[i].text, size) != 0) continue;
        *bytes = lengths[i].bytes;
        return at + size;
    }
    return at;
}

// `at` is behind the %. Returns the place of the letter.
static const char *parse_conversion(Printer *p, const char *at, Conversion *c) {
    *c = (Conversion){.precision = -1};
    for (u32 n = 0; *at && strchr("-+ #0", *at); at++)
        if (n + 1 < sizeof c->flags && !strchr(c->flags, *at)) c->flags[n++] = *at;
    at = parse_number(p, at, &c->width);
    if (*at == '.' && at[1] == '*') return at;  // no letter
    if (*at == '.') at = parse_number(p, at + 1, &c->precision);
    at = parse_length(at, &c->int_bytes);
    c->letter = *at;
    return at;
}

// Writes one conversion; text that is none is written as it stands. Returns what follows.
static const char *convert(Printer *p, const char *percent) {
    Conversion c;
    u64 args = p->args;
    i32 used = p->used;
    if (percent[1] == '%') return put(p, '%'), percent + 2;
    const char *end = parse_conversion(p, percent + 1, &c);
    for (u32 i = 0; c.letter && i < WL_COUNT(kinds); i++) {
        if (!strchr(kinds[i].letters, c.letter)) continue;
        char format[24];
        snprintf(format, sizeof format, "%%%s*.*%s%c", c.flags, kinds[i].length, c.letter);
        kinds[i].put(p, &c, format);
        return end + 1;
    }
    p->args = args;
    p->used = used;
    put(p, '%');
    return percent + 1;
}

i32 device_printf(Exec *x, u32 lane, u64 format, u64 arguments) {
    if (format == 0) return -1;
    Printer p = {.x = x, .lane = lane, .args = arguments};
    CharVec text = {0};
    p.failed = !read_string(&p, format, -1, &text);
    const char *at = text.data;
    for (; !p.failed && *at; p.length++) {
        if (*at == '%')
            at = convert(&p, at);
        else
            put(&p, *at++);
    }
    if (!p.failed) device_print(x, p.out.data, p.out.len);
    if (x->trace) trace_print(x->trace, p.length);
    vec_free(&text);
    vec_free(&p.out);
    return p.failed ? -2 : p.used;
}
