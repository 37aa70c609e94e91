// SPDX-License-Identifier: Apache-2.0
// PC sampling (cupti_pcsampling.h): begun by the writer when a context is created, fetched by it every moment, ended
// with the context or the program. A context belongs to the writer while it is BUSY; whoever ends it waits for that,
// briefly.
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "collect/collect_inside.h"
#include "record/stall.h"

enum { SCRATCH_BYTES = 32 << 20, MOST_FETCHES = 64, CLOSING_MS = 2000, AWAIT_NS = 1000000000 };
enum { PAUSE_NS = 100000, HOLD_NS = 50000000 };
// What CUPTI's decoder keeps up with: on an H200 (CUDA 13.0) 17 million samples a second leave it behind by half a
// second for each second of run time, and from 25 million on it loses samples without saying so; 4 million cost
// nothing.
// Its default buffer of 512 MiB costs a quarter of a second at the first launch (half a millisecond a MiB); one that is
// emptied every 10 ms, instead of every 100, need not be so large: 16 MiB are what comes in a tenth of a second.
enum { WORKER_SLEEP_MS = 10, LEAST_BUFFER = 16 << 20, MOST_BUFFER = 512 << 20 };
enum { SAMPLES_PER_SECOND = 4000000, DEFAULT_PERIOD = 16, SHORTEST_PERIOD = 10 };
enum { ATTRIBUTE_CLOCK_KHZ = 13, ATTRIBUTE_SMS = 16 };  // CU_DEVICE_ATTRIBUTE_*

static bool make_data(CuptiPcData *data, u32 reasons) {
    size_t pcs = SAMPLED_PCS * sizeof(CuptiPc), stalls = (size_t)SAMPLED_PCS * reasons * sizeof(CuptiStall);
    u8 *memory = mmap(NULL, pcs + stalls, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED) return false;
    *data = (CuptiPcData){.size = sizeof *data, .room = SAMPLED_PCS, .pcs = (CuptiPc *)memory};
    for (u32 i = 0; i < SAMPLED_PCS; i++) {
        data->pcs[i].size = sizeof(CuptiPc);
        data->pcs[i].stalls = (CuptiStall *)(memory + pcs) + (size_t)i * reasons;
    }
    return true;
}

static CuptiResult read_reasons(Collector *c, void *context) {
    size_t count = 0;
    char *names[COLLECT_REASONS];
    for (u32 i = 0; i < COLLECT_REASONS; i++) names[i] = c->reason_names[i];
    CuptiSamplingReasons ask = {
        .size = offsetof(CuptiSamplingReasons, indices), .context = context, .count_out = &count};
    CuptiResult result = c->cupti.cuptiPCSamplingGetNumStallReasons(&ask);
    if (result != CUPTI_OK) return result;
    if (count > COLLECT_REASONS) return CUPTI_NOT_SUPPORTED;
    ask = (CuptiSamplingReasons){sizeof ask, .context = context, .count = count, .indices = c->reason_indices,
                                 .names = names};
    result = c->cupti.cuptiPCSamplingGetStallReasons(&ask);
    if (result == CUPTI_OK) c->reason_count = (u32)count;
    return result;
}

// An SM gives about one sample per period.
static u32 choose_period(Collector *c, u32 device) {
    int khz = 0, sms = 0;
    if (!c->device_attribute || c->device_attribute(&khz, ATTRIBUTE_CLOCK_KHZ, (int)device) != 0 ||
        c->device_attribute(&sms, ATTRIBUTE_SMS, (int)device) != 0 || khz <= 0 || sms <= 0)
        return DEFAULT_PERIOD;
    u64 cycles = (u64)khz * 1000 * (u64)sms / SAMPLES_PER_SECOND;
    u32 period = SHORTEST_PERIOD;
    while (period < COLLECT_MOST_PERIOD && 1ull << period < cycles) period++;
    return period;
}

static size_t buffer_bytes(u32 automatic, u32 period) {
    u32 shorter = automatic > period ? automatic - period : 0;
    return shorter > 4 ? MOST_BUFFER : (size_t)LEAST_BUFFER << shorter;
}

static CuptiResult configure(Collector *c, SampledContext *sampled, void *context) {
    bool serialized = c->host.options.sampling == COLLECT_SAMPLING_SERIALIZED;
    u32 automatic = choose_period(c, sampled->device);
    sampled->period = c->host.options.period ? c->host.options.period : automatic;
    CuptiSamplingAttribute attributes[] = {
        {.type = CUPTI_SAMPLING_PERIOD, .number = sampled->period},
        {.type = CUPTI_SAMPLING_MODE, .number = serialized ? CUPTI_SAMPLING_SERIALIZED : CUPTI_SAMPLING_CONTINUOUS},
        {.type = CUPTI_SAMPLING_SCRATCH_BYTES, .bytes = SCRATCH_BYTES},
        {.type = CUPTI_SAMPLING_HARDWARE_BYTES, .bytes = buffer_bytes(automatic, sampled->period)},
        {.type = CUPTI_SAMPLING_WORKER_SLEEP, .number = WORKER_SLEEP_MS},
        {.type = CUPTI_SAMPLING_BUFFER, .pointer = &sampled->last}};
    CuptiSamplingConfig config = {sizeof config, .context = context, .count = WL_COUNT(attributes),
                                  .attributes = attributes};
    return c->cupti.cuptiPCSamplingSetConfigurationAttribute(&config);
}

static SampledContext *find(Collector *c, void *context) {
    for (u32 i = 0; i < COLLECT_CONTEXTS; i++)
        if (atomic_load(&c->contexts[i].context) == context) return &c->contexts[i];
    return NULL;
}

static SampledContext *claim(Collector *c, void *context) {
    for (u32 i = 0; i < COLLECT_CONTEXTS; i++) {
        void *none = NULL;
        if (atomic_compare_exchange_strong(&c->contexts[i].context, &none, context)) return &c->contexts[i];
    }
    return NULL;
}

static void disable(Collector *c, void *context) {
    CuptiSamplingContext params = {sizeof params, .context = context};
    c->cupti.cuptiPCSamplingDisable(&params);
}

// A GPU can be sampled for one process at a time. CUPTI (13.0) lets a second one begin, and then gives neither of them
// their samples and loses the times of launches. The lock is held until the process ends.
bool sampling_lock_device(Collector *c, u32 device) {
    char bus[64] = "", path[4096];
    const char *folder = getenv("TMPDIR");
    u64 bit = 1ull << device % 64;
    if (atomic_load(&c->locked) & bit) return true;
    if (nsight_has_device(c, device)) return false;
    if (!c->device_bus || c->device_bus(bus, sizeof bus, (int)device) != 0) snprintf(bus, sizeof bus, "%u", device);
    snprintf(path, sizeof path, "%s/warplens-gpu-%s.lock", folder && *folder ? folder : "/tmp", bus);
    int file = open(path, O_RDONLY | O_CREAT | O_CLOEXEC, 0666);
    if (file < 0) file = open(path, O_RDONLY | O_CLOEXEC);  // another user's
    if (file >= 0 && flock(file, LOCK_EX | LOCK_NB) != 0) return close(file), false;
    atomic_fetch_or(&c->locked, bit);
    return true;
}

// CUPTI wants sampling enabled before it is asked for its reasons and configured.
static CuptiResult start(Collector *c, SampledContext *sampled, void *context, const char **step) {
    CuptiSamplingContext params = {sizeof params, .context = context};
    if (!sampling_lock_device(c, sampled->device)) return CUPTI_HARDWARE_BUSY;
    *step = "cuptiPCSamplingEnable";
    CuptiResult result = c->cupti.cuptiPCSamplingEnable(&params);
    if (result != CUPTI_OK) return result;
    *step = "cuptiPCSamplingGetStallReasons";
    if (!c->reason_count) result = read_reasons(c, context);
    if (result == CUPTI_OK && !sampled->last.pcs && !make_data(&sampled->last, c->reason_count))
        result = CUPTI_OUT_OF_MEMORY;
    if (result == CUPTI_OK) {
        *step = "cuptiPCSamplingSetConfigurationAttribute";
        result = configure(c, sampled, context);
    }
    if (result != CUPTI_OK) disable(c, context);
    return result;
}

static bool is_known(const Cupti *cupti) {
    return cupti->cuptiPCSamplingEnable && cupti->cuptiPCSamplingGetData && cupti->cuptiPCSamplingDisable &&
           cupti->cuptiPCSamplingSetConfigurationAttribute && cupti->cuptiPCSamplingGetStallReasons &&
           cupti->cuptiPCSamplingGetNumStallReasons;
}

static void refuse(Collector *c, const char *step, CuptiResult result) {
    if (!atomic_exchange(&c->told_sampling, true))
        collect_refused(c, "sampling of the kernels' instructions", step, result);
}

// CUPTI loads its library for counters when it is first asked to sample: a tenth of a second, which passes while the
// program makes its context when it is done at once. Later, when the driver is initialised, is dearer: what the program
// loads or looks up then waits for it (PyTorch's start 65 ms). CUPTI itself must not be asked before: its
// cuptiProfilerInitialize() calls the driver, which is still beginning. One of twelve to fifty processes died of that
// on a machine of two H200 (CUDA 13.0, driver 580.159.04).
void sampling_prepare(Collector *c) {
    if (c->host.options.counters || c->host.options.sampling != COLLECT_SAMPLING_OFF) cupti_load_counters(&c->cupti);
}

// The writer enables sampling: CUPTI's callbacks have locks of the driver.
void sampling_begin(Collector *c, void *context) {
    SampledContext *sampled = is_known(&c->cupti) ? claim(c, context) : NULL;
    if (!sampled) {
        refuse(c, "CUPTI", is_known(&c->cupti) ? CUPTI_OUT_OF_MEMORY : CUPTI_NOT_SUPPORTED);
        return;
    }
    atomic_fetch_add(&c->starting, 1);
    atomic_store(&sampled->state, SAMPLING_WANTED);
    sem_post(&c->wake);
}

static void pause_briefly(void) { nanosleep(&(struct timespec){.tv_nsec = PAUSE_NS}, NULL); }

// Without this a program that ends within a tenth of a second has no samples, and CUPTI is asked to begin while
// launches are under way.
static void await_start(Collector *c) {
    if (!atomic_load(&c->starting) || atomic_load(&c->out_of_patience)) return;
    for (u64 end = collect_now() + AWAIT_NS; atomic_load(&c->starting);) {
        if (collect_now() > end) atomic_store(&c->out_of_patience, true);
        if (atomic_load(&c->out_of_patience)) return;
        pause_briefly();
    }
}

void sampling_await(Collector *c) {
    await_start(c);
    atomic_fetch_add(&c->launching, 1);
    for (u64 end = 0; atomic_load(&c->closing); pause_briefly(), atomic_fetch_add(&c->launching, 1)) {
        if (!end) end = collect_now() + CLOSING_MS * 1000000ull;
        if (collect_now() > end) return;
        atomic_fetch_sub(&c->launching, 1);
    }
}

void sampling_launched(Collector *c) { atomic_fetch_sub(&c->launching, 1); }

// With two sampled contexts of a GPU, CUPTI (13.0, on an H200) fails and loses launches of both.
static bool is_device_taken(Collector *c, u32 device) {
    for (u32 i = 0; i < COLLECT_CONTEXTS; i++) {
        u32 state = atomic_load(&c->contexts[i].state);
        if (state >= SAMPLING_READY && state <= SAMPLING_CLOSING && c->contexts[i].device == device) return true;
    }
    return false;
}

static CuptiResult start_or_refuse(Collector *c, SampledContext *sampled) {
    const char *step = "CUPTI";
    void *context = atomic_load(&sampled->context);
    if (c->cupti.cuptiGetDeviceId(context, &sampled->device) != CUPTI_OK) sampled->device = 0;
    if (is_device_taken(c, sampled->device)) {
        if (!atomic_exchange(&c->told_sampling, true))
            collect_say(c, LOG_WARNING,
                        "the program has several contexts on a GPU, of which one at a time can be sampled: samples are "
                        "of the kernels of the first");
        return CUPTI_HARDWARE_BUSY;
    }
    CuptiResult result = start(c, sampled, context, &step);
    if (result != CUPTI_OK) refuse(c, step, result);
    return result;
}

void sampling_start_wanted(Collector *c) {
    for (u32 i = 0; i < COLLECT_CONTEXTS; i++) {
        u32 wanted = SAMPLING_WANTED;
        SampledContext *sampled = &c->contexts[i];
        if (!atomic_compare_exchange_strong(&sampled->state, &wanted, SAMPLING_STARTING)) continue;
        CuptiResult result = start_or_refuse(c, sampled);
        atomic_store(&sampled->state, result == CUPTI_OK ? SAMPLING_READY : SAMPLING_NONE);
        atomic_fetch_sub(&c->starting, 1);
        if (result != CUPTI_OK) atomic_store(&sampled->context, NULL);
    }
}

// --- what CUPTI hands out by itself ---

// A copy of one mapping, with the lists of stalls behind the PCs. Each PC is read once: CUPTI may still write there.
static Flushed *copy_data(const CuptiPcData *data, u32 reasons) {
    size_t count = data->count < SAMPLED_PCS ? data->count : SAMPLED_PCS;
    size_t bytes = sizeof(Flushed) + count * (sizeof(CuptiPc) + reasons * sizeof(CuptiStall));
    Flushed *copy = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (copy == MAP_FAILED) return NULL;
    copy->bytes = bytes;
    copy->data = *data;
    copy->data.count = count;
    copy->data.pcs = (CuptiPc *)(copy + 1);
    CuptiStall *to = (CuptiStall *)(copy->data.pcs + count);
    for (size_t i = 0; i < count; i++) {
        CuptiPc *pc = &copy->data.pcs[i];
        *pc = data->pcs[i];
        if (pc->stall_count > reasons) pc->stall_count = reasons;
        memcpy(to, pc->stalls, pc->stall_count * sizeof *to);
        pc->stalls = to;
        to += pc->stall_count;
    }
    return copy;
}

static void hand_over(Collector *c, SampledContext *sampled) {
    Flushed *flushed = copy_data(&sampled->last, c->reason_count);
    sampled->last.count = 0;
    if (!flushed) return;
    flushed->device = sampled->device;
    flushed->period = sampled->period;
    flushed->next = atomic_load(&c->flushed);
    while (!atomic_compare_exchange_weak(&c->flushed, &flushed->next, flushed)) continue;
}

// When a module comes to where another one was, CUPTI puts what it had into the buffer that it was configured with. Of
// threads that load modules at once, one takes it.
void sampling_module_loaded(Collector *c) {
    for (u32 i = 0; i < COLLECT_CONTEXTS; i++) {
        SampledContext *sampled = &c->contexts[i];
        u32 state = atomic_load(&sampled->state);
        if ((state != SAMPLING_READY && state != SAMPLING_BUSY) || atomic_exchange(&sampled->handing, true)) continue;
        if (sampled->last.count) hand_over(c, sampled);
        atomic_store(&sampled->handing, false);
    }
}

// --- writing (the writer) ---

static const char reason_prefix[] = "smsp__pcsamp_warps_issue_stalled_", not_issued_suffix[] = "_not_issued";

// "smsp__pcsamp_warps_issue_stalled_wait_not_issued" -> "wait", true.
static bool cut_reason(const char *name, char *cut, size_t size) {
    size_t prefix = sizeof reason_prefix - 1, suffix = sizeof not_issued_suffix - 1;
    if (strncmp(name, reason_prefix, prefix) == 0) name += prefix;
    snprintf(cut, size, "%s", name);
    size_t length = strlen(cut);
    bool not_issued = length > suffix && strcmp(cut + length - suffix, not_issued_suffix) == 0;
    if (not_issued) cut[length - suffix] = 0;
    return not_issued;
}

// The launches' source has the names too, so that a reader need not care which of the two a sample comes from.
static void write_reason(Collector *c, u32 source, u32 stall, const char *name) {
    char tail[256];
    int size = snprintf(tail, sizeof tail, "%.100s%c%s", name, 0, stall < STALL_COUNT ? stall_helps[stall] : "");
    for (u32 i = 0; i < 2; i++) {
        RecordStallName r = {.source = source - i, .stall = stall};
        collect_write(c, RECORD_STALL_NAME, &r, tail, (size_t)size + 1);
    }
}

// Reasons that this version does not know have numbers after the known ones, the same for both halves of a pair.
static void name_reasons(Collector *c, u32 source) {
    char names[COLLECT_REASONS][CUPTI_REASON_NAME_BYTES];
    u32 stalls[COLLECT_REASONS], unknown = STALL_COUNT;
    for (u32 i = 0; i < c->reason_count; i++) {
        bool not_issued = cut_reason(c->reason_names[i], names[i], sizeof names[i]);
        stalls[i] = stall_find(names[i]);
        for (u32 k = 0; stalls[i] == STALL_COUNT && k < i; k++)
            if (strcmp(names[k], names[i]) == 0) stalls[i] = stalls[k];
        if (stalls[i] == STALL_COUNT) stalls[i] = unknown++;
        c->reasons[c->reason_indices[i] % COLLECT_REASONS] = stalls[i] << 1 | not_issued;
        write_reason(c, source, stalls[i], names[i]);
    }
    c->sources_named |= 1ull << (source / 2 - 1) % 64;
}

static RecordSample *row_of(Collector *c, u32 first, u32 pc, u32 stall) {
    for (u32 i = first; i < c->rows.len; i++)
        if (c->rows.data[i].stall == stall) return &c->rows.data[i];
    return vec_push(&c->rows, (RecordSample){.pc = pc, .stall = stall}) == STATUS_OK ? &c->rows.data[c->rows.len - 1]
                                                                                     : NULL;
}

static void add_pc(Collector *c, const CuptiPc *pc) {
    u32 first = c->rows.len;
    for (size_t i = 0; i < pc->stall_count; i++) {
        u32 reason = c->reasons[pc->stalls[i].reason % COLLECT_REASONS];
        RecordSample *row = row_of(c, first, (u32)(pc->offset / 16), reason >> 1);
        if (!row) continue;
        if (reason & 1)
            row->not_issued += pc->stalls[i].samples;
        else
            row->samples += pc->stalls[i].samples;
    }
}

static void write_rows(Collector *c, RecordSamples *of, u32 correlation) {
    of->count = c->rows.len;
    if (of->count && !attribution_keep(c, of, correlation, c->rows.data))
        collect_write(c, RECORD_SAMPLES, of, c->rows.data, c->rows.len * sizeof *c->rows.data);
    c->rows.len = 0;
}

static void write_data(Collector *c, u32 device, u32 period, const CuptiPcData *data) {
    RecordSamples of = {.source = collect_source(c, device, true), .period = 1ull << period};
    if (!(c->sources_named >> (of.source / 2 - 1) % 64 & 1)) name_reasons(c, of.source);
    u32 correlation = 0;
    const CollectFunction *function = NULL;
    for (size_t i = 0; i < data->count && i < SAMPLED_PCS; i++) {
        const CuptiPc *pc = &data->pcs[i];
        if (i == 0 || pc->crc != pc[-1].crc || pc->function != pc[-1].function)
            function = names_sampled(c, pc->crc, pc->function);
        if (!function || !function->wanted) continue;
        if (function->id != of.function || pc->correlation != correlation) write_rows(c, &of, correlation);
        of.function = function->id;
        correlation = pc->correlation;
        add_pc(c, pc);
    }
    write_rows(c, &of, correlation);
    collect_dropped(c, "PC samples", data->dropped);
    c->samples_of_others += data->other;
    c->samples_taken += data->total;
}

// False: sampling of this context is over.
static bool fetch(Collector *c, SampledContext *sampled) {
    if (!c->fetched.pcs && !make_data(&c->fetched, c->reason_count)) return true;
    for (u32 i = 0; i < MOST_FETCHES; i++) {
        CuptiSamplingGet get = {sizeof get, .context = atomic_load(&sampled->context), .data = &c->fetched};
        c->fetched.count = c->fetched.total = c->fetched.dropped = c->fetched.other = 0;
        u64 begin = collect_now();
        CuptiResult result = c->cupti.cuptiPCSamplingGetData(&get);
        c->held_ns += collect_now() - begin;
        if (result == CUPTI_OUT_OF_MEMORY || c->fetched.buffer_full)
            collect_dropped(c, "times the buffer of PC samples was full (a longer --sampling-period helps)", 1);
        if (result != CUPTI_OK && result != CUPTI_OUT_OF_MEMORY)
            return refuse(c, "cuptiPCSamplingGetData", result), false;
        if (result != CUPTI_OK) return true;
        write_data(c, sampled->device, sampled->period, &c->fetched);
        if (!c->fetched.remaining) return true;
    }
    return true;
}

static void write_flushed(Collector *c) {
    Flushed *flushed = atomic_exchange(&c->flushed, NULL);
    if (flushed) names_take_modules(c);
    while (flushed) {
        Flushed *next = flushed->next;
        write_data(c, flushed->device, flushed->period, &flushed->data);
        munmap(flushed, flushed->bytes);
        flushed = next;
    }
}

void sampling_fetch(Collector *c) {
    attribution_write(c, false);
    write_flushed(c);
    for (u32 i = 0; i < COLLECT_CONTEXTS; i++) {
        u32 ready = SAMPLING_READY;
        SampledContext *sampled = &c->contexts[i];
        if (!atomic_compare_exchange_strong(&sampled->state, &ready, SAMPLING_BUSY)) continue;
        names_take_modules(c);
        bool goes_on = fetch(c, sampled);
        atomic_store(&sampled->state, goes_on ? SAMPLING_READY : SAMPLING_FAILED);
    }
}

// False: it is in another state, which is given.
static bool claim_to_close(SampledContext *sampled, u32 *state) {
    *state = SAMPLING_READY;
    if (atomic_compare_exchange_strong(&sampled->state, state, SAMPLING_CLOSING)) return true;
    return *state == SAMPLING_FAILED && atomic_compare_exchange_strong(&sampled->state, state, SAMPLING_CLOSING);
}

// Launches whose callbacks have ended are not known.
static bool is_launching(Collector *c) { return atomic_load(&c->launching) > 0 && !atomic_load(&c->launches_ended); }

// The last of a context's samples, and the end of sampling it. CUPTI (13.0, on an H200) hangs when other threads launch
// meanwhile: they are held. When one of them does not come out of its launch, the driver is left to end sampling with
// the process.
static void close_sampling(Collector *c, SampledContext *sampled) {
    atomic_fetch_add(&c->closing, 1);
    for (u64 end = collect_now() + HOLD_NS; is_launching(c) && collect_now() < end;) pause_briefly();
    if (!is_launching(c)) disable(c, atomic_load(&sampled->context));
    atomic_fetch_sub(&c->closing, 1);
}

// On the program's thread, which may hold the driver's locks that the writer's fetch waits for: wait for it, not
// forever.
void sampling_end(Collector *c, void *context) {
    SampledContext *sampled = find(c, context);
    if (!sampled) return;
    for (u32 ms = 0; ms < CLOSING_MS; ms++) {
        u32 ready = SAMPLING_READY, wanted = SAMPLING_WANTED;
        if (atomic_compare_exchange_strong(&sampled->state, &wanted, SAMPLING_NONE)) {  // before it began
            atomic_fetch_sub(&c->starting, 1);
            atomic_store(&sampled->context, NULL);
            return;
        }
        if (claim_to_close(sampled, &ready)) {
            close_sampling(c, sampled);
            atomic_store(&sampled->state, SAMPLING_CLOSED);
            sem_post(&c->wake);
            return;
        }
        if (ready != SAMPLING_BUSY && ready != SAMPLING_STARTING) return;
        nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
    }
}

// Writes what contexts that ended have left, and frees their places.
void sampling_collect_closed(Collector *c) {
    for (u32 i = 0; i < COLLECT_CONTEXTS; i++) {
        SampledContext *sampled = &c->contexts[i];
        if (atomic_load(&sampled->state) != SAMPLING_CLOSED) continue;
        write_data(c, sampled->device, sampled->period, &sampled->last);
        sampled->last.count = 0;
        atomic_store(&sampled->state, SAMPLING_NONE);
        atomic_store(&sampled->context, NULL);
    }
}

// CUPTI (13.0, H200) counts the samples of device functions that were compiled separately as those of kernels that are
// not the program's, and does not say where they are: of Quicksilver, 99.9 % of all. A few are the driver's, of
// memsets.
static void tell_of_others(Collector *c) {
    static const char what[] =
        "PC samples that CUPTI keeps to itself: of device functions compiled with -rdc=true (-dlto puts those into the "
        "kernels), or of the driver's kernels";
    if (c->samples_of_others * 2 > c->samples_taken) collect_dropped(c, what, c->samples_of_others);
}

void sampling_close_all(Collector *c) {
    for (u32 i = 0; i < COLLECT_CONTEXTS; i++) {
        u32 state;
        if (!claim_to_close(&c->contexts[i], &state)) continue;
        close_sampling(c, &c->contexts[i]);
        atomic_store(&c->contexts[i].state, SAMPLING_CLOSED);
    }
}

void sampling_end_all(Collector *c) {
    sampling_collect_closed(c);
    tell_of_others(c);
}
