// SPDX-License-Identifier: Apache-2.0
// A program with a GPU, as the collector sees it: it loads the library of CUDA_INJECTION64_PATH as the driver does, and
// the mock CUPTI does what a GPU would. Its argument chooses what happens; its exit code is 7 where nothing else is
// said.
#include <alloca.h>
#include <dlfcn.h>
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "collect/cupti_abi.h"
#include "mock.h"

static void *inject(const char *path) {
    void *library = path ? dlopen(path, RTLD_NOW | RTLD_LOCAL) : NULL;
    int (*begin)(void) = NULL;
    if (library) *(void **)&begin = dlsym(library, "InitializeInjection");
    if (begin) begin();
    return library;
}
static void driver_begins(void) { inject(getenv("CUDA_INJECTION64_PATH")); }

__attribute__((noinline)) void launch_from_here(void) { mock_launch("mock_kernel"); }
__attribute__((noinline)) void launch_from_there(void) {
    mock_launch("mock_kernel");
    mock_launch("other_kernel");
}

static void work(u32 launches) {
    driver_begins();
    mock_context(1);
    mock_module("cubin", 5);
    mock_copy();
    mock_wait_gpu(800, NULL);
    mock_script()->samples = 100;
    for (u32 i = 0; i < launches; i++) launch_from_here();
    launch_from_there();
}

// A launch with the stack pointer and the innermost callers of an earlier one, whose outer callers lay beyond the end
// of this one's stack.
static size_t launch_at;
__attribute__((noinline)) static void launch_below(void) {
    char here;
    volatile char *room = alloca((size_t)&here - launch_at);
    room[0] = 1;
    launch_from_here();
    room[1] = 2;
}
static void *launch_deep(void *unused) { return launch_below(), unused; }
static int shorter_stack(void) {
    enum { LONG = 1 << 20, SHORT = LONG / 2 };
    char *stack = mmap(NULL, LONG, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    driver_begins();
    mock_context(1);
    launch_at = ((size_t)stack + SHORT / 2) & ~63ul;
    for (size_t size = LONG; size >= SHORT; size /= 2) {
        pthread_t thread;
        pthread_attr_t attributes;
        pthread_attr_init(&attributes);
        pthread_attr_setstack(&attributes, stack, size);
        if (pthread_create(&thread, &attributes, launch_deep, NULL) != 0) return 1;
        pthread_join(thread, NULL);
        munmap(stack + SHORT, LONG - SHORT);
    }
    return 7;
}

static int basic(void) { return work(10), mock_script()->last_samples = 50, 7; }

static int contexts(void) {
    work(1);
    mock_context(2);
    mock_wait_flushes(2);
    mock_script()->samples = 20;
    mock_wait_flushes(2);
    mock_script()->last_samples = 5;
    mock_context_end(2);
    mock_context_end(1);
    return 7;
}

// Things that come before what they need, or twice.
static int odd(void) {
    driver_begins();
    driver_begins();
    mock_context_end(3);
    mock_launch("early");
    mock_launch(NULL);
    mock_module(NULL, 0);
    mock_module("cubin", 5);
    mock_module("cubin", 5);
    mock_script()->samples = 3;
    mock_context(1);
    mock_context_end(1);
    mock_context_end(1);
    mock_context(1);
    mock_launch("late");
    mock_context(2);
    return 7;
}

static void *wait_often(void *unused) {
    for (u32 i = 0; i < 3000; i++) mock_wait_gpu(i % 2 ? 126 : 121, (void *)(size_t)7);
    return unused;
}

// Waits of four threads at once, more than there is room for until they are taken.
static int waits(void) {
    pthread_t threads[4];
    driver_begins();
    for (u32 i = 0; i < 4; i++) pthread_create(&threads[i], NULL, wait_often, NULL);
    for (u32 i = 0; i < 4; i++) pthread_join(threads[i], NULL);
    return 7;
}

// A stream has the address of one that was destroyed; one is of another context than the current.
static int streams_reused(void) {
    driver_begins();
    for (u32 i = 0; i < 6; i++) {
        if (i == 3) mock_stream_end();
        mock_wait_gpu(126, (void *)(size_t)(7 + i % 3));
    }
    mock_wait_gpu(126, (void *)(size_t)108);
    return 7;
}

static int dropped(void) {
    mock_script()->dropped_samples = 1000;
    mock_script()->other_samples = 30;
    work(1);
    mock_script()->last_samples = 1;
    return 7;
}

static int forked(void) {
    work(3);
    pid_t child = fork();
    if (child == 0) {
        launch_from_here();
        exit(3);  // runs the handlers that the child has of its parent
    }
    int status;
    waitpid(child, &status, 0);
    launch_from_here();
    return WIFEXITED(status) ? WEXITSTATUS(status) + 4 : 1;
}

static int children(void) {
    work(1);
    pid_t child = fork();
    if (child == 0) {
        execl("/proc/self/exe", "life", "basic", (char *)NULL);
        _exit(1);
    }
    int status;
    waitpid(child, &status, 0);
    return WEXITSTATUS(status);
}

static void end_now(void) { exit(5); }
static int ends_in_launch(void) {
    work(2);
    mock_script()->in_launch = end_now;
    launch_from_here();
    return 1;
}

// A handler of a signal leaves a launch, whose second callback never comes.
static jmp_buf before_launch;
static void jump(int number) { (void)number, longjmp(before_launch, 1); }
static void raise_signal(void) { raise(SIGUSR1); }
static int jumps_out(void) {
    signal(SIGUSR1, jump);
    work(2);
    mock_script()->last_samples = 50;
    mock_script()->in_launch = raise_signal;
    if (setjmp(before_launch) == 0) launch_from_here();
    mock_script()->in_launch = NULL;
    launch_from_here();
    return 7;
}

// A handler of a signal launches, and waits, inside a launch.
static void launch_and_wait(int number) {
    (void)number;
    mock_script()->in_launch = NULL;
    mock_launch("nested_kernel");
    mock_wait_gpu(800, NULL);
}
static int nested(void) {
    signal(SIGUSR1, launch_and_wait);
    work(2);
    mock_script()->in_launch = raise_signal;
    launch_from_here();
    return 7;
}

// The library is closed as often as it was opened, and opened again; then a copy of it comes besides.
static int reopened(void) {
    const char *path = getenv("CUDA_INJECTION64_PATH");
    for (u32 i = 0; i < 3; i++) {
        void *library = inject(path);
        if (i == 0) mock_context(1);
        launch_from_here();
        if (library) dlclose(library);
        launch_from_here();
    }
    inject(getenv("LIFE_COPY"));
    launch_from_here();
    return 7;
}

// The folder of the profile goes away, and the program to another one.
static int vanishes(void) {
    char command[4200];
    work(2);
    mock_wait_flushes(2);
    snprintf(command, sizeof command, "rm -r '%s'", getenv("LIFE_FOLDER"));
    if (system(command) != 0 || chdir("/") != 0) return 1;
    for (u32 i = 0; i < 30000; i++) launch_from_here();
    mock_wait_flushes(3);
    launch_from_here();
    return 7;
}

static int hangs(void) { return work(2), mock_script()->hang_flush = true, 7; }

static int killed(void) {
    work(5);
    mock_wait_flushes(3);  // the second one begins after what the first one brought is in the profile
    puts("written");
    fflush(stdout);
    return pause();
}

static int killed_deep(void) {
    mock_script()->deep_queue = true;
    work(5000);
    mock_wait_flushes(2);
    puts("written");
    fflush(stdout);
    return pause();
}

static int full(void) {
    signal(SIGXFSZ, SIG_IGN);
    struct rlimit limit = {300000, 300000};
    driver_begins();
    setrlimit(RLIMIT_FSIZE, &limit);
    mock_context(1);
    for (u32 i = 0; i < 40000; i++) launch_from_here();
    mock_wait_flushes(2);
    return 7;
}

static int nvtx(void) {
    const char *path = getenv("NVTX_INJECTION64_PATH");
    void *library = path ? dlopen(path, RTLD_NOW | RTLD_LOCAL) : NULL;
    int (*begin)(void *) = NULL, told = 0;
    if (library) *(void **)&begin = dlsym(library, "InitializeInjectionNvtx2");
    driver_begins();
    mock_mark("step", 2, 1);
    mock_mark("layer", 2, 2);
    mock_mark("here", 1, 3);
    mock_mark(NULL, 4, 2);
    mock_mark(NULL, 4, 9);
    mock_mark("open", 2, 4);
    mock_mark(NULL, 4, 1);
    return begin && begin(&told) && told ? 7 : 1;
}

// A module takes the place of another.
static int reloads(void) {
    driver_begins();
    mock_context(1);
    mock_module("cubin", 5);
    mock_wait_flushes(2);  // sampling has begun
    mock_flush_samples(1, 30);
    mock_module("other cubin", 11);
    mock_script()->last_samples = 4;
    return 7;
}

// Modules that several threads load at once take the place of others.
static pthread_barrier_t at_once;
static void *load_at_once(void *unused) {
    for (u32 i = 0; i < 300; i++) {
        if (pthread_barrier_wait(&at_once) == PTHREAD_BARRIER_SERIAL_THREAD) mock_flush_samples(1, 10);
        pthread_barrier_wait(&at_once);
        mock_module("cubin", 5);
    }
    return unused;
}
static int reloads_at_once(void) {
    pthread_t threads[4];
    driver_begins();
    mock_context(1);
    mock_wait_flushes(2);
    pthread_barrier_init(&at_once, NULL, WL_COUNT(threads));
    for (u32 i = 0; i < WL_COUNT(threads); i++) pthread_create(&threads[i], NULL, load_at_once, NULL);
    for (u32 i = 0; i < WL_COUNT(threads); i++) pthread_join(threads[i], NULL);
    return 7;
}

static int short_one(void) {
    mock_script()->slow_enable = true;
    work(1);
    return 7;
}

static int limited(void) {
    work(4);
    mock_wait_flushes(2);
    puts(mock_records_launches() ? "on" : "off");
    launch_from_here();
    mock_copy();
    return 7;
}

// Recording, and with it the callbacks of launches, ends inside a launch.
static int limited_inside(void) {
    work(1);
    mock_script()->slow_launch = true;
    launch_from_here();
    mock_script()->last_samples = 50;
    return 7;
}

static int serialized(void) {
    driver_begins();
    mock_context(1);
    mock_module("cubin", 5);
    launch_from_there();
    for (u32 i = 0; i < 5; i++) launch_from_here();
    mock_script()->samples = 100;  // of the last two launches, whenever they are fetched
    mock_wait_flushes(2);
    mock_script()->last_samples = 30;
    return 7;
}

static int sampling_fails(void) {
    mock_script()->fetch_result = 999;
    work(1);
    mock_wait_flushes(3);
    puts(mock_is_sampled(1) ? "on" : "off");
    return 7;
}

// Samples of 0.2 ms from 1 s on, and kernels with times on that clock.
enum { TEN = 2000000, SECOND = 1000000000 };

static int counters(void) {
    driver_begins();
    mock_context(1);
    mock_pm_wait(0);
    mock_pm_samples(0, SECOND, 50);
    mock_kernel("long_kernel", SECOND + TEN, SECOND + 3 * TEN);
    mock_kernel("short_kernel", SECOND + 3 * TEN, SECOND + 3 * TEN + TEN / 2);
    mock_kernel("late_kernel", SECOND + 9 * TEN, SECOND + 11 * TEN);  // ends when the samples have
    mock_wait_flushes(2);
    mock_pm_samples(0, SECOND + 5 * TEN, 50);
    return 7;
}

// The same, but a GPU that gives what it must not: old samples again, a hole, a buffer that was full.
static int counters_lost(void) {
    driver_begins();
    mock_context(1);
    mock_pm_wait(0);
    mock_pm_samples(0, SECOND, 20);
    mock_pm_samples(0, SECOND + TEN, 10);      // 10 of them again
    mock_pm_samples(0, SECOND + 3 * TEN, 10);  // 10 are missing
    mock_pm_overflow(0);
    mock_pm_samples(0, SECOND + 5 * TEN, 10);
    return 7;
}

static int counters_two(void) {
    driver_begins();
    mock_context(2);
    mock_context(1);
    mock_context(1);
    mock_pm_wait(0);
    mock_pm_wait(1);
    mock_pm_samples(1, SECOND, 30);
    mock_pm_samples(0, SECOND, 20);
    mock_context_end(1);
    return 7;
}

static int counters_few(void) {
    mock_pm_script()->fit = 4;
    mock_pm_script()->unknown = "TPC.";
    mock_pm_script()->no_timer = true;
    return counters();
}

static int counters_refused(void) {
    mock_pm_script()->config_result = CUPTI_HARDWARE_BUSY;
    work(1);
    mock_wait_flushes(1);
    return 7;
}

static int counters_fail(void) {
    driver_begins();
    mock_context(1);
    mock_pm_wait(0);
    mock_pm_samples(0, SECOND, 20);
    mock_pm_script()->decode_result = 999;
    mock_pm_samples(0, SECOND + 2 * TEN, 1);
    launch_from_here();
    return 7;
}

static int counters_recorded(void) {
    if (!mock_pm_load("tests/collect/h200.samples")) return 1;
    driver_begins();
    mock_context(1);
    mock_pm_wait(0);
    mock_pm_play(0);
    return 7;
}

static int counters_forked(void) {
    driver_begins();
    mock_context(1);
    mock_pm_wait(0);
    mock_pm_samples(0, SECOND, 20);
    pid_t child = fork();
    if (child == 0) exit(0);
    waitpid(child, NULL, 0);
    mock_pm_samples(0, SECOND + 2 * TEN, 20);
    return 7;
}

// Another program takes this one's place, in the same process.
static int replaced(void) {
    work(2);
    mock_wait_flushes(3);
    execl("/proc/self/exe", "life", "basic", (char *)NULL);
    return 1;
}

static atomic_uint launching;
static void *launch_on(void *unused) {
    for (;; mock_wait_flushes(1)) {
        for (u32 i = 0; i < 100; i++) launch_from_here();
        atomic_fetch_add(&launching, 1);
    }
    return unused;
}

// main returns while other threads launch; at its exit they go on.
static int ends_among_launches(void) {
    pthread_t thread;
    work(1);
    for (u32 i = 0; i < 2; i++) pthread_create(&thread, NULL, launch_on, NULL);
    while (atomic_load(&launching) < 2) sched_yield();
    return 7;
}

static int launch_in_disable(void) {
    work(1);
    mock_wait_flushes(1);
    mock_script()->launch_in_disable = true;
    mock_context_end(1);
    return 7;
}

static int hangs_in_disable(void) {
    work(2);
    mock_script()->hang_disable = true;
    return 7;
}

static int two_of_a_device(void) {
    work(1);
    mock_context(9);  // of device 0 too
    mock_wait_flushes(2);
    launch_from_here();
    mock_script()->last_samples = 50;
    return 7;
}

// Short launches of several streams, until the collector leaves out their times, and fifty more.
static int busy(void) {
    u32 launches = 0;
    work(0);
    mock_script()->streams = 4;
    for (; mock_records_times() && launches < 100000; launches++) {
        launch_from_here();
        if (launches % 5000 == 4999) mock_wait_flushes(1);
    }
    mock_script()->failing_launches = true;
    launch_from_here();
    mock_script()->failing_launches = false;
    for (u32 i = 0; i < 50; i++, launches++) launch_from_here();
    mock_wait_flushes(1);
    mock_launch("new_kernel");
    printf("%u\n", launches + 3);
    return 7;
}

// CUPTI makes launches wait while it hands out samples, for 20 ms each time: at most 5 times in two seconds, two of
// them before that is known.
static int slow_fetches(void) {
    mock_script()->fetch_ms = 20;
    mock_script()->samples = 100;
    work(0);
    for (u32 i = 0; i < 400; i++) {
        launch_from_here();
        nanosleep(&(struct timespec){.tv_nsec = 5000000}, NULL);
    }
    printf("%s\n", mock_fetches() <= 5 ? "few" : "many");
    mock_script()->samples = 50;
    return 7;
}

// The same with graphs, of which one is launched only when launches are noted.
static int busy_graphs(void) {
    u32 launches = 0;
    work(0);
    mock_script()->streams = 4;
    for (; mock_records_times() && launches < 20000; launches++) {
        mock_launch_graph(1 + launches % 2, 3);
        for (u32 i = 0; i < 5; i++) launch_from_here();
        if (launches % 1000 == 999) mock_wait_flushes(1);
    }
    for (u32 i = 0; i < 10; i++) mock_launch_graph(2, 3);
    mock_launch_graph(7, 3);
    printf("%u\n", launches * 8 + 32);
    return 7;
}

static int lost_launches(void) {
    mock_script()->lost_launches = true;
    return work(98), 7;
}

static int busy_all(void) {
    work(0);
    mock_script()->streams = 4;
    for (u32 i = 0; i < 6000; i++) launch_from_here();
    mock_wait_flushes(2);
    return 7;
}

static int quick(void) { return work(1), _exit(7), 1; }

int main(int argc, char **argv) {
    static const struct {
        const char *name;
        int (*run)(void);
    } lives[] = {{"basic", basic},
                 {"shorter_stack", shorter_stack},
                 {"contexts", contexts},
                 {"odd", odd},
                 {"dropped", dropped},
                 {"forked", forked},
                 {"children", children},
                 {"hangs", hangs},
                 {"killed", killed},
                 {"killed_deep", killed_deep},
                 {"full", full},
                 {"nvtx", nvtx},
                 {"short", short_one},
                 {"limited", limited},
                 {"limited_inside", limited_inside},
                 {"serialized", serialized},
                 {"reloads", reloads},
                 {"reloads_at_once", reloads_at_once},
                 {"sampling_fails", sampling_fails},
                 {"busy", busy},
                 {"slow_fetches", slow_fetches},
                 {"busy_all", busy_all},
                 {"lost_launches", lost_launches},
                 {"busy_graphs", busy_graphs},
                 {"quick", quick},
                 {"waits", waits},
                 {"streams_reused", streams_reused},
                 {"replaced", replaced},
                 {"launch_in_disable", launch_in_disable},
                 {"hangs_in_disable", hangs_in_disable},
                 {"two_of_a_device", two_of_a_device},
                 {"ends_among_launches", ends_among_launches},
                 {"ends_in_launch", ends_in_launch},
                 {"jumps_out", jumps_out},
                 {"nested", nested},
                 {"reopened", reopened},
                 {"vanishes", vanishes},
                 {"counters", counters},
                 {"counters_lost", counters_lost},
                 {"counters_two", counters_two},
                 {"counters_few", counters_few},
                 {"counters_refused", counters_refused},
                 {"counters_fail", counters_fail},
                 {"counters_recorded", counters_recorded},
                 {"counters_forked", counters_forked}};
    for (size_t i = 0; i < WL_COUNT(lives); i++)
        if (argc > 1 && strcmp(argv[1], lives[i].name) == 0) return lives[i].run();
    return 1;
}
