// SPDX-License-Identifier: Apache-2.0
// Tensor maps: the 128-byte objects that cp.async.bulk.tensor takes, made by the driver API's cuTensorMapEncode
// functions (CUDA driver API, "Tensor Map Object Management"; PTX ISA 9.0, 5.5). Their layout is ours: both the API and
// the ISA call it opaque. Plain data, no memory owned.
#ifndef WL_SIM_TENSOR_MAP_H
#define WL_SIM_TENSOR_MAP_H

#include "base/status.h"
#include "base/types.h"

enum { TENSOR_MAX_RANK = 5, TENSOR_MAP_BYTES = 128 };

// Numbers of the driver API's enums CUtensorMapDataType, ...Interleave, ...Swizzle, ...L2promotion, ...FloatOOBfill.
typedef enum TensorType {
    TENSOR_U8,
    TENSOR_U16,
    TENSOR_U32,
    TENSOR_S32,
    TENSOR_U64,
    TENSOR_S64,
    TENSOR_F16,
    TENSOR_F32,
    TENSOR_F64,
    TENSOR_BF16,
    TENSOR_F32_FTZ,
    TENSOR_TF32,
    TENSOR_TF32_FTZ,
    TENSOR_16U4_ALIGN8,
    TENSOR_16U4_ALIGN16,
    TENSOR_16U6_ALIGN16,
    TENSOR_TYPE_COUNT
} TensorType;
typedef enum TensorInterleave { TENSOR_FLAT, TENSOR_INTERLEAVE_16B, TENSOR_INTERLEAVE_32B } TensorInterleave;
typedef enum TensorSwizzle {
    TENSOR_SWIZZLE_NONE,
    TENSOR_SWIZZLE_32B,
    TENSOR_SWIZZLE_64B,
    TENSOR_SWIZZLE_128B,
    TENSOR_SWIZZLE_128B_ATOM_32B,
    TENSOR_SWIZZLE_128B_ATOM_32B_FLIP_8B,
    TENSOR_SWIZZLE_128B_ATOM_64B,
    TENSOR_SWIZZLE_COUNT
} TensorSwizzle;
typedef enum TensorFill { TENSOR_FILL_ZERO, TENSOR_FILL_NAN } TensorFill;

// What all encoders are given, in the words of cuTensorMapEncodeTiled. The arrays have `rank` entries, strides one
// fewer.
typedef struct TensorMapSpec {
    u32 type, rank;      // TensorType
    u64 address;         // device address of element 0
    const u64 *dims;     // elements
    const u64 *strides;  // bytes, of dimensions 1 and up
    const u32 *element_strides;
    u32 interleave, swizzle, l2_promotion, fill;
    u32 sm_version;  // of the device, 0 = 90: packed types and the swizzles with larger atoms came with 100
} TensorMapSpec;

// The encoders write TENSOR_MAP_BYTES to `map`. STATUS_INVALID when an argument breaks
// one of the rules of the API (CUDA_ERROR_INVALID_VALUE there); `map` is not touched then.
WL_MUST_USE Status sim_tensor_map_encode_tiled(void *map, const TensorMapSpec *spec, const u32 *box);
// `lower` and `upper` have rank - 2 entries, in the order of the dimensions: W, H, D (so on an H200; the API's text has
// it the other way round).
WL_MUST_USE Status sim_tensor_map_encode_im2col(void *map, const TensorMapSpec *spec, const i32 *lower,
                                                const i32 *upper, u32 channels_per_pixel, u32 pixels_per_column);
// `mode` 0: .im2col::w, 1: .im2col::w::128.
WL_MUST_USE Status sim_tensor_map_encode_im2col_wide(void *map, const TensorMapSpec *spec, i32 lower, i32 upper,
                                                     u32 channels_per_pixel, u32 pixels_per_column, u32 mode);
// Changes the address of element 0. STATUS_INVALID: `map` is not a tensor map, or the address is not aligned for it.
WL_MUST_USE Status sim_tensor_map_replace_address(void *map, u64 address);

// --- inside of the simulator -----------------------------------------------------------------------------------
typedef enum TensorMode { TENSOR_TILED, TENSOR_IM2COL, TENSOR_IM2COL_W, TENSOR_IM2COL_W128 } TensorMode;

typedef struct TensorMap {
    u64 address;
    u64 stride[TENSOR_MAX_RANK - 1];  // bytes
    u32 last[TENSOR_MAX_RANK];        // elements - 1, as sizes go up to 2^32
    u32 magic;                        // TENSOR_MAP_MAGIC
    u16 box[TENSOR_MAX_RANK];         // tiled: elements; im2col: box[0] channels per pixel, box[1] pixels per column
    u8 step[TENSOR_MAX_RANK];         // element strides
    u8 rank, type, mode, interleave;
    u8 swizzle;  // TensorSwizzle
    u8 fill, l2_promotion;
    i16 lower[3], upper[3];  // im2col: corners along W, H, D
    u8 zero[30];
} TensorMap;

_Static_assert(sizeof(TensorMap) == TENSOR_MAP_BYTES, "a tensor map has 128 bytes");
#define TENSOR_MAP_MAGIC 0x70616d74u  // "tmap"

typedef struct TensorTypeInfo {
    u8 bits;         // of an element in global memory
    u8 shared_bits;  // ... in shared memory, gaps included
    bool is_float;   // may be filled with NaN
    u8 chunk;        // elements that stay together: 16 of the packed types, else 1
} TensorTypeInfo;
extern const TensorTypeInfo tensor_types[TENSOR_TYPE_COUNT];

// STATUS_INVALID: not a tensor map, or one that tensormap.replace has made impossible.
WL_MUST_USE Status tensor_map_check(const TensorMap *map);
// Bytes of a row of the box in shared memory over which `swizzle` repeats: 32, 64 or 128; 0 without one.
u32 tensor_swizzle_span(u32 swizzle);

#endif
