// SPDX-License-Identifier: Apache-2.0
// A cubin: the ELF file with the machine code for one GPU. Gives per function the code and its resources, and which
// source line each instruction came from (when compiled with -lineinfo or -G).
// A Cubin owns its tables and borrows the bytes it was made from. Read-only after cubin_open.
#ifndef WL_BINARY_CUBIN_H
#define WL_BINARY_CUBIN_H

#include "base/diag.h"
#include "base/vec.h"

typedef struct CubinFunction {
    const char *name;  // mangled
    const u8 *code;
    u64 code_size;
    u32 section;        // index of .text.<name>
    u32 symbol;         // index of the symbol, 0 = not known
    u32 registers;      // per thread
    u32 shared_size;    // static shared memory, bytes
    u32 local_size;     // frame (stack) per thread, bytes
    u32 constant_size;  // bank 0, parameters included
    u32 param_size;     // bytes of kernel parameters
    u32 barriers;
    u32 max_threads;               // __launch_bounds__, 0 = not given
    bool is_entry;                 // a kernel
    u32 first_line, line_count;    // in Cubin.lines
    u32 param_base;                // where parameters begin in constant bank 0, 0 = not known
    u32 first_param, param_count;  // in Cubin.params, by position
    u32 first_jump, jump_count;    // in Cubin.jumps
} CubinFunction;

typedef struct CubinParam {
    u32 function, position;  // function: index of Cubin.functions
    u32 offset, size;        // bytes from param_base on
} CubinParam;

typedef struct CubinJump {  // one case of an indirect branch
    u32 from, to;           // offsets in the function: of the branch, of what it may go to
} CubinJump;

typedef struct CubinLine {  // holds from `offset` up to the next row's offset
    u64 offset;             // within the function
    u32 file;               // index in Cubin.files, WL_NONE = not known
    u32 line;               // 0 = not known
    u32 column;
    u32 inlined;  // functions that the place is inlined from, one in the other; 0 = it is the function's own
    u32 call_file, call_line;  // of the outermost call when inlined: a place of the function itself
} CubinLine;

typedef struct Cubin {
    u32 sm;        // 90
    char variant;  // 'a' or 0; from CUDA 13 on a cubin does not say it, only its fat binary entry does
    u32 flags;     // e_flags
    Vec(CubinFunction) functions;
    Vec(CubinLine) lines;
    Vec(CubinParam) params;
    Vec(CubinJump) jumps;
    Vec(const char *) files;
    u32 global_constant_size;  // .nv.constant3: __constant__ variables
    u32 global_size;           // .nv.global and .nv.global.init
    Arena arena;               // names
} Cubin;

WL_MUST_USE Status cubin_open(Cubin *cubin, const u8 *data, size_t size, const char *name, Diag *diag);
void cubin_close(Cubin *cubin);
const CubinFunction *cubin_find_function(const Cubin *cubin, Str name);  // NULL when absent
// Loads and stores of local memory in its code, 0 for GPUs before Volta. What it calls is not counted.
u32 cubin_local_accesses(const Cubin *cubin, const CubinFunction *function);
// The row that covers a code offset; NULL when there is none.
const CubinLine *cubin_find_line(const Cubin *cubin, const CubinFunction *function, u64 offset);

#endif
