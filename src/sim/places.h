// SPDX-License-Identifier: Apache-2.0
// Places in the window of device addresses, given out as the driver of an H200 does (bench/micro/placement.cu,
// bench/hwref/h200-placement.tsv): where arrays lie decides which slices of the L2 and banks of DRAM they share. Up to
// a page, arrays lie one behind the other in pages, at multiples of 512 bytes, each in the smallest room that it fits
// into; larger ones have pages of their own, whose ends stay empty. Variables of modules have pages apart.
#ifndef WL_SIM_PLACES_H
#define WL_SIM_PLACES_H

#include "base/vec.h"

#define PLACE_UNIT 512ull
#define PLACE_PAGE (2ull << 20)
#define PLACE_NOWHERE UINT64_MAX

typedef enum PlaceKind { PLACE_ARRAY, PLACE_VARIABLE, PLACE_KIND_COUNT } PlaceKind;

typedef struct PlaceRoom {
    u64 offset, size;
} PlaceRoom;

typedef Vec(PlaceRoom) PlaceRooms;

typedef struct WindowPlaces {
    u64 size;                            // of the window, bytes
    u64 next;                            // first offset never given out
    PlaceRooms pages;                    // whole ones that were given back, by offset; neighbours are one room
    PlaceRooms rests[PLACE_KIND_COUNT];  // ... rooms within pages that are in use
} WindowPlaces;

// An offset in the window, a multiple of `align` (a power of two) and of PLACE_UNIT, for `size` bytes, a multiple of
// PLACE_UNIT. PLACE_NOWHERE: no room, or no memory to keep the rest of a page in mind.
u64 places_take(WindowPlaces *places, PlaceKind kind, u64 size, u64 align);
// What places_take gave may be given out again. Where memory is missing its addresses are lost, nothing else.
void places_give(WindowPlaces *places, PlaceKind kind, u64 offset, u64 size);
void places_free(WindowPlaces *places);

#endif
