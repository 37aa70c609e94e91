// SPDX-License-Identifier: Apache-2.0
// Fat binaries: the containers in which nvcc packs PTX and machine code per target (layout: docs/fatbin.md).
// A Fatbin lists the entries of one or more containers and borrows their bytes: these must outlive it.
// Containers from files have a known size and every read is checked against it; containers of the running process are
// taken at their own word (their headers say how long they are). Not thread-safe for writers.
#ifndef WL_BINARY_FATBIN_H
#define WL_BINARY_FATBIN_H

#include "base/diag.h"
#include "base/vec.h"

#define FATBIN_WRAPPER_MAGIC 0x466243b1u
#define FATBIN_MAGIC 0xba55ed50u

// Against decompression bombs: no entry may unpack to more than MAX_SIZE, nor, above FREE_SIZE, to more than MAX_RATIO
// times its packed size. (Real PTX packs about 1:10, long tables of zeros up to 1:10,000.)
#define FATBIN_MAX_SIZE ((u64)1 << 30)
#define FATBIN_FREE_SIZE ((u64)64 << 20)
#define FATBIN_MAX_RATIO 1024u

typedef enum FatbinKind {
    FATBIN_PTX = 1,
    FATBIN_ELF = 2,
    FATBIN_LTO_IR = 8
} FatbinKind;  // others are kept as they are
typedef enum FatbinCodec { FATBIN_STORED, FATBIN_LZ4, FATBIN_ZSTD } FatbinCodec;

enum {  // FatbinEntry.flags
    FATBIN_64BIT = 0x1,
    FATBIN_DEBUG = 0x2,
    FATBIN_LINUX = 0x10,
    FATBIN_FLAG_LZ4 = 0x2000,
    FATBIN_FLAG_ZSTD = 0x8000,
    FATBIN_LTO = 0x10000,
    FATBIN_ARCH_SPECIFIC = 0x100000,    // sm_90a: runs on exactly this target
    FATBIN_FAMILY_SPECIFIC = 0x200000,  // sm_100f: runs on this and later members of its family
};

typedef struct FatbinEntry {
    u32 kind;  // FatbinKind
    FatbinCodec codec;
    u32 sm;             // 75
    char variant;       // 'a', 'f' or 0
    u32 isa;            // PTX ISA as major * 10 + minor; 0 for machine code without one
    u64 flags;          // FATBIN_...
    Str identifier;     // what the compiler called it, often the source file; may be empty
    const u8 *payload;  // as packed
    u64 packed_size;    // exact bytes at `payload`
    u64 size;           // bytes when unpacked
    u64 offset;  // of the entry: from the start of the section or file given to fatbin_parse, else of the container
    u32 object;  // index of its container in the Fatbin
} FatbinEntry;

typedef struct Fatbin {
    Vec(FatbinEntry) entries;
    u32 objects;       // containers seen
    u32 wrapper;       // version of the wrapper it came from, 0 = none
    const char *name;  // for messages, borrowed; may be NULL
} Fatbin;

// Appends the entries of all containers in `data` (one, or a whole .nv_fatbin / __nv_relfatbin section, where padding
// separates them). STATUS_FORMAT with the byte offset in `diag` when anything does not add up; what came before stays.
// A zeroed Fatbin is ready.
WL_MUST_USE Status fatbin_parse(Fatbin *fatbin, const u8 *data, size_t size, Diag *diag);

// Appends what the argument of __cudaRegisterFatBinary stands for. Version 1: its one container. Version 2 (-rdc=true):
// the per-object containers, with the PTX; the linked container when there are none.
WL_MUST_USE Status fatbin_parse_wrapper(Fatbin *fatbin, const void *wrapper, Diag *diag);
// Appends the wrapper's own container; with version 2 that is the linked one, with machine code only.
WL_MUST_USE Status fatbin_parse_linked(Fatbin *fatbin, const void *wrapper, Diag *diag);
// Appends one container of this process, found at `container`.
WL_MUST_USE Status fatbin_parse_container(Fatbin *fatbin, const void *container, Diag *diag);
void fatbin_free(Fatbin *fatbin);

// Unpacks an entry into a heap block of *size bytes and a NUL behind them (mem_free). Exact sizes are checked: too few
// or too many bytes are STATUS_FORMAT, a suspicious ratio or size is STATUS_LIMIT.
WL_MUST_USE Status fatbin_unpack(const Fatbin *fatbin, const FatbinEntry *entry, u8 **data, size_t *size, Diag *diag);

// No compiler of today makes code for devices below this one. They exist as models of the simulator only, and are given
// the PTX of any target, the lowest that there is.
enum { FATBIN_OLDEST_SM = 50 };

// True when code for sm/variant may run on a device (PTX: any later device unless a variant narrows it).
bool fatbin_ptx_fits(u32 sm, char variant, u32 device_sm);
bool fatbin_cubin_fits(u32 sm, char variant, u32 device_sm);

// The entry to use on a device: the highest target that fits; of equal ones the most specific ('a', then 'f', then
// plain), then the first. `object` is an index below fatbin->objects, WL_NONE looks at all. NULL when nothing fits.
const FatbinEntry *fatbin_find_ptx(const Fatbin *fatbin, u32 object, u32 device_sm);
const FatbinEntry *fatbin_find_cubin(const Fatbin *fatbin, u32 object, u32 device_sm);

// Like fatbin_find_ptx, but STATUS_NOT_FOUND says in `diag` what there is and what to do (-gencode ...).
WL_MUST_USE Status fatbin_choose_ptx(const Fatbin *fatbin, u32 object, u32 device_sm, const FatbinEntry **entry,
                                     Diag *diag);

// "sm_90a SASS, compute_75 PTX": what the container(s) hold, without duplicates; NUL-terminated, cut at `size`.
void fatbin_describe(const Fatbin *fatbin, u32 object, char *buffer, size_t size);

#endif
