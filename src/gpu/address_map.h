// SPDX-License-Identifier: Apache-2.0
// Which channel, L2 slice, bank and row an address belongs to: the text `address_map` of a GPU model, parsed once. The
// language is in docs/how-to-add-a-gpu.md. Immutable after parsing; no memory of its own.
#ifndef WL_GPU_ADDRESS_MAP_H
#define WL_GPU_ADDRESS_MAP_H

#include "gpu/gpu.h"

enum { MAP_STEPS = 8 };  // terms of an expression at most

typedef enum MapSource { MAP_BITS, MAP_LOCAL, MAP_HASH } MapSource;

typedef struct MapStep {
    u8 source;  // MapSource
    u8 shift;
    bool add;  // else exclusive or
    u64 mask;
} MapStep;

// One of channel, slice and bank. Its first term is its own: bits that nothing else is named by.
typedef struct MapUnit {
    bool given, interleave;
    u8 low, bits;  // own bits of the address (channel) or of the local address (slice, bank); interleave: low
    u8 first;      // interleave: the bit that changes places with `low`
    u8 steps;
    u32 column;  // where the expression begins in the text
    u64 count;
    MapStep step[MAP_STEPS];
} MapUnit;

typedef struct AddressMap {
    MapUnit channel, slice, bank;
    u64 side;  // bits of the address whose parity says in which half of the slices it is; 0 = any. The lowest is taken
               // out
    u64 slices_per_channel;
    u8 row_bits;  // log2 of a row
    u32 granule;  // bytes, a power of two: neighbours in one granule share channel, slice and bank
} AddressMap;

typedef struct AddressPlace {
    u32 channel, slice, bank;  // slice: of all, bank: of its channel
    u64 row;
    u64 local;  // the address within the slice: what is left without channel and slice; one-to-one
} AddressPlace;

// STATUS_INVALID with the column of each mistake in `diag` (may be NULL); `file` is what it names.
WL_MUST_USE Status address_map_parse(const GpuModel *model, const char *file, AddressMap *map, Diag *diag);
AddressPlace address_map_place(const AddressMap *map, u64 address);
u32 address_map_slice(const AddressMap *map, u64 address, u64 *local);  // only these two of it

#endif
