// SPDX-License-Identifier: Apache-2.0
#include "sass/disassemble.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { LISTING_MAX = 1 << 28, CHUNK = 1 << 16 };

extern char **environ;

// --- where it is -------------------------------------------------------------------------------------------------
static const char *try_folder(Arena *arena, Str folder, const char *rest) {
    if (!folder.len) return NULL;
    const char *path = arena_printf(arena, "%.*s%s/nvdisasm", (int)folder.len, folder.data, rest);
    return path && access(path, X_OK) == 0 ? path : NULL;
}

const char *sass_find_tool(Arena *arena) {
    static const char *const homes[] = {"CUDA_HOME", "CUDA_PATH"};
    const char *found = NULL;
    for (const char *path = getenv("PATH"); path && *path && !found;) {
        size_t len = strcspn(path, ":");
        found = try_folder(arena, (Str){path, len}, "");
        path += len + (path[len] == ':');
    }
    for (u32 i = 0; i < WL_COUNT(homes) && !found; i++) {
        const char *home = getenv(homes[i]);
        if (home) found = try_folder(arena, (Str){home, strlen(home)}, "/bin");
    }
    return found ? found : try_folder(arena, STR("/usr/local/cuda"), "/bin");
}

// --- running it --------------------------------------------------------------------------------------------------
typedef struct Child {
    pid_t pid;
    int output;  // read end of its standard output
} Child;

static Status write_all(int file, const u8 *data, size_t size) {
    while (size) {
        ssize_t written = write(file, data, size);
        if (written < 0 && errno == EINTR) continue;
        if (written <= 0) return STATUS_IO;
        data += written;
        size -= (size_t)written;
    }
    return STATUS_OK;
}

// The cubin in a file of its own: nvdisasm reads no pipes.
static Status write_cubin(char *path, const u8 *cubin, size_t size) {
    int file = mkostemp(path, O_CLOEXEC);
    if (file < 0) return STATUS_IO;
    Status status = write_all(file, cubin, size);
    close(file);
    if (status != STATUS_OK) unlink(path);
    return status;
}

// `symbols`: "3,17", NULL = all functions.
static Status start(const char *tool, const char *path, const char *symbols, Child *child) {
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0) return STATUS_IO;  // other children must not have them
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
    posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
    char *const arguments[] = {(char *)tool, "-json", (char *)path, symbols ? "-fun" : NULL, (char *)symbols, NULL};
    int error = posix_spawn(&child->pid, tool, &actions, NULL, arguments, environ);
    posix_spawn_file_actions_destroy(&actions);
    close(ends[1]);
    child->output = ends[0];
    if (error) close(ends[0]);
    return error ? STATUS_NOT_FOUND : STATUS_OK;
}

static i64 now_ms(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (i64)time.tv_sec * 1000 + time.tv_nsec / 1000000;
}

static Status read_output(int output, u32 timeout_ms, SassText *json) {
    for (i64 end = now_ms() + timeout_ms;;) {
        i64 left = end - now_ms();
        struct pollfd ready = {.fd = output, .events = POLLIN};
        int polled = left > 0 ? poll(&ready, 1, (int)left) : 0;
        if (polled < 0 && errno == EINTR) continue;
        if (polled <= 0) return polled ? STATUS_IO : STATUS_CANCELLED;
        if (json->len > LISTING_MAX) return STATUS_LIMIT;
        TRY(vec_reserve(json, CHUNK));
        ssize_t got = read(output, json->data + json->len, CHUNK);
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) return STATUS_IO;
        if (got == 0) return STATUS_OK;
        json->len += (u32)got;
    }
}

static Status finish(Child *child, Status status) {
    int code = 0;
    if (status != STATUS_OK) kill(child->pid, SIGKILL);
    close(child->output);
    while (waitpid(child->pid, &code, 0) < 0 && errno == EINTR) {}
    if (status != STATUS_OK) return status;
    if (WIFEXITED(code) && WEXITSTATUS(code) == 127) return STATUS_NOT_FOUND;
    return WIFEXITED(code) && WEXITSTATUS(code) == 0 ? STATUS_OK : STATUS_UNSUPPORTED;
}

static void tell(Diag *diag, const char *tool, Status status) {
    const char *why = status_text(status);
    if (status == STATUS_NOT_FOUND) why = "it cannot be run";
    if (status == STATUS_CANCELLED) why = "it took too long";
    if (status == STATUS_UNSUPPORTED)
        why = "it refused the code: the toolkit may be older than that, or than CUDA 12.8";
    diag_text(diag, DIAG_WARNING, NULL, 0, 0, "%s does not disassemble the code: %s", tool, why);
}

static const char *list_symbols(Arena *arena, const u32 *symbols, u32 count) {
    const char *list = "";
    for (u32 i = 0; i < count && list; i++) list = arena_printf(arena, "%s%s%u", list, i ? "," : "", symbols[i]);
    return list;
}

Status sass_disassemble_some(const char *tool, const u8 *cubin, size_t size, const u32 *symbols, u32 count,
                             u32 timeout_ms, SassText *json, Diag *diag) {
    const char *folder = getenv("TMPDIR");
    Arena arena = {0};
    char *path = arena_printf(&arena, "%s/warplens-XXXXXX", folder && *folder ? folder : "/tmp");
    const char *list = list_symbols(&arena, symbols, count);
    Child child;
    json->len = 0;
    Status status = path && list ? write_cubin(path, cubin, size) : STATUS_NO_MEMORY;
    if (status == STATUS_OK) {
        status = start(tool, path, count ? list : NULL, &child);
        if (status == STATUS_OK) status = finish(&child, read_output(child.output, timeout_ms, json));
        unlink(path);
    }
    if (status != STATUS_OK) tell(diag, tool, status);
    arena_free(&arena);
    return status;
}

Status sass_disassemble(const char *tool, const u8 *cubin, size_t size, u32 timeout_ms, SassText *json, Diag *diag) {
    return sass_disassemble_some(tool, cubin, size, NULL, 0, timeout_ms, json, diag);
}
