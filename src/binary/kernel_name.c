// SPDX-License-Identifier: Apache-2.0
#include "binary/kernel_name.h"

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
