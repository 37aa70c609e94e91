// SPDX-License-Identifier: Apache-2.0
//
// What every example shares: arguments, deterministic input, comparing with the CPU reference, the last line.
//
// An example defines `struct Problem` (its arrays) and one const Example (what it can do), and its main() returns
// example_main(). Memory: example_main() calls create() once and destroy() once; all arrays belong to the Problem.
// Threads: none. Exit codes: 0 RESULT PASS, 1 RESULT FAIL (CUDA errors too), 2 usage error.
#ifndef EXAMPLES_CHECK_H
#define EXAMPLES_CHECK_H

#include <cmath>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>

struct Problem;

struct Failure {
    char text[200];  // what, where, expected, got; the first one only
};

struct Variant {
    const char *name;
    void (*launch)(Problem *p);  // only enqueues; example_main() looks for errors and synchronises
    int multiple;                // n must be a multiple of this
    const char *shows;           // one line for --help
};

struct Example {
    const char *name;
    const char *n_means;  // what --n counts, for --help
    int n_default, n_min, n_max;
    bool n_power_of_two;
    Problem *(*create)(int n);                    // input, CPU reference, device arrays
    void (*reset)(Problem *p);                    // device arrays as they must be before a variant runs
    bool (*check)(const Problem *p, Failure *f);  // device result against the reference
    void (*destroy)(Problem *p);
    const Variant *variants;
    int variant_count;
};

// ---- ending ----------------------------------------------------------------------------------------------------

// The uniform last line is printed here and at the end of example_main(), nowhere else.
[[noreturn]] static inline void fail_now(const char *format, ...) {
    va_list args;
    va_start(args, format);
    printf("RESULT FAIL: ");
    vprintf(format, args);
    printf("\n");
    va_end(args);
    exit(1);
}

#define CUDA_CHECK(call) cuda_check((call), #call, __FILE__, __LINE__)

static inline void cuda_check(cudaError_t status, const char *call, const char *file, int line) {
    if (status != cudaSuccess)
        fail_now("%s at %s:%d: expected cudaSuccess, got %s (%s)", call, file, line, cudaGetErrorName(status),
                 cudaGetErrorString(status));
}

// ---- memory ----------------------------------------------------------------------------------------------------

template <typename T> static inline T *host_array(size_t count) {
    T *array = (T *)calloc(count ? count : 1, sizeof(T));
    if (!array)
        fail_now("host memory: expected %zu bytes, got none", count * sizeof(T));
    return array;
}

template <typename T> static inline T *device_array(size_t count) {
    void *array = NULL;
    CUDA_CHECK(cudaMalloc(&array, (count ? count : 1) * sizeof(T)));
    return (T *)array;
}

template <typename T> static inline T *device_copy_of(const T *host, size_t count) {
    T *array = device_array<T>(count);
    CUDA_CHECK(cudaMemcpy(array, host, count * sizeof(T), cudaMemcpyHostToDevice));
    return array;
}

// ---- deterministic input ---------------------------------------------------------------------------------------

// The generator of `buffer NAME TYPE COUNT lcg SEED MOD` in a .launch file: same seed, same numbers.
static inline unsigned lcg_next(unsigned *state, unsigned mod) {
    *state = *state * 1664525u + 1013904223u;
    return (*state >> 8) % mod;
}

template <typename T> static inline void lcg_fill(T *array, size_t count, unsigned seed, unsigned mod) {
    for (size_t i = 0; i < count; i++)
        array[i] = (T)lcg_next(&seed, mod);
}

// ---- comparing -------------------------------------------------------------------------------------------------

// Exact. `got` is on the device. Every example chooses its input so that exact comparison is right: integers, or
// floats whose sums stay integers below 2^24, or one expression evaluated in one order on both sides.
template <typename T>
static inline bool compare_exact(Failure *f, const char *what, const T *expected, const T *got, size_t count) {
    T *copy = host_array<T>(count);
    CUDA_CHECK(cudaMemcpy(copy, got, count * sizeof(T), cudaMemcpyDeviceToHost));
    size_t i = 0;
    while (i < count && copy[i] == expected[i])
        i++;
    if (i < count)
        snprintf(f->text, sizeof f->text, "%s[%zu] expected %.10g got %.10g", what, i, (double)expected[i],
                 (double)copy[i]);
    free(copy);
    return i == count;
}

// ---- arguments -------------------------------------------------------------------------------------------------

struct Arguments {
    const char *variant;
    int n;
};

static inline void print_usage(const Example *e) {
    printf("usage: %s [--variant NAME|all] [--n N]\n", e->name);
    printf("  --n N           %s, %d to %d%s (default %d)\n", e->n_means, e->n_min, e->n_max,
           e->n_power_of_two ? ", a power of two" : "", e->n_default);
    printf("  --variant NAME  one of these, or all (default):\n");
    for (int i = 0; i < e->variant_count; i++)
        printf("    %-16s%s\n", e->variants[i].name, e->variants[i].shows);
}

[[noreturn]] static inline void refuse(const Example *e, const char *format, ...) {
    va_list args;
    va_start(args, format);
    fprintf(stderr, "%s: ", e->name);
    vfprintf(stderr, format, args);
    fprintf(stderr, " (see --help)\n");
    va_end(args);
    exit(2);
}

static inline bool selected(const Arguments *a, const Variant *v) {
    return !strcmp(a->variant, "all") || !strcmp(a->variant, v->name);
}

static inline Arguments parse_arguments(const Example *e, int argc, char **argv) {
    Arguments a = {"all", e->n_default};
    for (int i = 1; i < argc; i++) {
        if (!strcmp(argv[i], "--help")) {
            print_usage(e);
            exit(0);
        }
        if (strcmp(argv[i], "--variant") && strcmp(argv[i], "--n"))
            refuse(e, "unknown argument '%s'", argv[i]);
        if (i + 1 == argc)
            refuse(e, "%s needs a value", argv[i]);
        if (!strcmp(argv[i], "--variant")) {
            a.variant = argv[++i];
        } else {
            char *end;
            long n = strtol(argv[++i], &end, 10);
            if (end == argv[i] || *end || n < e->n_min || n > e->n_max)
                refuse(e, "--n must be a number from %d to %d, not '%s'", e->n_min, e->n_max, argv[i]);
            a.n = (int)n;
        }
    }
    return a;
}

static inline void validate_arguments(const Example *e, const Arguments *a) {
    if (e->n_power_of_two && (a->n & (a->n - 1)))
        refuse(e, "--n must be a power of two, not %d", a->n);
    int found = 0;
    for (int i = 0; i < e->variant_count; i++) {
        const Variant *v = &e->variants[i];
        if (!selected(a, v))
            continue;
        found++;
        if (a->n % v->multiple)
            refuse(e, "variant %s needs n to be a multiple of %d, not %d", v->name, v->multiple, a->n);
    }
    if (!found)
        refuse(e, "no variant '%s'", a->variant);
}

// ---- the run ---------------------------------------------------------------------------------------------------

static inline int example_main(const Example *e, int argc, char **argv) {
    Arguments a = parse_arguments(e, argc, argv);
    validate_arguments(e, &a);
    Problem *p = e->create(a.n);
    char first[300] = "";
    for (int i = 0; i < e->variant_count; i++) {
        const Variant *v = &e->variants[i];
        if (!selected(&a, v))
            continue;
        e->reset(p);
        v->launch(p);
        CUDA_CHECK(cudaGetLastError());
        CUDA_CHECK(cudaDeviceSynchronize());
        Failure f = {""};
        bool ok = e->check(p, &f);
        printf("%s %-16s n=%d %s\n", e->name, v->name, a.n, ok ? "ok" : f.text);
        if (!ok && !first[0])
            snprintf(first, sizeof first, "%s/%s %s", e->name, v->name, f.text);
    }
    e->destroy(p);
    if (first[0])
        fail_now("%s", first);
    printf("RESULT PASS\n");
    return 0;
}

#endif
