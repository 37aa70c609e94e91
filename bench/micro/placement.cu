// SPDX-License-Identifier: Apache-2.0
// Where the driver puts arrays: bytes behind the begin of the 2 MiB in which the first of them lies.
// placement/CASE/NUMBER/SIZE, in the order of the calls; CASE: order - of all sizes in turn; small - arrays that pages
// of 2 MiB are filled with; again - what is given back and asked for once more; variables - of the module; pool -
// cudaMallocAsync; pitch - cudaMallocPitch of rows of SIZE bytes, three of them.
#include "micro.h"

__device__ int word;
__device__ int words[1000];
__device__ double many[1 << 18];
__constant__ int constants[100];

static const size_t PAGE = 2 << 20;
static size_t origin;

static void place(const char *which, int number, size_t size, const void *address) {
    size_t at = (size_t)address;
    if (!origin) origin = at / PAGE * PAGE;
    char text[128];
    snprintf(text, sizeof text, "placement/%s/%d/%zu", which, number, size);
    printf("%s\t%lld\tbytes\t%#llx pages and %#llx\n", text, (long long)(at - origin),
           (unsigned long long)(at / PAGE - origin / PAGE), (unsigned long long)(at % PAGE));
}

static char *array(const char *which, int number, size_t size) {
    char *p;
    CHECK(cudaMalloc(&p, size));
    place(which, number, size, p);
    return p;
}

static void order() {
    const size_t sizes[] = {80,      80, 4,       512,     513, 4096,    100000,  1 << 20, (1 << 20) + 1,
                            1 << 20, 4,  2 << 20, 3 << 20, 4,   5 << 20, 2000000, 4};
    int number = 0;
    for (size_t size : sizes) array("order", number++, size);
}

static void small() {
    for (int i = 0; i < 12; i++) array("small", i, 700 << 10);
    for (int i = 12; i < 20; i++) array("small", i, 40000);
}

static void again() {
    char *p[6];
    for (int i = 0; i < 6; i++) p[i] = array("again", i, i % 2 ? 3 << 20 : 20000);
    for (int i = 1; i < 5; i++) CHECK(cudaFree(p[i]));
    const size_t sizes[] = {512, 20000, 3 << 20, 3000, 2 << 20, 20000};
    int number = 6;
    for (size_t size : sizes) array("again", number++, size);
}

template <typename Variable> static void variable(int number, const Variable &v) {
    void *p;
    CHECK(cudaGetSymbolAddress(&p, v));
    place("variables", number, sizeof v, p);
}

static void variables() {
    variable(0, word);
    variable(1, words);
    variable(2, many);
    variable(3, constants);
}

static void pool() {
    const size_t sizes[] = {80, 80, 513, 100000, 1 << 20, (1 << 20) + 1, 3 << 20, 4};
    int number = 0;
    for (size_t size : sizes) {
        void *p;
        CHECK(cudaMallocAsync(&p, size, 0));
        place("pool", number++, size, p);
    }
}

static void pitch() {
    const size_t rows[] = {4, 512, 513, 1000, 4000};
    int number = 0;
    for (size_t row : rows) {
        void *p;
        size_t bytes;
        CHECK(cudaMallocPitch(&p, &bytes, row, 3));
        place("pitch", number++, row, p);
    }
}

int main() {
    order();
    small();
    again();
    variables();
    pool();
    pitch();
    return 0;
}
