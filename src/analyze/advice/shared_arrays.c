// SPDX-License-Identifier: Apache-2.0
#include "analyze/advice/shared_arrays.h"

static bool is_global(const FlowInsn *in) { return in->space == SPACE_GLOBAL || in->space == SPACE_NONE; }

// The end of the allocation that the access goes to, which says whose array it is; 0: not known.
static u64 array_of(const KernelView *v, const AffineAccess *a) {
    const ViewArray *array = a->base == WL_NONE ? NULL : kernel_view_array(v, &v->flow.affine->factors[a->base]);
    return array ? array->end : 0;
}

static bool has_array(const KernelView *v, u64 array, bool only_stored) {
    const Affine *affine = v->flow.affine;
    for (u32 i = 0; i < affine->access_count; i++) {
        const FlowInsn *in = &v->flow.code->insns[affine->accesses[i].insn];
        bool wanted = is_global(in) && (in->is_store || in->is_atomic || !only_stored);
        if (wanted && array_of(v, &affine->accesses[i]) == array) return true;
    }
    return false;
}

static bool arrays_are_known(const KernelView *v) {
    const Affine *affine = v->flow.affine;
    for (u32 i = 0; affine && i < affine->access_count; i++) {
        const FlowInsn *in = &v->flow.code->insns[affine->accesses[i].insn];
        if (is_global(in) && !array_of(v, &affine->accesses[i])) return false;
    }
    return affine && affine->access_count > 0;
}

f64 shared_arrays_part(const KernelView *const *before, u32 count, const KernelView *view, bool only_stored) {
    const Affine *affine = view->flow.affine;
    f64 all = 0, shared = 0;
    bool known = arrays_are_known(view);
    for (u32 k = 0; k < count; k++) known &= arrays_are_known(before[k]);
    for (u32 i = 0; known && i < affine->access_count; i++) {
        const AffineAccess *a = &affine->accesses[i];
        const FlowInsn *in = &view->flow.code->insns[a->insn];
        bool has = false;
        if (!is_global(in) || !in->is_load) continue;
        for (u32 k = 0; k < count; k++) has |= has_array(before[k], array_of(view, a), only_stored);
        all += in->access_bytes;
        shared += has ? in->access_bytes : 0;
    }
    if (!known) return -1;
    return all > 0 ? shared / all : 0;
}
