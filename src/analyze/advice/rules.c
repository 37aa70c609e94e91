// SPDX-License-Identifier: Apache-2.0
#include "analyze/advice/rule.h"

#define RECORD(scale, width, helped, tried) \
    { scale, width, helped, tried }
const AdviceRule advice_rules[] = {
#define ADVICE_RULE(id, name, kind, record, simulated, title, why, how, before, after) \
    {name, title, why, how, before, after, ADVICE_##kind, record, simulated},
#include "analyze/advice/rules.def"
#undef ADVICE_RULE
};

RuleFunction *const advice_functions[] = {
#define ADVICE_RULE(id, ...) rule_##id,
#include "analyze/advice/rules.def"
#undef ADVICE_RULE
};

const u32 advice_rule_count = WL_COUNT(advice_rules);
