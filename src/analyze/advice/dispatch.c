// SPDX-License-Identifier: Apache-2.0
// How long instructions keep a scheduler's dispatcher from handing out another one, as measured where all units have
// time (bench/hwref/h200-held.tsv): one cycle, but three for a product of which the upper word is wanted, and 1.5 to
// 2.5 for what goes to a queue. The GPU's model has it in registers that could be handed out in that time.
#include <math.h>

#include "analyze/advice/rule.h"

bool insn_is_wide_product(const CasePart *part, u32 pc) {
    if (part->view->kind != VIEW_SASS) return false;
    const SassInsn *insn = insn_machine(part, pc);
    return insn->op == SASS_OP_IMAD && (sass_has(insn, "HI") || sass_has(insn, "WIDE"));
}

static u64 held_reads(const GpuModel *g, const CasePart *part, u32 pc) {
    const CaseAccess *a = case_access(part, pc);
    if (case_insn(part, pc)->unit == UNIT_XU) return g->queue_reads;
    if (insn_is_wide_product(part, pc)) return g->wide_reads;
    if (!a) return 0;
    if (access_is_global(a)) return a->load ? g->global_reads : g->store_reads;
    return a->load && !a->atomic ? 0 : g->queue_reads;
}

f64 insn_held(const AdviceCase *c, const CasePart *part, u32 pc) {
    if (part->view->kind != VIEW_SASS || !c->gpu || !c->gpu->register_reads) return 1;
    return fmax((f64)held_reads(c->gpu, part, pc) / (f64)c->gpu->register_reads, 1);
}
