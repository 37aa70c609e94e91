// SPDX-License-Identifier: Apache-2.0
// What the texture unit does with one lane's coordinates: addressing, filtering, conversion; and surface accesses.
// Values are those of the CUDA Programming Guide, appendix "Texture Fetching"; cube faces are filtered each on its own.
#ifndef WL_SIM_TEXTURE_FETCH_H
#define WL_SIM_TEXTURE_FETCH_H

#include "sim/warp.h"

// The sectors that the lanes of one instruction touch: at most 8 texels each. The texture unit looks them up quad by
// quad, four neighbouring lanes (an H200: walk/* of bench/hwref/h200-texture.tsv).
typedef struct SectorSet {
    u64 sector[512];
    u64 used[8];
    u32 count;
    u64 of_quad[32];
    u32 quad, quad_count;
    u32 looked_up;  // sum over the quads
} SectorSet;

// One texture or surface instruction in execution. Start with texture_begin, then texture_bind for each lane.
typedef struct TextureAccess {
    Exec *x;
    u32 lane;
    u64 handle;
    const SimTexture *texture;  // of `handle`
    SimTextureLevel level;      // the one that is read
    SectorSet sectors;
    u64 bytes;
} TextureAccess;

// Geometries in the order of the GEOM tokens of mods.def, from GEOM_1D.
typedef struct TextureGeometry {
    u8 dims;       // coordinates besides the layer; 0: cannot be executed
    bool layered;  // the first coordinate is an unsigned layer
    bool cube;
} TextureGeometry;
extern const TextureGeometry texture_geometries[9];

// How the level of a mipmap is chosen.
typedef enum TextureDetail { DETAIL_BASE, DETAIL_LEVEL, DETAIL_GRADIENT } TextureDetail;

typedef struct TexturePoint {
    f32 f[3];       // coordinates, when `is_float`
    i32 i[3];       // ... or as integers: texels for textures, bytes and then texels for surfaces
    i32 offset[3];  // in texels
    u32 layer;
    bool is_float;
    u8 detail;         // TextureDetail
    f32 lod;           // DETAIL_LEVEL
    f32 dx[3], dy[3];  // DETAIL_GRADIENT: by how much the coordinates change to the right and below
} TexturePoint;

typedef enum SurfaceMode { SURFACE_TRAP, SURFACE_CLAMP, SURFACE_ZERO } SurfaceMode;

void texture_begin(TextureAccess *a, Exec *x);
void texture_end(TextureAccess *a);  // counts the request
// Looks the handle up for `lane`; false with a fault when there is none.
bool texture_bind(TextureAccess *a, u32 lane, u64 handle);

// The four components: floats as their bits, integers extended to 32 bits; false with a fault.
bool texture_sample(TextureAccess *a, const TextureGeometry *geometry, const TexturePoint *point, u32 out[4]);
// One component of the four texels that bilinear filtering would mix, counter-clockwise from (left, next row).
bool texture_gather(TextureAccess *a, const TextureGeometry *geometry, const TexturePoint *point, u32 component,
                    u32 out[4]);

// Where a surface access of `bytes` goes. NULL: with a fault, or (SURFACE_ZERO) there is nothing to access.
u8 *surface_place(TextureAccess *a, const TextureGeometry *geometry, const TexturePoint *point, u32 bytes,
                  SurfaceMode mode, bool store);

extern const u16 texture_srgb[256];  // sRGB to linear, as halves
u32 half_from_float(f32 value);      // to nearest even
f32 float_from_half(u32 half);

#endif
