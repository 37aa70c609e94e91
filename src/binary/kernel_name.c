// SPDX-License-Identifier: Apache-2.0
#include "binary/kernel_name.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "binary/demangle.h"

static bool starts(const char *text, const char *with) { return strncmp(text, with, strlen(with)) == 0; }

// Groups that belong to a name although they begin with a parenthesis.
static size_t named_group(const char *text) {
    static const char *const groups[] = {"(anonymous namespace)", "(unnamed)", "operator()"};
    for (u32 i = 0; i < WL_COUNT(groups); i++) {
        if (starts(text, groups[i])) return strlen(groups[i]);
    }
    return 0;
}

Str kernel_plain_name(const char *signature) {
    size_t start = 0, at = 0;
    int depth = 0;  // of <>, {}, [] and of parentheses inside them
    for (; signature[at]; at++) {
        size_t group = named_group(signature + at);
        if (group) {
            at += group - 1;
            continue;
        }
        char c = signature[at];
        if (depth == 0 && c == '(') break;
        if (depth == 0 && c == ' ') start = at + 1;
        if (c == '<' || c == '{' || c == '[' || c == '(') depth++;
        bool closes = c == '>' && !(at && signature[at - 1] == '-');
        if ((closes || c == '}' || c == ']' || c == ')') && depth > 0) depth--;
    }
    if (!signature[at] || at == start) return (Str){signature, strlen(signature)};
    return (Str){signature + start, at - start};
}

// glibc's regcomp() recurses for each bracket, and writes out what is repeated.
enum { MOST_PATTERN = 4096, MOST_NESTED = 100, MOST_REPEATED = 10000 };

static const char *too_much(const char *pattern) {
    u64 depth = 0, repeated = 1;
    if (strlen(pattern) > MOST_PATTERN) return "it is longer than 4096 characters";
    for (const char *at = pattern; *at; at++) {
        if (*at == '\\' && at[1]) {
            at++;
            continue;
        }
        depth += *at == '(';
        depth -= *at == ')' && depth;
        if (depth > MOST_NESTED) return "brackets are nested deeper than 100";
        if (*at != '{') continue;
        u64 least = strtoul(at + 1, NULL, 10), most = strtoul(at + 1 + strcspn(at + 1, ",}") + 1, NULL, 10);
        u64 times = least > most ? least : most;
        if (times > MOST_REPEATED || (repeated *= times ? times : 1) > MOST_REPEATED)
            return "it repeats more than 10000 times";
    }
    return NULL;
}

bool kernel_filter_compile(regex_t *filter, const char *pattern, char *why, size_t size) {
    if (strncmp(pattern, "regex:", 6) == 0) pattern += 6;
    const char *reason = too_much(pattern);
    int error = reason ? 0 : regcomp(filter, pattern, REG_EXTENDED | REG_NOSUB);
    if (error) regerror(error, filter, why, size);
    if (reason) snprintf(why, size, "%s", reason);
    return !error && !reason;
}

bool kernel_name_matches(const regex_t *filter, const char *mangled, const char *signature) {
    Str plain = kernel_plain_name(signature);
    regmatch_t part = {.rm_so = 0, .rm_eo = (regoff_t)plain.len};  // its bounds, as it ends without a NUL
    return regexec(filter, mangled, 0, NULL, 0) == 0 || regexec(filter, signature, 0, NULL, 0) == 0 ||
           regexec(filter, plain.data, 1, &part, REG_STARTEND) == 0;
}

bool kernel_matches(const regex_t *filter, const char *mangled) {
    char *signature = demangle_name(mangled);
    bool matches = signature && kernel_name_matches(filter, mangled, signature);
    mem_free(signature);
    return matches;
}
