// SPDX-License-Identifier: Apache-2.0
// Names of the environment's variables, and of profile files. Apart from config.c, so that what needs these only does
// not bring the simulator along.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cuda/config.h"

static const char *const variables[] = {
#define X(field, name, meaning) name,
    CONFIG_TABLE(X)
#undef X
};

const char *config_name(ConfigVariable variable) { return variables[variable]; }

typedef struct Expansion {
    char *path;
    size_t size, used;
} Expansion;

static void append(Expansion *to, const char *text) {
    size_t length = strlen(text);
    if (to->used + length < to->size) memcpy(to->path + to->used, text, length + 1);
    to->used += length;
}

// Expands the letter behind a '%'; `*rest` moves past it. False: unknown.
static bool expand_letter(Expansion *to, const char **rest, u32 number) {
    char text[300];
    char letter = *(*rest)++;
    switch (letter) {
    case 'p': snprintf(text, sizeof text, "%ld", (long)getpid()); break;
    case 'i': snprintf(text, sizeof text, "%u", number); break;
    case '%': strcpy(text, "%"); break;
    case 'h':
        if (gethostname(text, sizeof text) != 0) strcpy(text, "localhost");
        text[sizeof text - 1] = 0;
        break;
    case 'q': {
        const char *end = **rest == '{' ? strchr(*rest, '}') : NULL;
        if (!end || (size_t)(end - *rest) >= sizeof text) return false;
        snprintf(text, sizeof text, "%.*s", (int)(end - *rest - 1), *rest + 1);
        *rest = end + 1;
        const char *value = getenv(text);
        if (!value) return false;
        append(to, value);
        return true;
    }
    default: return false;
    }
    append(to, text);
    return true;
}

static Status expand(const char *pattern, u32 number, bool *numbered, Expansion *to, char *problem, size_t size) {
    to->used = 0;
    to->path[0] = 0;
    for (const char *at = pattern; *at;) {
        if (*at != '%') {
            append(to, (char[]){*at++, 0});
            continue;
        }
        const char *start = at++;
        if (*at == 'i') *numbered = true;
        if (!*at || !expand_letter(to, &at, number)) {
            size_t name = start[1] == 'q' && start[2] == '{' ? strcspn(start + 3, "}") : 0;
            if (name && start[3 + name])
                snprintf(problem, size, "%s: the environment variable %.*s is not set", pattern, (int)name, start + 3);
            else
                snprintf(problem, size, "%s: `%.2s` is none of %%p, %%h, %%i, %%q{NAME} and %%%%", pattern, start);
            return STATUS_INVALID;
        }
    }
    return to->used < to->size ? STATUS_OK : STATUS_LIMIT;
}

Status config_expand_path(const char *pattern, char *path, size_t size, char *problem, size_t problem_size) {
    Expansion to = {.path = path, .size = size};
    *problem = 0;
    bool numbered = false;
    for (u32 number = 1; number < 1000000; number++) {
        TRY(expand(pattern, number, &numbered, &to, problem, problem_size));
        if (!numbered || access(path, F_OK) != 0) return STATUS_OK;
    }
    return STATUS_LIMIT;
}

Status config_sibling_path(const char *path, u64 pid, char *sibling, size_t size) {
    const char *slash = strrchr(path, '/'), *dot = strrchr(path, '.');
    if (!dot || dot == path || (slash && dot <= slash + 1)) dot = path + strlen(path);
    int length = snprintf(sibling, size, "%.*s.%llu%s", (int)(dot - path), path, (unsigned long long)pid, dot);
    return length > 0 && (size_t)length < size ? STATUS_OK : STATUS_LIMIT;
}
