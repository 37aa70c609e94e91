// SPDX-License-Identifier: Apache-2.0
#include "base/file.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"

enum { MAP_FROM = 256 << 10 };     // smaller files are read: a mapping costs more than the copy
#define STREAM_LIMIT (4ull << 30)  // bytes of what is no regular file: /dev/zero never ends

static Status fail(Diag *diag, const char *name, const char *doing, int error) {
    diag_text(diag, DIAG_ERROR, name, 0, 0, "cannot %s: %s", doing, strerror(error));
    if (error == ENOMEM) return STATUS_NO_MEMORY;
    return error == ENOENT || error == ENOTDIR ? STATUS_NOT_FOUND : STATUS_IO;
}

// Reads to the end of any kind of file, of about `limit` bytes at most. `expected` is a first guess at its size.
static Status read_all(int handle, size_t expected, size_t limit, const char *name, FileData *file, Diag *diag) {
    size_t cap = expected + 2 < 4096 ? 4096 : expected + 2;  // room for the NUL, and to see the end without growing
    u8 *data = mem_alloc(cap);
    size_t size = 0;
    while (data) {
        ssize_t got = read(handle, data + size, cap - size - 1);
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) {
            int error = errno;
            mem_free(data);
            return fail(diag, name, "read", error);
        }
        size += (size_t)got;
        if (got == 0) {
            data[size] = '\0';
            *file = (FileData){.data = data, .size = size};
            return STATUS_OK;
        }
        if (size < cap - 1) continue;
        if (cap > limit) {
            mem_free(data);
            return fail(diag, name, "read", EFBIG);
        }
        u8 *grown = mem_resize(data, cap * 2);
        if (!grown) mem_free(data);
        data = grown;
        cap *= 2;
    }
    return fail(diag, name, "read", ENOMEM);
}

// The NUL behind a mapped file comes from the rest of its last page, so a file of whole pages cannot be mapped.
static bool map(int handle, const struct stat *info, FileData *file) {
    if (!S_ISREG(info->st_mode) || info->st_size < MAP_FROM || info->st_size % sysconf(_SC_PAGESIZE) == 0) return false;
    size_t size = (size_t)info->st_size;
    void *data = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE, handle, 0);
    if (data == MAP_FAILED) return false;
    *file = (FileData){.data = data, .size = size, .mapped = true};
    return true;
}

static Status read_handle(int handle, const char *name, FileData *file, Diag *diag) {
    struct stat info;
    if (fstat(handle, &info) != 0) return fail(diag, name, "read", errno);
    if (S_ISDIR(info.st_mode)) return fail(diag, name, "read", EISDIR);
    if (map(handle, &info, file)) return STATUS_OK;
    bool regular = S_ISREG(info.st_mode);
    return read_all(handle, regular ? (size_t)info.st_size : 0, regular ? SIZE_MAX / 4 : STREAM_LIMIT, name, file,
                    diag);
}

Status file_read(const char *path, FileData *file, Diag *diag) {
    *file = (FileData){0};
    if (strcmp(path, "-") == 0) return read_handle(STDIN_FILENO, "<stdin>", file, diag);
    int handle = open(path, O_RDONLY | O_CLOEXEC);
    if (handle < 0) return fail(diag, path, "open", errno);
    Status status = read_handle(handle, path, file, diag);
    close(handle);
    return status;
}

void file_release(FileData *file) {
    if (file->mapped) {
        munmap(file->data, file->size);
    } else {
        mem_free(file->data);
    }
    *file = (FileData){0};
}
