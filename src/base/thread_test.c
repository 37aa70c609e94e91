// SPDX-License-Identifier: Apache-2.0
#include "base/thread.h"

#include <signal.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/testing.h"

static void *read_mask(void *mask) {
    pthread_sigmask(SIG_SETMASK, NULL, mask);
    return NULL;
}

TEST(signals_of_the_program_are_not_for_threads_of_ours) {
    sigset_t before, mask, after;
    pthread_t thread;
    pthread_sigmask(SIG_SETMASK, NULL, &before);
    assert_int_equal(thread_start(&thread, read_mask, &mask), 0);
    pthread_join(thread, NULL);
    pthread_sigmask(SIG_SETMASK, NULL, &after);
    for (int signal = 1; signal < SIGRTMAX; signal++)
        assert_int_equal(sigismember(&after, signal), sigismember(&before, signal));
    assert_true(sigismember(&mask, SIGINT) && sigismember(&mask, SIGALRM) && sigismember(&mask, SIGCHLD));
    assert_false(sigismember(&mask, SIGSEGV) || sigismember(&mask, SIGBUS) || sigismember(&mask, SIGABRT));
}

static volatile char *page;
static volatile sig_atomic_t caught;

// Allows what was forbidden: the thread goes on.
static void on_fault(int signal) {
    caught = signal;
    mprotect((void *)page, 4096, PROT_READ);
}

static void *fault(void *unused) {
    (void)unused;
    (void)*page;
    return NULL;
}

TEST(what_a_thread_of_ours_does_wrong_reaches_the_programs_handler) {
    void *memory = mmap(NULL, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    struct sigaction handler = {.sa_handler = on_fault}, before;
    pthread_t thread;
    assert_true(memory != MAP_FAILED);
    page = memory;
    sigaction(SIGSEGV, &handler, &before);
    assert_int_equal(thread_start(&thread, fault, NULL), 0);
    pthread_join(thread, NULL);
    sigaction(SIGSEGV, &before, NULL);
    munmap(memory, 4096);
    assert_int_equal(caught, SIGSEGV);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(signals_of_the_program_are_not_for_threads_of_ours),
        cmocka_unit_test(what_a_thread_of_ours_does_wrong_reaches_the_programs_handler),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
