// SPDX-License-Identifier: Apache-2.0
// What the parts of the collector share. Internal to collect.
#ifndef WL_COLLECT_COLLECT_INSIDE_H
#define WL_COLLECT_COLLECT_INSIDE_H

#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>

#include "base/map.h"
#include "base/vec.h"
#include "collect/collect.h"
#include "collect/cupti_abi.h"
#include "collect/fetches.h"
#include "collect/kernel_names.h"
#include "collect/ring.h"
#include "collect/stacks.h"

enum { COLLECT_CONTEXTS = 64, COLLECT_REASONS = 128, SAMPLED_PCS = 8192 };

// --- activity buffers: handed to CUPTI and back, linked in stacks of which only the taking end needs care ---
enum { BUFFER_BYTES = 256 << 10, BUFFER_LEAST = 4 << 10, BUFFER_COUNT = 1024, BUFFER_NONE = BUFFER_COUNT };
typedef struct Buffers {
    u8 *memory;                       // BUFFER_COUNT of them, address space only until they are used
    atomic_uint state[BUFFER_COUNT];  // BufferState
    u64 valid[BUFFER_COUNT];          // bytes, of a full one
    u64 order[BUFFER_COUNT];          // of completion
    atomic_uint size;                 // of the last one handed out
    atomic_ullong requested_ns;       // when
    atomic_ullong completions;
    atomic_ullong refused;  // requests when none was free
    atomic_bool ending;
    atomic_uint late;  // requests since then
} Buffers;

// --- messages of callbacks to the writer: modules ---
typedef struct Loaded {
    struct Loaded *next;
    size_t bytes;  // of all this
    size_t size;
    u8 unused[7];
    u8 no_path;  // 0: with the cubin behind it, the tail of its record
    u8 cubin[];
} Loaded;
typedef struct Modules {
    u8 *memory;  // address space only until it is used; NULL: there is none
    _Atomic(u64) given;
    _Atomic(Loaded *) list;  // the newest first
    // The writer's own.
    u64 taken, freed;  // bytes of `memory`: written; given back, from its beginning
} Modules;

// --- ... and samples ---
typedef struct Flushed {
    struct Flushed *next;
    size_t bytes;  // of this mapping
    u32 device, period;
    CuptiPcData data;
} Flushed;

// --- ... and the program's waits for the GPU ---
enum { WAIT_SLOTS = 8192 };
typedef struct Wait {
    u32 cbid, stream, thread;
    u64 begin_ns, end_ns;
} Wait;

// --- ... and arguments of launches ---
enum { ARGUMENT_NOTES = 512, ARGUMENT_SLOTS = 8192, ARGUMENT_PROBES = 8 };
typedef struct LaunchGiven {        // what a launch's call was given
    const CuptiLaunchShape *shape;  // NULL: not known
    const CuptiLaunchConfig *config;
    void *function;          // CUfunction or CUkernel
    void *const *arguments;  // one pointer each; NULL: none, or in `extra`
    void *const *extra;
} LaunchGiven;
typedef struct ArgumentNote {
    u32 correlation, size;
    u8 data[RECORD_ARGUMENT_BYTES];
} ArgumentNote;
typedef struct ArgumentCount {
    _Atomic(u64) key;  // hash of kernel and shape, odd; 0: free
    _Atomic(u64) launches;
} ArgumentCount;
typedef struct Arguments {
    Ring ring;
    ArgumentCount counts[ARGUMENT_SLOTS];
    // The writer's own: those whose launch has not been written yet.
    Vec(ArgumentNote) waiting;
    Map by_correlation;  // -> index in waiting
} Arguments;

// --- ... and launches that CUPTI does not record ---
enum { NOTE_SLOTS = 8192 };
typedef struct LaunchNote {
    u32 correlation;
    u32 device, stream, stack;  // stack: entry of `stacks`
    u32 grid[3], block[3], cluster[3];
    u32 dynamic_shared;
    bool early;        // CUPTI may have recorded it all the same
    const char *name;  // of `notes.names`
} LaunchNote;
typedef struct EarlyNote {
    u32 correlation, stack;
    u64 function;  // index in names.functions
    bool recorded;
    RecordLaunchDone launch;
} EarlyNote;
// Launches of graphs: of each graph the kernels of its first launch are remembered, for those that are only noted.
enum { GRAPH_SLOTS = 16384 };
typedef struct GraphNote {
    u32 graph, correlation, stack;  // graph: CUPTI's id, 0 = not known
    bool noted;                     // CUPTI does not record its kernels
} GraphNote;
typedef struct GraphNode {
    u64 function;  // index in names.functions
    RecordLaunchDone launch;
} GraphNode;
typedef struct Graph {
    Vec(GraphNode) nodes;
} Graph;
typedef struct Graphs {
    Ring ring;
    // The writer's own.
    Vec(Graph) list;
    Map by_id, by_correlation;  // CUPTI's id, correlation of the first launch -> index in list
    u64 unknown;                // noted launches of graphs that were never recorded
} Graphs;
typedef struct StreamPlace {
    u32 device, stream;  // as activities have them
} StreamPlace;
typedef enum NotesState { NOTES_NONE, NOTES_EARLY, NOTES_TAKEN } NotesState;
typedef struct LastKernel {
    u64 end_ns;
    u32 stream;
} LastKernel;
enum { NOTE_DEVICES = 64 };
typedef struct Notes {
    Ring ring;
    KernelNames names;
    atomic_uint state;   // NotesState
    _Atomic(u64) calls;  // launches that succeeded, but for graphs
    // The writer's own.
    u64 begin_ns;                   // of EARLY; 0: not yet
    u64 told, dropped;              // of `calls`: recorded or noted; known to be lost
    u64 cost_ns;                    // of recording launches
    u64 first_ns, elapsed_ns;       // CUPTI's: the first one's begin; since then, of those recorded
    LastKernel last[NOTE_DEVICES];  // recorded, of each GPU
    Vec(EarlyNote) early;
} Notes;

// --- contexts whose code is sampled ---
typedef enum SamplingState {
    SAMPLING_NONE,
    SAMPLING_WANTED,    // by a context that was created
    SAMPLING_STARTING,  // the writer is at it
    SAMPLING_READY,
    SAMPLING_BUSY,
    SAMPLING_FAILED,  // until its end: CUPTI (13.0) hangs when it is to disable sampling while the program launches
    SAMPLING_CLOSING,
    SAMPLING_CLOSED
} SamplingState;
typedef struct SampledContext {
    _Atomic(void *) context;
    atomic_uint state;
    u32 device;
    u32 period;           // log2
    CuptiPcData last;     // what CUPTI has left when sampling ends, or when a module comes
    atomic_bool handing;  // a thread that loads a module takes that
} SampledContext;

typedef struct CollectModule {
    u64 hash, crc;
    u32 id;
} CollectModule;
typedef struct CollectFunction {
    char *name;
    u32 id, module;
    bool wanted;
    u32 next;  // of the same name, WL_NONE at the end
} CollectFunction;
typedef struct NamePointer {
    const char *pointer;
    u32 function;
} NamePointer;
enum { NAME_POINTERS = 1024 };

// Used by the writer only.
typedef struct Names {
    Vec(CollectModule) modules;
    Map by_crc;   // -> index in modules
    Map by_hash;  // of a module's content -> index in modules
    Vec(CollectFunction) functions;
    Map by_name;  // hash of the name -> index of the first in functions
    NamePointer pointers[NAME_POINTERS];
} Names;

// NVTX ranges that have begun, by CUPTI's id. Used by the writer only.
typedef struct Range {
    u64 begin_ns;
    u32 thread;
    char *name;
} Range;
typedef struct Ranges {
    Vec(Range) list;
    Map open;  // id -> index in list
} Ranges;

// Used by the writer only.
typedef struct Mapping {
    u64 begin, end, offset;  // offset in the file
    u32 object;              // 0: no file
} Mapping;
typedef struct Objects {
    Vec(Mapping) mappings;  // sorted; as they were when they were last read
    Map by_path;            // hash -> object
    Map by_address;         // -> frame
    u32 count, frames, stacks;
} Objects;

// Samples whose launch CUPTI names. Used by the writer only.
enum { LAUNCH_LEFT_OUT = 0, LAUNCH_SHARED = INT32_MAX };
typedef struct LaunchSample {
    u32 correlation;
    RecordSamples of;
    RecordSample row;
} LaunchSample;
typedef struct Attribution {
    Map launches;  // correlation id -> launch in the profile, or LAUNCH_*
    Vec(LaunchSample) pending;
} Attribution;

// What was said to people, on any thread, for the profile.
enum { MESSAGES = 8, MESSAGE_BYTES = 512 };
typedef struct Message {
    u32 level;
    atomic_bool ready;
    char text[MESSAGE_BYTES];
} Message;

typedef enum CollectState { COLLECT_IDLE, COLLECT_RUNNING, COLLECT_ENDING, COLLECT_OFF } CollectState;

typedef struct Collector {
    CollectHost host;
    Sink *sink;
    Cupti cupti;
    void *subscriber;
    int pid;
    atomic_uint state;
    i64 clock_offset;  // added to CUPTI's times: 0 when it takes our clock
    // Of the driver.
    int (*device_name)(char *name, int size, int device);
    int (*device_attribute)(int *value, int attribute, int device);
    int (*device_bus)(char *name, int size, int device);
    int (*device_uuid)(void *uuid, int device);
    int (*stream_captures)(void *stream, int *status);
    int (*function_parameter)(void *function, size_t nth, size_t *offset, size_t *size);  // CUDA 12.4 and later
    int (*kernel_parameter)(void *kernel, size_t nth, size_t *offset, size_t *size);
    atomic_ullong locked;  // bit: this process has the device's lock for sampling

    Buffers buffers;
    Modules modules;
    _Atomic(Flushed *) flushed;
    Stacks stacks;
    Ring waits;  // of Wait
    Arguments arguments;
    Notes notes;
    Graphs graphs;
    _Atomic(u64) destroyed;  // streams and contexts
    SampledContext contexts[COLLECT_CONTEXTS];
    u32 reason_count;  // set by the first sampled context, before it is READY
    u32 reason_indices[COLLECT_REASONS];
    atomic_uint starting;  // contexts WANTED or STARTING, and GPUs whose counters are: launches wait for them
    atomic_bool out_of_patience;
    atomic_int launching;  // threads in a launch
    atomic_uint closing;   // of sampling that are under way: launches wait for them
    char reason_names[COLLECT_REASONS][CUPTI_REASON_NAME_BYTES];
    u32 reasons[COLLECT_REASONS];  // the writer's, by CUPTI's index: stall << 1 | not issued
    u64 sources_named;             // bit of a device: its stall reasons are

    pthread_t thread;
    sem_t wake, ended, closed;
    atomic_bool end;
    int exit_code;

    // The writer's own.
    Names names;
    Objects objects;
    Ranges ranges;
    Attribution attribution;
    Fetches fetches, sample_fetches;
    u64 held_ns;  // launches, in the last fetch of samples
    CuptiPcData fetched;
    u64 samples_taken, samples_of_others;  // since the start; of kernels that CUPTI does not name
    Map written_stacks;                    // stack entry -> id in the profile
    u32 launches;
    u64 matched;                 // launches of wanted kernels
    atomic_bool launches_ended;  // and their callbacks
    u64 devices;                 // bit: its sources are written
    Vec(RecordSample) rows;
    bool told_sink;
    struct PmSampling *pm;    // counters over time, NULL: none
    atomic_ullong pm_known;   // bit: a device with a context, whose counters are wanted
    atomic_ullong pm_wanted;  // ... which the writer has not begun with
    bool pm_told;
    Message messages[MESSAGES];  // any thread's
    atomic_uint said;
    u32 written_messages;
    atomic_bool told_sampling;
} Collector;

extern Collector collector;  // the one context of the shared object

u64 collect_now(void);  // ns, CLOCK_MONOTONIC
void collect_say(Collector *c, LogLevel level, const char *format, ...) WL_PRINTF(3, 4);
// Says that a call of CUPTI failed, and what to do about it.
void collect_refused(Collector *c, const char *what, const char *call, CuptiResult result);
void collect_write(Collector *c, RecordKind kind, const void *fixed, const void *tail, size_t size);
void collect_dropped(Collector *c, const char *what, u64 count);
u32 collect_source(Collector *c, u32 device, bool sampled);  // writes the device's sources when they are new

// cupti_load.c
void *cupti_open(char *path, size_t size, char *looked, size_t looked_size);
const char *cupti_bind(Cupti *cupti, void *library);  // the name of a function that it lacks, or NULL
void cupti_load_counters(const Cupti *cupti);         // the library that it loads when it is first asked to sample

// pm_sampling.c
bool pm_sampling_is_known(const Cupti *cupti);  // it has all functions for counters over time

// buffers.c
bool buffers_make(Buffers *buffers);
u32 buffers_size(u32 last, u64 taken_ns);  // bytes of the next one, when the last one took so long to fill
void buffers_end(Buffers *buffers);        // of the program: a few more are handed out
void buffers_request(u8 **buffer, size_t *size, size_t *max_records);
void buffers_complete(void *context, u32 stream, u8 *buffer, size_t size, size_t valid);
// The one completed first, of the first `until` completions; BUFFER_NONE when there is none.
u32 buffers_take_full(Buffers *buffers, u64 until);
void buffers_give_back(Buffers *buffers, u32 buffer);

// activity.c
void activity_read(Collector *c, u8 *buffer, size_t valid);
void activity_end_launches(Collector *c);  // when as many are recorded as were asked for, or may be
// One that CUPTI did not record, if it is wanted; `r` has no ids yet.
void activity_write_launch(Collector *c, const CollectFunction *function, u32 correlation, u32 stack,
                           RecordLaunchDone *r);

// notes.c
void notes_launch(Collector *c, u32 cbid, const CuptiApiCall *call, u32 stack);  // on the program's threads
void notes_launched(Collector *c, u32 cbid, const CuptiApiCall *call);
void notes_recorded(Collector *c, const CuptiKernel *kernel);  // the writer, of each record
bool notes_leave_time(const Collector *c, u64 end_ns);         // CUPTI's time of a record is right
bool notes_are_cheaper(const Collector *c);                    // than to have the program's next launches recorded
void notes_begin(Collector *c);                                // instead of records
void notes_take(Collector *c);                                 // before records, which they are held against
void notes_check(Collector *c);                                // that there are as many as the program launched
void notes_end(Collector *c);                                  // when all records have come

// launch_call.c
bool launch_is_graph(u32 cbid);
LaunchGiven launch_given(u32 cbid, const CuptiLaunchParameters *parameters);

// arguments.c
void arguments_launch(Collector *c, u32 cbid, const CuptiApiCall *call);  // on the program's threads
void arguments_take(Collector *c);                                        // the writer, before records
void arguments_write(Collector *c, u32 correlation, u32 launch);          // 0: the launch is not recorded
void arguments_free(Arguments *arguments);

// graphs.c
void graphs_launch(Collector *c, const CuptiApiCall *call, u32 stack, bool noted);  // on the program's threads
void graphs_take(Collector *c);                                                     // the writer, before records
void graphs_learn(Collector *c, u32 correlation, const CollectFunction *function, const RecordLaunchDone *launch);
void graphs_end(Collector *c);

// streams.c: on the program's threads
StreamPlace streams_place(Collector *c, void *context, void *stream, bool per_thread);
void streams_destroyed(Collector *c);  // or a context

// waits.c
bool waits_is_one(u32 cbid);
void waits_call(Collector *c, u32 cbid, const CuptiApiCall *call);  // on the program's threads
void waits_take(Collector *c);                                      // the writer

// ranges.c
void ranges_take(Collector *c, const CuptiMarker *marker);
void ranges_end(Collector *c);  // those that never ended: until now

// modules.c
void modules_make(Modules *modules);
void modules_keep(Collector *c, const CuptiModule *module);  // on the program's threads
Loaded *modules_take(Modules *modules);                      // the writer: those kept since the last call, in order
void modules_free(Modules *modules, Loaded *loaded);         // the writer, when it is written

// names.c
void names_take_modules(Collector *c);                                    // those loaded since the last call
CollectFunction *names_function(Collector *c, const char *name);          // as activities know it
CollectFunction *names_sampled(Collector *c, u64 crc, const char *name);  // as samples know it
void names_free(Names *names);

// attribution.c
void attribution_launch(Collector *c, u32 correlation, u32 launch);  // LAUNCH_LEFT_OUT: one that is not recorded
// False: these samples have no launch, and are to be written at once.
bool attribution_keep(Collector *c, const RecordSamples *of, u32 correlation, const RecordSample *rows);
void attribution_write(Collector *c, bool last);  // those whose launch is known; the last time all
void attribution_free(Collector *c);

// nsight.c
bool nsight_has_device(const Collector *c, u32 device);  // Nsight Compute profiles a process on it

// objects.c
u32 objects_write_stack(Collector *c, const u64 *addresses, u32 count);  // innermost first; its id
void objects_free(Objects *objects);

// sampling.c
void sampling_prepare(Collector *c);  // the writer, first of all
void sampling_begin(Collector *c, void *context);
void sampling_await(Collector *c);                    // on the program's thread, before it launches
void sampling_launched(Collector *c);                 // ... and when it has
void sampling_start_wanted(Collector *c);             // the writer
void sampling_module_loaded(Collector *c);            // on the program's thread
void sampling_fetch(Collector *c);                    // the writer
void sampling_end(Collector *c, void *context);       // a context goes away
void sampling_collect_closed(Collector *c);           // the writer
void sampling_close_all(Collector *c);                // at the end, on any thread
void sampling_end_all(Collector *c);                  // the writer, after that
bool sampling_lock_device(Collector *c, u32 device);  // false: another process samples it; held until the process ends

// callbacks.c
CuptiResult callbacks_subscribe(Collector *c);
void callbacks_of_launches(Collector *c, bool on);

#endif
