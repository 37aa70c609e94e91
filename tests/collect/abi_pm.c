// SPDX-License-Identifier: Apache-2.0
// collect/cupti_pm_abi.h against NVIDIA's headers: compiling is the test (tests/collect_abi.sh). cupti_profiler_host.h
// includes C++'s <string> without using it: the test gives it an empty one.
#include <cuda.h>
#include <cupti.h>
#include <cupti_pmsampling.h>
#include <cupti_profiler_host.h>
#include <cupti_profiler_target.h>
#include <cupti_target.h>

#include "collect/cupti_pm_abi.h"

#define SAME(ours, our_field, theirs, their_field)                                                                    \
    _Static_assert(offsetof(ours, our_field) == offsetof(theirs, their_field), #ours "." #our_field " is elsewhere"); \
    _Static_assert(sizeof(((ours *)0)->our_field) == sizeof(((theirs *)0)->their_field),                              \
                   #ours "." #our_field " has another size")
#define EXACT(ours, last, theirs) \
    _Static_assert(CUPTI_SIZE_TO(ours, last) == theirs##_STRUCT_SIZE, #ours " has another size")
#define VALUE(ours, theirs) _Static_assert((int)(ours) == (int)(theirs), #ours " has another value")

EXACT(CuptiChipName, name, CUpti_Device_GetChipName_Params);
SAME(CuptiChipName, device, CUpti_Device_GetChipName_Params, deviceIndex);
EXACT(CuptiHostInit, host, CUpti_Profiler_Host_Initialize_Params);
SAME(CuptiHostInit, profiler, CUpti_Profiler_Host_Initialize_Params, profilerType);
SAME(CuptiHostInit, chip, CUpti_Profiler_Host_Initialize_Params, pChipName);
SAME(CuptiHostInit, availability, CUpti_Profiler_Host_Initialize_Params, pCounterAvailabilityImage);
EXACT(CuptiHostEnd, host, CUpti_Profiler_Host_Deinitialize_Params);
EXACT(CuptiHostAdd, count, CUpti_Profiler_Host_ConfigAddMetrics_Params);
SAME(CuptiHostAdd, names, CUpti_Profiler_Host_ConfigAddMetrics_Params, ppMetricNames);
EXACT(CuptiHostConfigSize, bytes, CUpti_Profiler_Host_GetConfigImageSize_Params);
EXACT(CuptiHostConfig, config, CUpti_Profiler_Host_GetConfigImage_Params);
SAME(CuptiHostConfig, bytes, CUpti_Profiler_Host_GetConfigImage_Params, configImageSize);
EXACT(CuptiHostPasses, passes, CUpti_Profiler_Host_GetNumOfPasses_Params);
SAME(CuptiHostPasses, config, CUpti_Profiler_Host_GetNumOfPasses_Params, pConfigImage);
EXACT(CuptiHostEvaluate, values, CUpti_Profiler_Host_EvaluateToGpuValues_Params);
SAME(CuptiHostEvaluate, image, CUpti_Profiler_Host_EvaluateToGpuValues_Params, pCounterDataImage);
SAME(CuptiHostEvaluate, image_bytes, CUpti_Profiler_Host_EvaluateToGpuValues_Params, counterDataImageSize);
SAME(CuptiHostEvaluate, sample, CUpti_Profiler_Host_EvaluateToGpuValues_Params, rangeIndex);
SAME(CuptiHostEvaluate, names, CUpti_Profiler_Host_EvaluateToGpuValues_Params, ppMetricNames);
SAME(CuptiHostEvaluate, count, CUpti_Profiler_Host_EvaluateToGpuValues_Params, numMetrics);

EXACT(CuptiPmAvailability, availability, CUpti_PmSampling_GetCounterAvailability_Params);
SAME(CuptiPmAvailability, bytes, CUpti_PmSampling_GetCounterAvailability_Params, counterAvailabilityImageSize);
EXACT(CuptiPmEnable, object, CUpti_PmSampling_Enable_Params);
SAME(CuptiPmEnable, device, CUpti_PmSampling_Enable_Params, deviceIndex);
EXACT(CuptiPmObject, object, CUpti_PmSampling_Disable_Params);
EXACT(CuptiPmObject, object, CUpti_PmSampling_Start_Params);
EXACT(CuptiPmObject, object, CUpti_PmSampling_Stop_Params);
EXACT(CuptiPmConfig, append, CUpti_PmSampling_SetConfig_Params);
SAME(CuptiPmConfig, bytes, CUpti_PmSampling_SetConfig_Params, configSize);
SAME(CuptiPmConfig, config, CUpti_PmSampling_SetConfig_Params, pConfig);
SAME(CuptiPmConfig, hardware_bytes, CUpti_PmSampling_SetConfig_Params, hardwareBufferSize);
SAME(CuptiPmConfig, interval, CUpti_PmSampling_SetConfig_Params, samplingInterval);
SAME(CuptiPmConfig, trigger, CUpti_PmSampling_SetConfig_Params, triggerMode);
EXACT(CuptiPmImageSize, bytes, CUpti_PmSampling_GetCounterDataSize_Params);
SAME(CuptiPmImageSize, names, CUpti_PmSampling_GetCounterDataSize_Params, pMetricNames);
SAME(CuptiPmImageSize, count, CUpti_PmSampling_GetCounterDataSize_Params, numMetrics);
SAME(CuptiPmImageSize, samples, CUpti_PmSampling_GetCounterDataSize_Params, maxSamples);
EXACT(CuptiPmImage, image, CUpti_PmSampling_CounterDataImage_Initialize_Params);
SAME(CuptiPmImage, bytes, CUpti_PmSampling_CounterDataImage_Initialize_Params, counterDataSize);
EXACT(CuptiPmDecode, overflow, CUpti_PmSampling_DecodeData_Params);
SAME(CuptiPmDecode, image, CUpti_PmSampling_DecodeData_Params, pCounterDataImage);
SAME(CuptiPmDecode, bytes, CUpti_PmSampling_DecodeData_Params, counterDataImageSize);
SAME(CuptiPmDecode, stop, CUpti_PmSampling_DecodeData_Params, decodeStopReason);
EXACT(CuptiPmImageInfo, completed, CUpti_PmSampling_GetCounterDataInfo_Params);
SAME(CuptiPmImageInfo, image, CUpti_PmSampling_GetCounterDataInfo_Params, pCounterDataImage);
SAME(CuptiPmImageInfo, populated, CUpti_PmSampling_GetCounterDataInfo_Params, numPopulatedSamples);
EXACT(CuptiPmSample, end, CUpti_PmSampling_CounterData_GetSampleInfo_Params);
SAME(CuptiPmSample, image, CUpti_PmSampling_CounterData_GetSampleInfo_Params, pCounterDataImage);
SAME(CuptiPmSample, sample, CUpti_PmSampling_CounterData_GetSampleInfo_Params, sampleIndex);
SAME(CuptiPmSample, begin, CUpti_PmSampling_CounterData_GetSampleInfo_Params, startTimestamp);

VALUE(CUPTI_PROFILER_PM, CUPTI_PROFILER_TYPE_PM_SAMPLING);
VALUE(CUPTI_PM_BY_SYSCLK, CUPTI_PM_SAMPLING_TRIGGER_MODE_GPU_SYSCLK_INTERVAL);
VALUE(CUPTI_PM_BY_TIME, CUPTI_PM_SAMPLING_TRIGGER_MODE_GPU_TIME_INTERVAL);
VALUE(CUPTI_PM_KEEP_OLDEST, CUPTI_PM_SAMPLING_HARDWARE_BUFFER_APPEND_MODE_KEEP_OLDEST);
VALUE(CUPTI_PM_KEEP_LATEST, CUPTI_PM_SAMPLING_HARDWARE_BUFFER_APPEND_MODE_KEEP_LATEST);
VALUE(CUPTI_PM_STOPPED, CUPTI_PM_SAMPLING_DECODE_STOP_REASON_OTHER);
VALUE(CUPTI_PM_IMAGE_FULL, CUPTI_PM_SAMPLING_DECODE_STOP_REASON_COUNTER_DATA_FULL);
VALUE(CUPTI_PM_END_OF_RECORDS, CUPTI_PM_SAMPLING_DECODE_STOP_REASON_END_OF_RECORDS);
