// SPDX-License-Identifier: Apache-2.0
// What CUPTI calls on the program's threads: launches (for their call stacks), modules, contexts.
#include "collect/collect_inside.h"
#include "collect/pm_sampling.h"

static bool is_launch(u32 domain, u32 cbid) {
    if (domain != CUPTI_DOMAIN_DRIVER) return false;
    switch (cbid) {
#define X(id, name) case id:
        CUPTI_LAUNCH_CBIDS(X)
#undef X
        return true;
    default: return false;
    }
}

static bool is_load(u32 cbid) {
    switch (cbid) {
#define X(id, name) case id:
        CUPTI_LOAD_CBIDS(X)
#undef X
        return true;
    default: return false;
    }
}

// The driver reads its parameters again after this callback: it loads what stands there then.
static void replace_code(Collector *c, const CuptiApiCall *call) {
    CuptiLoadParameters *parameters = (CuptiLoadParameters *)(uintptr_t)call->parameters;
    const void *code = parameters && parameters->code ? c->host.replace(c->host.context, parameters->code) : NULL;
    if (code) parameters->code = code;
}

static void on_resource(Collector *c, u32 cbid, const CuptiResource *data) {
    bool samples = c->host.options.sampling != COLLECT_SAMPLING_OFF;
    switch (cbid) {
    case CUPTI_CONTEXT_CREATED:
        if (samples) sampling_begin(c, data->context);
        if (c->host.options.counters) pm_sampling_wanted(c, data->context);
        break;
    case CUPTI_STREAM_DESTROY_STARTING: streams_destroyed(c); break;
    case CUPTI_CONTEXT_DESTROY_STARTING:
        streams_destroyed(c);
        if (samples) sampling_end(c, data->context);
        break;
    case CUPTI_MODULE_LOADED:
        modules_keep(c, data->descriptor);
        if (samples) sampling_module_loaded(c);
        break;
    default: break;
    }
}

static bool is_running(Collector *c) {
    return atomic_load_explicit(&c->state, memory_order_relaxed) == COLLECT_RUNNING;
}

// Also while the collector ends: sampling may have to hold launches then.
static void on_launch(Collector *c, u32 cbid, const CuptiApiCall *call) {
    if (call->site != 0) {
        sampling_launched(c);
        if (is_running(c)) notes_launched(c, cbid, call);
        return;
    }
    sampling_await(c);
    if (!is_running(c)) return;
    u32 stack = c->host.options.stacks ? stacks_find(&c->stacks, call->symbol) : 0;
    if (stack) stacks_set(&c->stacks, call->correlation, stack);
    if (c->host.options.arguments) arguments_launch(c, cbid, call);
    notes_launch(c, cbid, call, stack);
}

static void on_callback(void *context, u32 domain, u32 cbid, const void *data) {
    Collector *c = context;
    if (is_launch(domain, cbid)) {
        on_launch(c, cbid, data);
        return;
    }
    if (!is_running(c)) return;
    if (domain == CUPTI_DOMAIN_RESOURCE) {
        on_resource(c, cbid, data);
        return;
    }
    const CuptiApiCall *call = data;
    if (waits_is_one(cbid)) {
        waits_call(c, cbid, call);
        return;
    }
    if (call->site == 0 && is_load(cbid)) replace_code(c, call);
}

static void enable(Collector *c, bool on, u32 domain, const u32 *cbids, size_t count) {
    // A CUPTI that does not know one of them has programs that do not call it.
    for (size_t i = 0; i < count; i++) c->cupti.cuptiEnableCallback(on, c->subscriber, domain, cbids[i]);
}

#define X(cbid, name) cbid,
static const u32 launches[] = {CUPTI_LAUNCH_CBIDS(X)}, loads[] = {CUPTI_LOAD_CBIDS(X)};
#undef X
#define X(cbid, function, name) cbid,
static const u32 waits[] = {CUPTI_WAIT_CBIDS(X)};
#undef X

void callbacks_of_launches(Collector *c, bool on) { enable(c, on, CUPTI_DOMAIN_DRIVER, launches, WL_COUNT(launches)); }

CuptiResult callbacks_subscribe(Collector *c) {
    static const u32 resources[] = {CUPTI_CONTEXT_CREATED, CUPTI_CONTEXT_DESTROY_STARTING,
                                    CUPTI_STREAM_DESTROY_STARTING, CUPTI_MODULE_LOADED};
    CuptiResult result = c->cupti.cuptiSubscribe(&c->subscriber, on_callback, c);
    if (result != CUPTI_OK) return result;
    enable(c, true, CUPTI_DOMAIN_RESOURCE, resources, WL_COUNT(resources));
    const CollectOptions *o = &c->host.options;
    if (o->stacks || o->arguments || o->counters || o->sampling != COLLECT_SAMPLING_OFF)
        enable(c, true, CUPTI_DOMAIN_DRIVER, launches, WL_COUNT(launches));
    if (o->activities) enable(c, true, CUPTI_DOMAIN_DRIVER, waits, WL_COUNT(waits));
    if (c->host.replace) enable(c, true, CUPTI_DOMAIN_DRIVER, loads, WL_COUNT(loads));
    return CUPTI_OK;
}
