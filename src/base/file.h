// SPDX-License-Identifier: Apache-2.0
// Whole files into memory, with errors for people.
#ifndef WL_BASE_FILE_H
#define WL_BASE_FILE_H

#include "base/diag.h"

typedef struct FileData {
    u8 *data;  // `size` bytes and a NUL behind them
    size_t size;
    bool mapped;  // mmap'ed rather than on the heap
} FileData;

WL_MUST_USE Status file_read(const char *path, FileData *file, Diag *diag);
void file_release(FileData *file);

#endif
