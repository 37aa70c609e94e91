// SPDX-License-Identifier: Apache-2.0
#include "analyze/advice/shared_arrays.h"

#include <string.h>

#include "analyze/advice/rule.h"

u64 shared_arrays_of(const KernelView *v, const AffineAccess *a) {
    const ViewArray *array = a->base == WL_NONE ? NULL : kernel_view_array(v, &v->flow.affine->factors[a->base]);
    return array ? array->end : 0;
}

bool shared_arrays_has(const KernelView *v, u64 array, bool only_stored) {
    const Affine *affine = v->flow.affine;
    for (u32 i = 0; i < affine->access_count; i++) {
        const FlowInsn *in = &v->flow.code->insns[affine->accesses[i].insn];
        bool wanted = insn_is_global(in) && (in->is_store || in->is_atomic || !only_stored);
        if (wanted && shared_arrays_of(v, &affine->accesses[i]) == array) return true;
    }
    return false;
}

bool shared_arrays_known(const KernelView *v) {
    const Affine *affine = v->flow.affine;
    for (u32 i = 0; affine && i < affine->access_count; i++) {
        const FlowInsn *in = &v->flow.code->insns[affine->accesses[i].insn];
        if (insn_is_global(in) && !shared_arrays_of(v, &affine->accesses[i])) return false;
    }
    return affine && affine->access_count > 0;
}

f64 shared_arrays_part(const KernelView *const *before, u32 count, const KernelView *view, bool only_stored) {
    const Affine *affine = view->flow.affine;
    f64 all = 0, shared = 0;
    bool known = shared_arrays_known(view);
    for (u32 k = 0; k < count; k++) known &= shared_arrays_known(before[k]);
    for (u32 i = 0; known && i < affine->access_count; i++) {
        const AffineAccess *a = &affine->accesses[i];
        const FlowInsn *in = &view->flow.code->insns[a->insn];
        bool has = false;
        if (!insn_is_global(in) || !in->is_load) continue;
        for (u32 k = 0; k < count; k++) has |= shared_arrays_has(before[k], shared_arrays_of(view, a), only_stored);
        all += in->access_bytes;
        shared += has ? in->access_bytes : 0;
    }
    if (!known) return -1;
    return all > 0 ? shared / all : 0;
}

// --- CTA by CTA ------------------------------------------------------------------------------------------------------
typedef struct Place {
    u64 array;  // its end
    u64 bytes;  // from the pointer to there
    i64 of_cta[3], constant;
} Place;

// Where the access goes when nothing but the CTA's number decides; false: something else does, or it is not known.
static bool place_of(const KernelView *v, const AffineAccess *a, Place *place) {
    const Affine *affine = v->flow.affine;
    const AffineForm *form = &affine->forms[a->form];
    if (!shared_arrays_of(v, a)) return false;
    const ViewArray *array = kernel_view_array(v, &affine->factors[a->base]);
    *place = (Place){.array = array->end, .bytes = array->bytes, .constant = form->constant};
    for (u32 t = 0; t < form->term_count; t++) {
        const AffineTerm *term = &affine->terms[form->terms + t];
        const AffineFactor *f = term->factors[0] == WL_NONE ? NULL : &affine->factors[term->factors[0]];
        if (!f || term->factors[1] != WL_NONE) return false;
        if (term->factors[0] == a->base) continue;
        if (f->kind != AFFINE_SREG || f->id != SREG_CTAID || f->component > 2) return false;
        place->of_cta[f->component] = term->coefficient;
    }
    return place->of_cta[0] || place->of_cta[1] || place->of_cta[2];
}

static bool is_there(const Place *a, const Place *b) {
    bool same = a->array == b->array && a->bytes == b->bytes && a->constant == b->constant;
    for (u32 i = 0; i < 3; i++) same &= a->of_cta[i] == b->of_cta[i];
    return same;
}

static bool stores_at(const KernelView *v, const Place *place) {
    for (u32 i = 0; i < v->flow.affine->access_count; i++) {
        const AffineAccess *a = &v->flow.affine->accesses[i];
        Place at;
        bool stores = v->flow.code->insns[a->insn].is_store && insn_is_global(&v->flow.code->insns[a->insn]);
        if (stores && place_of(v, a, &at) && is_there(&at, place)) return true;
    }
    return false;
}

// Nothing but a result or several for each CTA.
static bool stores_by_cta(const KernelView *v) {
    bool stores = false;
    for (u32 i = 0; i < v->flow.affine->access_count; i++) {
        const AffineAccess *a = &v->flow.affine->accesses[i];
        const FlowInsn *in = &v->flow.code->insns[a->insn];
        Place at;
        if (!insn_is_global(in) || !(in->is_store || in->is_atomic)) continue;
        if (in->is_atomic || !place_of(v, a, &at)) return false;
        stores = true;
    }
    return stores;
}

static bool same_launch(const KernelView *a, const KernelView *b) {
    const ProfileLaunch *x = a->launches.typical, *y = b->launches.typical;
    return x && y && !memcmp(x->grid, y->grid, sizeof x->grid) && !memcmp(x->block, y->block, sizeof x->block);
}

static bool was_before(const KernelView *v, u32 access) {
    const AffineAccess *a = v->flow.affine->accesses;
    for (u32 i = 0; i < access; i++)
        if (insn_is_global(&v->flow.code->insns[a[i].insn]) &&
            shared_arrays_of(v, &a[i]) == shared_arrays_of(v, &a[access]))
            return true;
    return false;
}

bool shared_arrays_by_cta(const KernelView *first, const KernelView *second, HandedOn *handed) {
    bool takes = false;
    *handed = (HandedOn){0};
    if (!first->flow.affine || !same_launch(first, second) || !shared_arrays_known(second)) return false;
    if (!stores_by_cta(first)) return false;  // what else it may load does not matter
    for (u32 i = 0; i < second->flow.affine->access_count; i++) {
        const AffineAccess *a = &second->flow.affine->accesses[i];
        const FlowInsn *in = &second->flow.code->insns[a->insn];
        if (!insn_is_global(in)) continue;
        u64 array = shared_arrays_of(second, a);
        Place at;
        if (in->is_atomic) return false;
        bool of_first = shared_arrays_has(first, array, true);
        if (of_first && !(in->is_load && place_of(second, a, &at) && stores_at(first, &at))) return false;
        takes |= of_first;
        if (of_first || was_before(second, i)) continue;
        f64 bytes = (f64)kernel_view_array_bytes(second, &second->flow.affine->factors[a->base]);
        handed->all += bytes;
        handed->again += in->is_load && shared_arrays_has(first, array, false) ? bytes : 0;
    }
    return takes && handed->again > 0;
}
