// SPDX-License-Identifier: Apache-2.0
// For cubin.c: the .debug_line section of a cubin (DWARF 2 to 4) as rows.
#ifndef WL_BINARY_CUBIN_LINES_H
#define WL_BINARY_CUBIN_LINES_H

#include "binary/cubin.h"
#include "binary/elf.h"

typedef struct CubinRow {
    u32 section;  // of the code
    u32 order;    // rows of equal offset keep their order
    CubinLine line;
} CubinRow;

typedef Vec(CubinRow) CubinRows;

// Appends the rows of all sequences and the files they name to cubin->files. Programs of a DWARF version that is not
// known, or that are damaged, are warnings in `diag`: what came before them stays.
WL_MUST_USE Status cubin_read_lines(Cubin *cubin, const ElfFile *file, CubinRows *rows, Diag *diag);

#endif
