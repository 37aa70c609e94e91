/* Stands for a program with the CUDA runtime linked statically: it has the names and the section, nothing else. */
static struct {
    int magic, version;
    const void *data;
    void *extra;
} wrapper __attribute__((section(".nvFatBinSegment"), used)) = {0x466243b1, 1, 0, 0};
__attribute__((used, noinline)) static void **__cudaRegisterFatBinary(void *fat) { return (void **)fat; }
__attribute__((used, noinline)) static int cudaMalloc(void **at, unsigned long size) {
    *at = (void *)size;
    return 0;
}
void _start(void) {
    for (;;) {}
}
