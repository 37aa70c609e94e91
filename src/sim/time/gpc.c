// SPDX-License-Identifier: Apache-2.0
#include "sim/time/gpc.h"

enum { GPC_8 = 8, GPC_16 = 16, GPC_18 = 18, MOST = 192 };  // MOST: GPCs that the keys allow, and the first

static u32 whole_sms(const GpuModel *g) { return (u32)(g->gpcs_18 * GPC_18 + g->gpcs_16 * GPC_16); }
static u32 first_sms(const GpuModel *g) { return (u32)g->sms - whole_sms(g); }
static bool is_known(const GpuModel *g) {
    return g->gpcs_18 + g->gpcs_16 > 0 && whole_sms(g) + g->gpcs_8 * GPC_8 <= g->sms;
}

u32 gpc_count(const GpuModel *g) { return is_known(g) ? (first_sms(g) > 0) + (u32)(g->gpcs_16 + g->gpcs_18) : 0; }

u32 gpc_of(const GpuModel *g, u32 sm) {
    if (!is_known(g) || sm < first_sms(g)) return 0;
    u32 at = sm - first_sms(g), first = first_sms(g) > 0, small = (u32)g->gpcs_16 * GPC_16;
    return at < small ? first + at / GPC_16 : first + (u32)g->gpcs_16 + (at - small) / GPC_18;
}

static u32 size_of(const GpuModel *g, u32 gpc) {
    if (gpc == 0 && first_sms(g)) return first_sms(g);
    return gpc < (first_sms(g) > 0) + g->gpcs_16 ? GPC_16 : GPC_18;
}

// SMs of no whole GPC: part of the first.
static u32 single_sms(const GpuModel *g) { return first_sms(g) - (u32)g->gpcs_8 * GPC_8; }

// One CTA after the other to each GPC that has room.
static u32 share_out(const GpuModel *g, u32 *given, u32 left, u32 per_tpc) {
    for (bool any = true; left && any;) {
        any = false;
        for (u32 i = 0; i < gpc_count(g) && left; i++) {
            u32 single = i == 0 ? single_sms(g) : 0, room = single + (size_of(g, i) - single) * per_tpc / 2;
            if (given[i] >= room) continue;
            given[i]++;
            left--;
            any = true;
        }
    }
    return left;
}

u32 gpc_place(const GpuModel *g, u32 cta, u32 ctas) {
    u32 given[MOST] = {0}, single = is_known(g) ? single_sms(g) : 0, first = 0;
    if (!is_known(g)) return WL_NONE;
    given[0] = ctas < single ? ctas : single;
    u32 left = share_out(g, given, ctas - given[0], 1);
    if (left) share_out(g, given, left, 2);
    for (u32 i = 0; i < gpc_count(g); first += size_of(g, i++)) {
        if (cta < given[i]) return first + cta;
        cta -= given[i];
    }
    return WL_NONE;
}
