// SPDX-License-Identifier: Apache-2.0
// What the parts of an SM's memory side share: sm_memory.c, sm_fetch.c.
#ifndef WL_SIM_SM_PARTS_H
#define WL_SIM_SM_PARTS_H

#include "sim/time/sm.h"

// MemRequest.tag: without one of these a place in Sm.misses.
enum { TAG_TICKET = 1u << 31, TAG_FETCH = 1u << 30 };

void sm_request(Sm *sm, MemRequest r);
void fetch_arrived(Sm *sm, const MemReply *reply);

#endif
