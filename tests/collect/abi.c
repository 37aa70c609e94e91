// SPDX-License-Identifier: Apache-2.0
// collect/cupti_abi.h against NVIDIA's headers: compiling is the test (tests/collect_abi.sh).
#include <cuda.h>
#include <cupti.h>
#include <cupti_pcsampling.h>
#include <cupti_profiler_target.h>

#include "collect/cupti_abi.h"

#define SAME(ours, our_field, theirs, their_field)                                                                    \
    _Static_assert(offsetof(ours, our_field) == offsetof(theirs, their_field), #ours "." #our_field " is elsewhere"); \
    _Static_assert(sizeof(((ours *)0)->our_field) == sizeof(((theirs *)0)->their_field),                              \
                   #ours "." #our_field " has another size")
#define WITHIN(ours, theirs) _Static_assert(sizeof(ours) <= sizeof(theirs), #ours " is longer")
#define EXACT(ours, theirs) _Static_assert(sizeof(ours) == sizeof(theirs), #ours " has another size")
#define VALUE(ours, theirs) _Static_assert((int)(ours) == (int)(theirs), #ours " has another value")

SAME(CuptiApiCall, site, CUpti_CallbackData, callbackSite);
SAME(CuptiApiCall, parameters, CUpti_CallbackData, functionParams);
SAME(CuptiApiCall, result, CUpti_CallbackData, functionReturnValue);
SAME(CuptiApiCall, symbol, CUpti_CallbackData, symbolName);
SAME(CuptiApiCall, context, CUpti_CallbackData, context);
SAME(CuptiApiCall, own, CUpti_CallbackData, correlationData);
SAME(CuptiApiCall, correlation, CUpti_CallbackData, correlationId);
SAME(CuptiResource, context, CUpti_ResourceData, context);
SAME(CuptiResource, descriptor, CUpti_ResourceData, resourceDescriptor);
SAME(CuptiModule, size, CUpti_ModuleResourceData, cubinSize);
SAME(CuptiModule, cubin, CUpti_ModuleResourceData, pCubin);

SAME(CuptiLaunchParameters, shape.grid[0], cuLaunchKernel_params, gridDimX);
SAME(CuptiLaunchParameters, shape.grid[2], cuLaunchKernel_params, gridDimZ);
SAME(CuptiLaunchParameters, shape.block[2], cuLaunchKernel_params, blockDimZ);
SAME(CuptiLaunchParameters, shape.shared, cuLaunchKernel_params, sharedMemBytes);
SAME(CuptiLaunchParameters, shape.stream, cuLaunchKernel_params, hStream);
SAME(CuptiLaunchParameters, shape.grid[2], cuLaunchKernel_ptsz_params, gridDimZ);
SAME(CuptiLaunchParameters, shape.stream, cuLaunchKernel_ptsz_params, hStream);
SAME(CuptiLaunchParameters, shape.grid[2], cuLaunchCooperativeKernel_params, gridDimZ);
SAME(CuptiLaunchParameters, shape.stream, cuLaunchCooperativeKernel_params, hStream);
SAME(CuptiLaunchParameters, ex.config, cuLaunchKernelEx_params, config);
_Static_assert(sizeof(cuGraphLaunch_params) == 2 * sizeof(void *), "not a graph and a stream");
SAME(CuptiLaunchParameters, function, cuLaunchKernel_params, f);
SAME(CuptiLaunchParameters, arguments, cuLaunchKernel_params, kernelParams);
SAME(CuptiLaunchParameters, extra, cuLaunchKernel_params, extra);
SAME(CuptiLaunchParameters, arguments, cuLaunchCooperativeKernel_params, kernelParams);
SAME(CuptiLaunchParameters, ex.function, cuLaunchKernelEx_params, f);
SAME(CuptiLaunchParameters, ex.arguments, cuLaunchKernelEx_params, kernelParams);
SAME(CuptiLaunchParameters, ex.extra, cuLaunchKernelEx_params, extra);
SAME(CuptiLaunchConfig, shape.grid[2], CUlaunchConfig, gridDimZ);
SAME(CuptiLaunchConfig, shape.block[2], CUlaunchConfig, blockDimZ);
SAME(CuptiLaunchConfig, shape.shared, CUlaunchConfig, sharedMemBytes);
SAME(CuptiLaunchConfig, shape.stream, CUlaunchConfig, hStream);
SAME(CuptiLaunchConfig, attributes, CUlaunchConfig, attrs);
SAME(CuptiLaunchConfig, attribute_count, CUlaunchConfig, numAttrs);
EXACT(CuptiLaunchAttribute, CUlaunchAttribute);
SAME(CuptiLaunchAttribute, id, CUlaunchAttribute, id);
_Static_assert(offsetof(CuptiLaunchAttribute, value) == offsetof(CUlaunchAttribute, value), "value is elsewhere");
VALUE(CUPTI_LAUNCH_CLUSTER, CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION);
VALUE(CUPTI_LAUNCH_PTSZ, CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel_ptsz);
VALUE(CUPTI_LAUNCH_COOPERATIVE_PTSZ, CUPTI_DRIVER_TRACE_CBID_cuLaunchCooperativeKernel_ptsz);
VALUE(CUPTI_LAUNCH_DEVICES, CUPTI_DRIVER_TRACE_CBID_cuLaunchCooperativeKernelMultiDevice);
VALUE(CUPTI_LAUNCH_GRAPH, CUPTI_DRIVER_TRACE_CBID_cuGraphLaunch);
VALUE(CUPTI_LAUNCH_GRAPH_PTSZ, CUPTI_DRIVER_TRACE_CBID_cuGraphLaunch_ptsz);
VALUE(CUPTI_LAUNCH_EX, CUPTI_DRIVER_TRACE_CBID_cuLaunchKernelEx);
VALUE(CUPTI_LAUNCH_EX_PTSZ, CUPTI_DRIVER_TRACE_CBID_cuLaunchKernelEx_ptsz);

WITHIN(CuptiKernel, CUpti_ActivityKernel10);
SAME(CuptiKernel, registers, CUpti_ActivityKernel10, registersPerThread);
SAME(CuptiKernel, begin, CUpti_ActivityKernel10, start);
SAME(CuptiKernel, end, CUpti_ActivityKernel10, end);
SAME(CuptiKernel, device, CUpti_ActivityKernel10, deviceId);
SAME(CuptiKernel, stream, CUpti_ActivityKernel10, streamId);
SAME(CuptiKernel, grid[2], CUpti_ActivityKernel10, gridZ);
SAME(CuptiKernel, block[2], CUpti_ActivityKernel10, blockZ);
SAME(CuptiKernel, dynamic_shared, CUpti_ActivityKernel10, dynamicSharedMemory);
SAME(CuptiKernel, correlation, CUpti_ActivityKernel10, correlationId);
SAME(CuptiKernel, name, CUpti_ActivityKernel10, name);
SAME(CuptiKernel, graph, CUpti_ActivityKernel10, graphId);
SAME(CuptiKernel, cluster[0], CUpti_ActivityKernel10, clusterX);
SAME(CuptiKernel, cluster[2], CUpti_ActivityKernel10, clusterZ);
WITHIN(CuptiMemcpy, CUpti_ActivityMemcpy6);
SAME(CuptiMemcpy, copy, CUpti_ActivityMemcpy6, copyKind);
SAME(CuptiMemcpy, bytes, CUpti_ActivityMemcpy6, bytes);
SAME(CuptiMemcpy, end, CUpti_ActivityMemcpy6, end);
SAME(CuptiMemcpy, stream, CUpti_ActivityMemcpy6, streamId);
SAME(CuptiMemcpy, bytes, CUpti_ActivityMemcpyPtoP4, bytes);
SAME(CuptiMemcpy, end, CUpti_ActivityMemcpyPtoP4, end);
SAME(CuptiMemcpy, stream, CUpti_ActivityMemcpyPtoP4, streamId);
WITHIN(CuptiMemset, CUpti_ActivityMemset4);
SAME(CuptiMemset, bytes, CUpti_ActivityMemset4, bytes);
SAME(CuptiMemset, end, CUpti_ActivityMemset4, end);
SAME(CuptiMemset, stream, CUpti_ActivityMemset4, streamId);
SAME(CuptiMemory, operation, CUpti_ActivityMemory4, memoryOperationType);
SAME(CuptiMemory, memory, CUpti_ActivityMemory4, memoryKind);
SAME(CuptiMemory, address, CUpti_ActivityMemory4, address);
SAME(CuptiMemory, time, CUpti_ActivityMemory4, timestamp);
SAME(CuptiMemory, device, CUpti_ActivityMemory4, deviceId);
SAME(CuptiMemory, name, CUpti_ActivityMemory4, name);
SAME(CuptiMarker, flags, CUpti_ActivityMarker2, flags);
SAME(CuptiMarker, time, CUpti_ActivityMarker2, timestamp);
SAME(CuptiMarker, id, CUpti_ActivityMarker2, id);
SAME(CuptiMarker, object, CUpti_ActivityMarker2, objectId);
SAME(CuptiMarker, name, CUpti_ActivityMarker2, name);

EXACT(CuptiStall, CUpti_PCSamplingStallReason);
EXACT(CuptiPc, CUpti_PCSamplingPCData);
SAME(CuptiPc, crc, CUpti_PCSamplingPCData, cubinCrc);
SAME(CuptiPc, offset, CUpti_PCSamplingPCData, pcOffset);
SAME(CuptiPc, function, CUpti_PCSamplingPCData, functionName);
SAME(CuptiPc, stall_count, CUpti_PCSamplingPCData, stallReasonCount);
SAME(CuptiPc, stalls, CUpti_PCSamplingPCData, stallReason);
EXACT(CuptiPcData, CUpti_PCSamplingData);
SAME(CuptiPcData, room, CUpti_PCSamplingData, collectNumPcs);
SAME(CuptiPcData, dropped, CUpti_PCSamplingData, droppedSamples);
SAME(CuptiPcData, count, CUpti_PCSamplingData, totalNumPcs);
SAME(CuptiPcData, remaining, CUpti_PCSamplingData, remainingNumPcs);
SAME(CuptiPcData, pcs, CUpti_PCSamplingData, pPcData);
SAME(CuptiPcData, buffer_full, CUpti_PCSamplingData, hardwareBufferFull);
EXACT(CuptiSamplingAttribute, CUpti_PCSamplingConfigurationInfo);
SAME(CuptiSamplingAttribute, result, CUpti_PCSamplingConfigurationInfo, attributeStatus);
SAME(CuptiSamplingAttribute, data, CUpti_PCSamplingConfigurationInfo, attributeData);
EXACT(CuptiSamplingConfig, CUpti_PCSamplingConfigurationInfoParams);
SAME(CuptiSamplingConfig, attributes, CUpti_PCSamplingConfigurationInfoParams, pPCSamplingConfigurationInfo);
EXACT(CuptiSamplingReasons, CUpti_PCSamplingGetStallReasonsParams);
SAME(CuptiSamplingReasons, count, CUpti_PCSamplingGetStallReasonsParams, numStallReasons);
SAME(CuptiSamplingReasons, names, CUpti_PCSamplingGetStallReasonsParams, stallReasons);
SAME(CuptiSamplingReasons, count_out, CUpti_PCSamplingGetNumStallReasonsParams, numStallReasons);
EXACT(CuptiSamplingContext, CUpti_PCSamplingEnableParams);
EXACT(CuptiSamplingContext, CUpti_PCSamplingDisableParams);
EXACT(CuptiSamplingGet, CUpti_PCSamplingGetDataParams);
SAME(CuptiSamplingGet, data, CUpti_PCSamplingGetDataParams, pcSamplingData);
EXACT(CuptiProfilerInit, CUpti_Profiler_Initialize_Params);
EXACT(CuptiCubinCrc, CUpti_GetCubinCrcParams);
SAME(CuptiCubinCrc, crc, CUpti_GetCubinCrcParams, cubinCrc);

VALUE(CUPTI_INVALID_PARAMETER, CUPTI_ERROR_INVALID_PARAMETER);
VALUE(CUPTI_OUT_OF_MEMORY, CUPTI_ERROR_OUT_OF_MEMORY);
VALUE(CUPTI_HARDWARE_BUSY, CUPTI_ERROR_HARDWARE_BUSY);
VALUE(CUPTI_NOT_SUPPORTED, CUPTI_ERROR_NOT_SUPPORTED);
VALUE(CUPTI_VIRTUALIZED, CUPTI_ERROR_VIRTUALIZED_DEVICE_NOT_SUPPORTED);
VALUE(CUPTI_NO_PRIVILEGES, CUPTI_ERROR_INSUFFICIENT_PRIVILEGES);
VALUE(CUPTI_OTHER_SUBSCRIBER, CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED);
VALUE(CUPTI_VIRTUALIZED_NO_PRIVILEGES, CUPTI_ERROR_VIRTUALIZED_DEVICE_INSUFFICIENT_PRIVILEGES);
VALUE(CUPTI_MIG, CUPTI_ERROR_MIG_DEVICE_NOT_SUPPORTED);
VALUE(CUPTI_DOMAIN_DRIVER, CUPTI_CB_DOMAIN_DRIVER_API);
VALUE(CUPTI_DOMAIN_RESOURCE, CUPTI_CB_DOMAIN_RESOURCE);
VALUE(CUPTI_CONTEXT_CREATED, CUPTI_CBID_RESOURCE_CONTEXT_CREATED);
VALUE(CUPTI_CONTEXT_DESTROY_STARTING, CUPTI_CBID_RESOURCE_CONTEXT_DESTROY_STARTING);
VALUE(CUPTI_STREAM_DESTROY_STARTING, CUPTI_CBID_RESOURCE_STREAM_DESTROY_STARTING);
VALUE(CUPTI_MODULE_LOADED, CUPTI_CBID_RESOURCE_MODULE_LOADED);
VALUE(CUPTI_KIND_KERNEL, CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL);
VALUE(CUPTI_KIND_MEMCPY, CUPTI_ACTIVITY_KIND_MEMCPY);
VALUE(CUPTI_KIND_MEMCPY2, CUPTI_ACTIVITY_KIND_MEMCPY2);
VALUE(CUPTI_KIND_MEMSET, CUPTI_ACTIVITY_KIND_MEMSET);
VALUE(CUPTI_KIND_MARKER, CUPTI_ACTIVITY_KIND_MARKER);
VALUE(CUPTI_KIND_MEMORY2, CUPTI_ACTIVITY_KIND_MEMORY2);
VALUE(CUPTI_MARKER_INSTANT, CUPTI_ACTIVITY_FLAG_MARKER_INSTANTANEOUS);
VALUE(CUPTI_MARKER_START, CUPTI_ACTIVITY_FLAG_MARKER_START);
VALUE(CUPTI_MARKER_END, CUPTI_ACTIVITY_FLAG_MARKER_END);
VALUE(CUPTI_FLUSH_FORCED, CUPTI_ACTIVITY_FLAG_FLUSH_FORCED);
VALUE(CUPTI_SAMPLING_PERIOD, CUPTI_PC_SAMPLING_CONFIGURATION_ATTR_TYPE_SAMPLING_PERIOD);
VALUE(CUPTI_SAMPLING_SCRATCH_BYTES, CUPTI_PC_SAMPLING_CONFIGURATION_ATTR_TYPE_SCRATCH_BUFFER_SIZE);
VALUE(CUPTI_SAMPLING_HARDWARE_BYTES, CUPTI_PC_SAMPLING_CONFIGURATION_ATTR_TYPE_HARDWARE_BUFFER_SIZE);
VALUE(CUPTI_SAMPLING_MODE, CUPTI_PC_SAMPLING_CONFIGURATION_ATTR_TYPE_COLLECTION_MODE);
VALUE(CUPTI_SAMPLING_BUFFER, CUPTI_PC_SAMPLING_CONFIGURATION_ATTR_TYPE_SAMPLING_DATA_BUFFER);
VALUE(CUPTI_SAMPLING_WORKER_SLEEP, CUPTI_PC_SAMPLING_CONFIGURATION_ATTR_TYPE_WORKER_THREAD_PERIODIC_SLEEP_SPAN);
VALUE(CUPTI_SAMPLING_CONTINUOUS, CUPTI_PC_SAMPLING_COLLECTION_MODE_CONTINUOUS);
VALUE(CUPTI_SAMPLING_SERIALIZED, CUPTI_PC_SAMPLING_COLLECTION_MODE_KERNEL_SERIALIZED);
VALUE(CUPTI_REASON_NAME_BYTES, CUPTI_STALL_REASON_STRING_SIZE);
#define X(id, name) VALUE(id, CUPTI_DRIVER_TRACE_CBID_##name);
CUPTI_LAUNCH_CBIDS(X)
CUPTI_LOAD_CBIDS(X)
#undef X
#define X(id, function, name) VALUE(id, CUPTI_DRIVER_TRACE_CBID_##function);
CUPTI_WAIT_CBIDS(X)
#undef X
VALUE(CUPTI_LAUNCH_COOPERATIVE, CUPTI_DRIVER_TRACE_CBID_cuLaunchCooperativeKernel);
VALUE(CUPTI_STREAM_WAIT, CUPTI_DRIVER_TRACE_CBID_cuStreamSynchronize);
VALUE(CUPTI_STREAM_WAIT_PTSZ, CUPTI_DRIVER_TRACE_CBID_cuStreamSynchronize_ptsz);
_Static_assert(offsetof(cuStreamSynchronize_params, hStream) == 0, "the stream is not the first parameter");
SAME(CuptiLoadParameters, code, cuLibraryLoadData_params, code);
SAME(CuptiLoadParameters, code, cuModuleLoadData_params, image);
SAME(CuptiLoadParameters, code, cuModuleLoadDataEx_params, image);
SAME(CuptiLoadParameters, code, cuModuleLoadFatBinary_params, fatCubin);
