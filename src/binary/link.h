// SPDX-License-Identifier: Apache-2.0
// Links the PTX of separately compiled objects (-rdc=true) into one PTX text, as the device linker would:
// .extern declarations meet their definitions, .weak and .common symbols are kept once, names private to an object that
// occur in another one are renamed, .file numbers and .debug_str labels are made unique. Works on tokens, so it needs
// no knowledge of instructions. Symbols that no object defines (vprintf, cudaGetParameterBufferV2) stay .extern. Debug
// sections other than .debug_str are left out, and with them the target option `debug`.
#ifndef WL_BINARY_LINK_H
#define WL_BINARY_LINK_H

#include "base/diag.h"
#include "base/vec.h"

typedef struct PtxObject {
    Str text;
    const char *name;  // for messages
} PtxObject;

typedef Vec(char) LinkText;  // NUL-terminated; the NUL is not counted in len; vec_free

// One object is copied as it is. STATUS_INVALID with line numbers in `diag`: a symbol defined twice, text that is not
// PTX. *out is empty on failure.
WL_MUST_USE Status ptx_link(const PtxObject *objects, u32 count, LinkText *out, Diag *diag);

// The lines every PTX text starts with.
typedef struct PtxHeader {
    u32 isa;  // major * 10 + minor
    u32 sm;
    char variant;  // 'a', 'f' or 0
    u32 address_size;
} PtxHeader;

// STATUS_INVALID when the text does not start with .version and .target.
WL_MUST_USE Status ptx_read_header(Str text, PtxHeader *header);

#endif
