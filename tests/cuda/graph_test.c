// SPDX-License-Identifier: Apache-2.0
// Graphs: made by hand and by capture. The expected errors are those of an H200: h200_errors.txt.
#include "fixture.h"

static u32 *word;  // on the device

static u32 read_word(void) {
    u32 value = 0;
    WORKS(cudaMemcpy(&value, word, 4, cudaMemcpyDeviceToHost));
    return value;
}

static struct cudaKernelNodeParams increment_params(void **args) {
    return (struct cudaKernelNodeParams){
        .func = &host_increment, .gridDim = dim1(1), .blockDim = dim1(1), .kernelParams = args};
}

TEST(nodes_run_in_order_of_their_dependencies) {
    cudaGraph_t graph;
    cudaGraphExec_t exec;
    cudaGraphNode_t clear, add, add_again, get, nodes[4];
    size_t count = 4;
    u32 result = 0;
    void *args[] = {&word};
    struct cudaKernelNodeParams kernel = increment_params(args);
    struct cudaMemsetParams zero = {.dst = word, .elementSize = 4, .width = 1, .height = 1, .value = 40};
    WORKS(cudaGraphCreate(&graph, 0));
    // Made in the wrong order on purpose.
    WORKS(cudaGraphAddMemcpyNode1D(&get, graph, NULL, 0, &result, word, 4, cudaMemcpyDeviceToHost));
    WORKS(cudaGraphAddKernelNode(&add, graph, NULL, 0, &kernel));
    WORKS(cudaGraphAddMemsetNode(&clear, graph, NULL, 0, &zero));
    WORKS(cudaGraphAddKernelNode(&add_again, graph, &add, 1, &kernel));
    WORKS(cudaGraphAddDependencies(graph, &clear, &add, NULL, 1));
    WORKS(cudaGraphAddDependencies(graph, &add_again, &get, NULL, 1));
    GIVES(cudaErrorInvalidValue, cudaGraphAddDependencies(graph, &clear, &add, NULL, 1));
    WORKS(cudaGraphGetNodes(graph, nodes, &count));
    assert_int_equal(count, 4);
    WORKS(cudaGraphGetRootNodes(graph, NULL, &count));
    assert_int_equal(count, 1);
    WORKS(cudaGraphInstantiate(&exec, graph, 0));
    WORKS(cudaGraphLaunch(exec, NULL));
    WORKS(cudaDeviceSynchronize());
    assert_int_equal(result, 42);
    WORKS(cudaGraphNodeSetEnabled(exec, add, 0));
    WORKS(cudaGraphLaunch(exec, NULL));
    assert_int_equal(result, 41);
    zero.value = 1;
    WORKS(cudaGraphExecMemsetNodeSetParams(exec, clear, &zero));
    GIVES(cudaErrorInvalidValue, cudaGraphExecMemsetNodeSetParams(exec, add, &zero));
    WORKS(cudaGraphLaunch(exec, NULL));
    assert_int_equal(result, 2);
    WORKS(cudaGraphExecDestroy(exec));
    WORKS(cudaGraphDestroy(graph));
    GIVES(cudaErrorInvalidValue, cudaGraphDestroy(graph));
    GIVES(cudaErrorInvalidValue, cudaGraphLaunch(exec, NULL));
}

TEST(circles_cannot_be_instantiated) {
    cudaGraph_t graph;
    cudaGraphNode_t a, b;
    cudaGraphExec_t exec;
    WORKS(cudaGraphCreate(&graph, 0));
    WORKS(cudaGraphAddEmptyNode(&a, graph, NULL, 0));
    WORKS(cudaGraphAddEmptyNode(&b, graph, &a, 1));
    WORKS(cudaGraphAddDependencies(graph, &b, &a, NULL, 1));
    GIVES(cudaErrorInvalidValue, cudaGraphInstantiate(&exec, graph, 0));
    WORKS(cudaGraphRemoveDependencies(graph, &b, &a, NULL, 1));
    GIVES(cudaErrorInvalidValue, cudaGraphRemoveDependencies(graph, &b, &a, NULL, 1));
    WORKS(cudaGraphInstantiate(&exec, graph, 0));
    WORKS(cudaGraphExecDestroy(exec));
    WORKS(cudaGraphDestroyNode(a));
    WORKS(cudaGraphDestroy(graph));
}

TEST(captured_work_runs_later) {
    cudaStream_t a, b;
    cudaEvent_t fork, join;
    cudaGraph_t graph;
    cudaGraphExec_t exec;
    cudaGraphExecUpdateResultInfo info;
    size_t count = 0;
    enum cudaStreamCaptureStatus status;
    WORKS(cudaStreamCreate(&a));
    WORKS(cudaStreamCreate(&b));
    WORKS(cudaEventCreate(&fork));
    WORKS(cudaEventCreate(&join));
    WORKS(cudaMemset(word, 0, 4));
    WORKS(cudaStreamBeginCapture(a, cudaStreamCaptureModeGlobal));
    WORKS(launch_increment(word, a));
    WORKS(cudaEventRecord(fork, a));
    WORKS(cudaStreamWaitEvent(b, fork, 0));
    WORKS(launch_increment(word, b));
    WORKS(cudaEventRecord(join, b));
    WORKS(cudaStreamWaitEvent(a, join, 0));
    WORKS(launch_increment(word, a));
    WORKS(cudaStreamIsCapturing(b, &status));
    assert_int_equal(status, cudaStreamCaptureStatusActive);
    WORKS(cudaStreamEndCapture(a, &graph));
    assert_int_equal(read_word(), 0);
    WORKS(cudaGraphGetEdges(graph, NULL, NULL, NULL, &count));
    assert_int_equal(count, 3);
    WORKS(cudaGraphInstantiate(&exec, graph, 0));
    for (u32 i = 0; i < 10; i++) WORKS(cudaGraphLaunch(exec, a));
    assert_int_equal(read_word(), 30);
    WORKS(cudaGraphExecUpdate(exec, graph, &info));
    assert_int_equal(info.result, cudaGraphExecUpdateSuccess);
    WORKS(cudaGraphLaunch(exec, a));
    assert_int_equal(read_word(), 33);
    WORKS(cudaGraphExecDestroy(exec));
    WORKS(cudaGraphDestroy(graph));
    WORKS(cudaStreamDestroy(a));
    WORKS(cudaStreamDestroy(b));
}

// As NVIDIA's sample graphConditionalNodes does it.
TEST(who_gave_the_graph_need_not_be_told_it_again) {
    cudaStream_t s;
    cudaGraph_t graph;
    size_t count = 0;
    WORKS(cudaStreamCreate(&s));
    WORKS(cudaGraphCreate(&graph, 0));
    WORKS(cudaStreamBeginCaptureToGraph(s, graph, NULL, NULL, 0, cudaStreamCaptureModeGlobal));
    WORKS(cudaMemsetAsync(word, 0, 4, s));
    WORKS(cudaStreamEndCapture(s, NULL));
    WORKS(cudaGraphGetNodes(graph, NULL, &count));
    assert_int_equal(count, 1);
    WORKS(cudaGraphDestroy(graph));
    WORKS(cudaStreamBeginCapture(s, cudaStreamCaptureModeGlobal));
    GIVES(cudaErrorInvalidValue, cudaStreamEndCapture(s, NULL));
    WORKS(cudaStreamEndCapture(s, &graph));
    WORKS(cudaGraphDestroy(graph));
    WORKS(cudaStreamDestroy(s));
}

TEST(capture_refuses_what_a_gpu_refuses) {
    cudaStream_t s, other;
    cudaEvent_t event;
    cudaGraph_t graph;
    void *p;
    u32 host = 0;
    WORKS(cudaStreamCreate(&s));
    WORKS(cudaStreamCreate(&other));
    WORKS(cudaEventCreate(&event));
    GIVES(cudaErrorIllegalState, cudaStreamEndCapture(s, &graph));
    GIVES(cudaErrorStreamCaptureUnsupported, cudaStreamBeginCapture(NULL, cudaStreamCaptureModeGlobal));
    WORKS(cudaStreamBeginCapture(s, cudaStreamCaptureModeGlobal));
    GIVES(cudaErrorIllegalState, cudaStreamBeginCapture(s, cudaStreamCaptureModeGlobal));
    GIVES(cudaErrorStreamCaptureUnsupported, cudaStreamSynchronize(s));
    GIVES(cudaErrorStreamCaptureInvalidated, cudaStreamEndCapture(s, &graph));
    assert_null(graph);
    WORKS(cudaStreamBeginCapture(s, cudaStreamCaptureModeGlobal));
    GIVES(cudaErrorStreamCaptureUnsupported, cudaMalloc(&p, 4));
    GIVES(cudaErrorStreamCaptureInvalidated, cudaStreamEndCapture(s, &graph));
    WORKS(cudaStreamBeginCapture(s, cudaStreamCaptureModeRelaxed));
    WORKS(cudaMalloc(&p, 4));
    GIVES(cudaErrorStreamCaptureUnsupported, cudaDeviceSynchronize());
    GIVES(cudaErrorStreamCaptureInvalidated, cudaStreamEndCapture(s, &graph));
    WORKS(cudaStreamBeginCapture(s, cudaStreamCaptureModeGlobal));
    GIVES(cudaErrorStreamCaptureImplicit, cudaMemcpy(word, &host, 4, cudaMemcpyHostToDevice));
    GIVES(cudaErrorStreamCaptureInvalidated, cudaStreamEndCapture(s, &graph));
    WORKS(cudaStreamBeginCapture(s, cudaStreamCaptureModeGlobal));
    WORKS(launch_increment(word, s));
    WORKS(cudaEventRecord(event, s));
    WORKS(cudaStreamWaitEvent(other, event, 0));
    WORKS(launch_increment(word, other));
    GIVES(cudaErrorStreamCaptureUnjoined, cudaStreamEndCapture(s, &graph));
    WORKS(cudaStreamSynchronize(s));
    WORKS(cudaFree(p));
    WORKS(cudaStreamDestroy(s));
    WORKS(cudaStreamDestroy(other));
}

static void add_one(void *data) { *(int *)data += 1; }

TEST(child_graphs_host_nodes_and_memory) {
    cudaGraph_t child, graph;
    cudaGraphExec_t exec;
    cudaGraphNode_t node, first, second;
    int noted = 0;
    struct cudaHostNodeParams host = {add_one, &noted};
    WORKS(cudaGraphCreate(&child, 0));
    WORKS(cudaGraphAddHostNode(&node, child, NULL, 0, &host));
    WORKS(cudaGraphCreate(&graph, 0));
    WORKS(cudaGraphAddChildGraphNode(&first, graph, NULL, 0, child));
    WORKS(cudaGraphAddChildGraphNode(&second, graph, &first, 1, child));
    WORKS(cudaGraphDestroy(child));
    struct cudaMemAllocNodeParams memory = {
        .poolProps = {.allocType = cudaMemAllocationTypePinned, .location = {cudaMemLocationTypeDevice, 0}},
        .bytesize = 512};
    WORKS(cudaGraphAddMemAllocNode(&node, graph, NULL, 0, &memory));
    assert_non_null(memory.dptr);
    void *args[] = {&memory.dptr};
    struct cudaKernelNodeParams kernel = increment_params(args);
    WORKS(cudaGraphAddKernelNode(&second, graph, &node, 1, &kernel));
    WORKS(cudaGraphAddMemFreeNode(&node, graph, &second, 1, memory.dptr));
    WORKS(cudaGraphInstantiate(&exec, graph, 0));
    WORKS(cudaGraphLaunch(exec, NULL));
    WORKS(cudaGraphLaunch(exec, NULL));
    assert_int_equal(noted, 4);
    u64 used = 1;
    WORKS(cudaDeviceGetGraphMemAttribute(0, cudaGraphMemAttrUsedMemCurrent, &used));
    assert_int_equal(used, 0);
    WORKS(cudaDeviceGetGraphMemAttribute(0, cudaGraphMemAttrUsedMemHigh, &used));
    assert_int_equal(used, 512);
    WORKS(cudaGraphExecDestroy(exec));
    WORKS(cudaGraphDestroy(graph));
}

// Memory nodes allow one executable of a graph at a time; a graph that is gone, and whose address the next one gets,
// has none.
TEST(graphs_with_memory_can_go_before_their_executables) {
    cudaGraphExec_t execs[8], again;
    for (u32 i = 0; i < 8; i++) {
        cudaGraph_t graph;
        cudaGraphNode_t node, end;
        struct cudaMemAllocNodeParams memory = {
            .poolProps = {.allocType = cudaMemAllocationTypePinned, .location = {cudaMemLocationTypeDevice, 0}},
            .bytesize = 512};
        WORKS(cudaGraphCreate(&graph, 0));
        WORKS(cudaGraphAddMemAllocNode(&node, graph, NULL, 0, &memory));
        WORKS(cudaGraphAddMemFreeNode(&end, graph, &node, 1, memory.dptr));
        WORKS(cudaGraphInstantiate(&execs[i], graph, 0));
        GIVES(cudaErrorNotSupported, cudaGraphInstantiate(&again, graph, 0));
        WORKS(cudaGraphDestroy(graph));
    }
    for (u32 i = 0; i < 8; i++) WORKS(cudaGraphExecDestroy(execs[i]));
}

TEST(kernel_parameters_can_be_read_and_changed) {
    cudaGraph_t graph, copy;
    cudaGraphNode_t node, twin;
    struct cudaKernelNodeParams back;
    u32 *other = NULL;
    void *args[] = {&word};
    struct cudaKernelNodeParams kernel = increment_params(args);
    WORKS(cudaGraphCreate(&graph, 0));
    WORKS(cudaGraphAddKernelNode(&node, graph, NULL, 0, &kernel));
    WORKS(cudaGraphKernelNodeGetParams(node, &back));
    assert_ptr_equal(back.func, &host_increment);
    assert_ptr_equal(*(u32 **)back.kernelParams[0], word);
    kernel.gridDim.x = 3;
    args[0] = &other;
    WORKS(cudaGraphKernelNodeSetParams(node, &kernel));
    WORKS(cudaGraphKernelNodeGetParams(node, &back));
    assert_int_equal(back.gridDim.x, 3);
    WORKS(cudaGraphClone(&copy, graph));
    WORKS(cudaGraphNodeFindInClone(&twin, node, copy));
    assert_ptr_not_equal(twin, node);
    kernel.blockDim.x = 4096;
    GIVES(cudaErrorInvalidValue, cudaGraphKernelNodeSetParams(node, &kernel));
    WORKS(cudaGraphDestroy(graph));
    WORKS(cudaGraphDestroy(copy));
}

static int begin(void **state) {
    (void)state;
    void *p = NULL;
    runtime_begins("1");
    WORKS(cudaMalloc(&p, 4));
    word = p;
    return 0;
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nodes_run_in_order_of_their_dependencies),
        cmocka_unit_test(circles_cannot_be_instantiated),
        cmocka_unit_test(captured_work_runs_later),
        cmocka_unit_test(who_gave_the_graph_need_not_be_told_it_again),
        cmocka_unit_test(capture_refuses_what_a_gpu_refuses),
        cmocka_unit_test(child_graphs_host_nodes_and_memory),
        cmocka_unit_test(graphs_with_memory_can_go_before_their_executables),
        cmocka_unit_test(kernel_parameters_can_be_read_and_changed),
    };
    return cmocka_run_group_tests(tests, begin, runtime_ends);
}
