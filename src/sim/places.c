// SPDX-License-Identifier: Apache-2.0
#include "sim/places.h"

#include <string.h>

static u64 page_of(u64 offset) { return offset / PLACE_PAGE; }
static u64 whole_pages(u64 size) { return (size + PLACE_PAGE - 1) / PLACE_PAGE * PLACE_PAGE; }

static void room_remove(PlaceRooms *rooms, u32 at) {
    memmove(&rooms->data[at], &rooms->data[at + 1], sizeof *rooms->data * (rooms->len - at - 1));
    rooms->len--;
}

// The front of a room.
static u64 room_use(PlaceRooms *rooms, u32 at, u64 size) {
    PlaceRoom *room = &rooms->data[at];
    u64 offset = room->offset;
    room->offset += size;
    room->size -= size;
    if (room->size == 0) room_remove(rooms, at);
    return offset;
}

// Adds a room, which becomes one with those that it meets, but not across the ends of pages if it is to stay `within`
// one. Returns its number, WL_NONE where memory is missing.
static u32 room_add(PlaceRooms *rooms, u64 offset, u64 size, bool within) {
    u32 at = 0;
    while (at < rooms->len && rooms->data[at].offset < offset) at++;
    if (vec_reserve(rooms, 1) != STATUS_OK) return WL_NONE;
    memmove(&rooms->data[at + 1], &rooms->data[at], sizeof *rooms->data * (rooms->len - at));
    rooms->data[at] = (PlaceRoom){offset, size};
    rooms->len++;
    for (u32 first = at ? at - 1 : 0, turn = 0; turn < 2 && first + 1 < rooms->len; turn++) {
        PlaceRoom *a = &rooms->data[first], *b = a + 1;
        bool one = a->offset + a->size == b->offset && !(within && page_of(a->offset) != page_of(b->offset));
        if (one) {
            a->size += b->size;
            room_remove(rooms, first + 1);
            at = first;
        } else {
            first++;
        }
    }
    return at;
}

static u64 take_pages(WindowPlaces *p, u64 size, u64 align) {
    for (u32 i = 0; i < p->pages.len; i++) {
        const PlaceRoom *room = &p->pages.data[i];
        if (room->size >= size && room->offset % align == 0) return room_use(&p->pages, i, size);
    }
    u64 offset = (p->next + align - 1) & ~(align - 1);
    if (offset > p->size || size > p->size - offset) return PLACE_NOWHERE;
    if (offset > p->next) (void)room_add(&p->pages, p->next, offset - p->next, false);
    p->next = offset + size;
    return offset;
}

u64 places_take(WindowPlaces *p, PlaceKind kind, u64 size, u64 align) {
    u64 page_align = align > PLACE_PAGE ? align : PLACE_PAGE;
    if (size > PLACE_PAGE) return take_pages(p, whole_pages(size), page_align);
    PlaceRooms *rests = &p->rests[kind];
    u32 best = WL_NONE;
    for (u32 i = 0; i < rests->len; i++) {
        const PlaceRoom *room = &rests->data[i];
        bool fits = room->size >= size && room->offset % align == 0;
        if (fits && (best == WL_NONE || room->size < rests->data[best].size)) best = i;
    }
    if (best != WL_NONE) return room_use(rests, best, size);
    u64 offset = take_pages(p, PLACE_PAGE, page_align);
    if (offset == PLACE_NOWHERE || size == PLACE_PAGE) return offset;
    if (room_add(rests, offset + size, PLACE_PAGE - size, true) == WL_NONE) return PLACE_NOWHERE;
    return offset;
}

void places_give(WindowPlaces *p, PlaceKind kind, u64 offset, u64 size) {
    if (size > PLACE_PAGE) {
        (void)room_add(&p->pages, offset, whole_pages(size), false);
        return;
    }
    PlaceRooms *rests = &p->rests[kind];
    u32 at = room_add(rests, offset, size, true);
    if (at == WL_NONE || rests->data[at].size < PLACE_PAGE) return;
    room_remove(rests, at);
    (void)room_add(&p->pages, page_of(offset) * PLACE_PAGE, PLACE_PAGE, false);
}

void places_free(WindowPlaces *p) {
    vec_free(&p->pages);
    for (u32 kind = 0; kind < PLACE_KIND_COUNT; kind++) vec_free(&p->rests[kind]);
}
