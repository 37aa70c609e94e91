// SPDX-License-Identifier: Apache-2.0
#include "cuda/filter.h"

#include <regex.h>

#include "binary/kernel_name.h"

void filter_setup(CudaContext *c) {
    if (!c->config.kernel_regex[0] || c->filter) return;
    regex_t *regex = mem_zero(1, sizeof *regex);
    if (!regex) return;
    char text[256];
    if (!kernel_filter_compile(regex, c->config.kernel_regex, text, sizeof text)) {
        cuda_message(c, LOG_ERROR, "kernel filter '%s': %s; every kernel is recorded", c->config.kernel_regex, text);
        mem_free(regex);
        return;
    }
    c->filter = regex;
}

static bool is_rest(const CudaContext *c, u64 index) {
    return index >= c->config.launch_skip && index - c->config.launch_skip >= c->config.launch_count;
}

SimPass filter_launch(CudaContext *c, const char *kernel) {
    bool matches = !c->filter || kernel_matches(c->filter, kernel);
    u64 index = c->matched_launches;
    c->matched_launches += matches;
    if (is_rest(c, index)) return PASS_REST;
    return matches && index >= c->config.launch_skip ? PASS_NONE : PASS_OVER;
}

bool filter_passes(const CudaContext *c) {
    return c->config.kernel_regex[0] || c->config.launch_skip || c->config.launch_count != UINT64_MAX;
}
