// SPDX-License-Identifier: Apache-2.0
// Making a new profile file: is the place free, can it be written, may what is there be replaced; then its first pages.
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/mem.h"
#include "store/file_limit.h"
#include "store/writer.h"

enum { BUSY_MS = 5000 };  // how long another writer's lock (a person with sqlite3) is waited for

// An empty profile, made by make_image.c when Warplens is built: SQLite takes 10 million instructions for its tables.
static const u8 image[] = {
#include "embed/store/schema.sql.inc"
};

static const char *const companions[] = {"-wal", "-shm", "-journal"};

static Status tell(Diag *diag, const char *path, Status status, const char *text) {
    diag_text(diag, DIAG_ERROR, path, 0, 0, "%s", text);
    return status;
}

// What a previous profile of this name may have left beside it must never be taken for ours.
static Status remove_companions(const char *path) {
    for (u32 i = 0; i < WL_COUNT(companions); i++) {
        char *companion = db_path(path, companions[i]);
        if (!companion) return STATUS_NO_MEMORY;
        unlink(companion);
        mem_free(companion);
    }
    return STATUS_OK;
}

static bool is_replaceable(const char *path) {
    u8 bytes[100];
    int file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (file < 0) return false;
    ssize_t size = read(file, bytes, sizeof bytes);
    close(file);
    if (size < 0) return false;
    DbFileKind kind = db_header(bytes, (size_t)size).kind;
    return kind == DB_FILE_EMPTY || kind == DB_FILE_PROFILE;
}

// Clears the way when there is a file and it may go.
static Status remove_old(const char *path, bool overwrite, Diag *diag) {
    struct stat info;
    if (stat(path, &info) != 0) return STATUS_OK;  // open() will say why, if it matters
    if (S_ISDIR(info.st_mode)) return tell(diag, path, STATUS_INVALID, "cannot write the profile: this is a directory");
    if (!S_ISREG(info.st_mode)) return tell(diag, path, STATUS_INVALID, "cannot write the profile: not a regular file");
    if (!overwrite) return tell(diag, path, STATUS_EXISTS, "file exists; choose another name, or overwrite it with -f");
    if (!is_replaceable(path)) {
        return tell(diag, path, STATUS_EXISTS, "file exists and is not a Warplens profile: it is not overwritten");
    }
    if (unlink(path) == 0) return STATUS_OK;
    diag_text(diag, DIAG_ERROR, path, 0, 0, "cannot replace the old profile: %s", strerror(errno));
    return STATUS_IO;
}

// O_EXCL: of two writers that start at once on one name, one gets it.
static Status claim(const char *path, int *file, Diag *diag) {
    *file = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (*file >= 0) return STATUS_OK;
    int error = errno;
    diag_text(diag, DIAG_ERROR, path, 0, 0, "cannot create the profile: %s", strerror(error));
    return error == EEXIST ? STATUS_EXISTS : error == ENOENT || error == ENOTDIR ? STATUS_NOT_FOUND : STATUS_IO;
}

// The file is recognisable as a profile from then on.
static Status write_image(const char *path, int file, Diag *diag) {
    size_t size = sizeof image - 1, done = 0;  // without the NUL
    ssize_t wrote = 0;
    while (done < size && (wrote = write(file, image + done, size - done)) > 0) done += (size_t)wrote;
    if (done == size) return STATUS_OK;
    int error = wrote < 0 ? errno : ENOSPC;
    diag_text(diag, DIAG_ERROR, path, 0, 0, "cannot write the profile: %s", strerror(error));
    return error == ENOSPC || error == EFBIG || error == EDQUOT ? STATUS_NO_SPACE : STATUS_IO;
}

static Status write_created(StoreWriter *writer) {
    char created[32];
    time_t now = time(NULL);
    struct tm utc;
    gmtime_r(&now, &utc);
    strftime(created, sizeof created, "%Y-%m-%dT%H:%M:%SZ", &utc);
    return writer_meta(writer, "created", created);
}

// Nothing is ever synchronised with the disk: what a process wrote outlives it anyway, and waiting for the disk at the
// end would cost a program 50 ms and more. Only a crash of the whole machine could damage a profile.
static Status set_up(StoreWriter *writer) {
    static const char pragmas[] = "PRAGMA synchronous=OFF; PRAGMA cache_size=-8000; PRAGMA temp_store=MEMORY";
    TRY(db_status(sqlite3_exec(writer->db, pragmas, NULL, NULL, NULL)));
    return write_created(writer);
}

static Status open_database(StoreWriter *writer, const char *path, Diag *diag) {
    char *name = db_path(path, "");
    if (!name || remove_companions(path) != STATUS_OK) {
        mem_free(name);
        return tell(diag, path, STATUS_NO_MEMORY, "out of memory");
    }
    int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX;
    Status status = db_status(sqlite3_open_v2(name, &writer->db, flags, NULL));
    mem_free(name);
    if (status == STATUS_OK) {
        sqlite3_busy_timeout(writer->db, BUSY_MS);
        status = set_up(writer);
    }
    if (status != STATUS_OK) {
        const char *reason = writer->db ? sqlite3_errmsg(writer->db) : status_text(status);
        diag_text(diag, DIAG_ERROR, path, 0, 0, "cannot write the profile: %s", reason);
    }
    return status;
}

// Takes back what a failed creation made.
static void undo(StoreWriter *writer, const char *path) {
    for (u32 i = 0; i < STORE_STATEMENT_COUNT; i++) sqlite3_finalize(writer->statements[i]);
    sqlite3_close(writer->db);
    unlink(path);
    Status ignored = remove_companions(path);
    (void)ignored;
    mem_free(writer);
}

Status store_create(const char *path, bool overwrite, StoreWriter **writer, Diag *diag) {
    *writer = NULL;
    if (!path[0]) return tell(diag, NULL, STATUS_INVALID, "the profile needs a file name");
    StoreWriter *made = mem_zero(1, sizeof *made);
    if (!made) return tell(diag, path, STATUS_NO_MEMORY, "out of memory");
    Status status = remove_old(path, overwrite, diag);
    int file;
    if (status == STATUS_OK) status = claim(path, &file, diag);
    if (status != STATUS_OK) {
        mem_free(made);
        return status;
    }
    FileLimit limit = file_limit_hold();
    status = write_image(path, file, diag);
    close(file);
    if (status == STATUS_OK) status = open_database(made, path, diag);
    if (status != STATUS_OK) undo(made, path);
    file_limit_release(&limit);
    if (status != STATUS_OK) return status;
    store_sink(made);
    *writer = made;
    return STATUS_OK;
}

Status store_remove(const char *path, Diag *diag) {
    TRY(remove_old(path, true, diag));
    return remove_companions(path);
}
