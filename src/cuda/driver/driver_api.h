// SPDX-License-Identifier: Apache-2.0
// The implemented functions of the driver API, by file, under the names that libcuda.so.1 exports. Names and parameters
// are CUDA's; what each does is in CUDA's driver API reference, and how ours differs in docs/cuda-api.md.
#ifndef WL_CUDA_DRIVER_API_H
#define WL_CUDA_DRIVER_API_H

#include "cuda/driver/driver.h"

#define DIRECT(name, parameters, need, expression) CUDA_API CUresult name parameters;
#define DIRECT_ON(name, parameters, stream, expression) CUDA_API CUresult name parameters;
#include "cuda/driver/direct.def"
#undef DIRECT
#undef DIRECT_ON

// driver.c
CUDA_API CUresult cuInit(unsigned int Flags);
CUDA_API CUresult cuDriverGetVersion(int *driverVersion);
CUDA_API CUresult cuGetErrorName(CUresult error, const char **pStr);
CUDA_API CUresult cuGetErrorString(CUresult error, const char **pStr);
CUDA_API CUresult cuGetExportTable(const void **ppExportTable, const CUuuid *pExportTableId);

// device_context.c
CUDA_API CUresult cuCtxCreate_v2(CUcontext *pctx, unsigned int flags, CUdevice dev);
CUDA_API CUresult cuCtxCreate_v3(CUcontext *pctx, CUexecAffinityParam *paramsArray, int numParams, unsigned int flags,
                                 CUdevice dev);
CUDA_API CUresult cuCtxCreate_v4(CUcontext *pctx, CUctxCreateParams *ctxCreateParams, unsigned int flags, CUdevice dev);
CUDA_API CUresult cuCtxDestroy_v2(CUcontext ctx);
CUDA_API CUresult cuCtxAttach(CUcontext *pctx, unsigned int flags);
CUDA_API CUresult cuCtxDetach(CUcontext ctx);
CUDA_API CUresult cuCtxPushCurrent_v2(CUcontext ctx);
CUDA_API CUresult cuCtxPopCurrent_v2(CUcontext *pctx);
CUDA_API CUresult cuCtxSetCurrent(CUcontext ctx);
CUDA_API CUresult cuCtxGetCurrent(CUcontext *pctx);
CUDA_API CUresult cuCtxGetDevice(CUdevice *device);
CUDA_API CUresult cuCtxGetDevice_v2(CUdevice *device, CUcontext ctx);
CUDA_API CUresult cuCtxSynchronize_v2(CUcontext ctx);
CUDA_API CUresult cuCtxGetId(CUcontext ctx, unsigned long long *ctxId);
CUDA_API CUresult cuCtxGetApiVersion(CUcontext ctx, unsigned int *version);
CUDA_API CUresult cuCtxGetFlags(unsigned int *flags);
CUDA_API CUresult cuCtxSetFlags(unsigned int flags);
CUDA_API CUresult cuCtxGetExecAffinity(CUexecAffinityParam *pExecAffinity, CUexecAffinityType type);
CUDA_API CUresult cuCtxEnablePeerAccess(CUcontext peerContext, unsigned int Flags);
CUDA_API CUresult cuCtxDisablePeerAccess(CUcontext peerContext);
CUDA_API CUresult cuDevicePrimaryCtxRetain(CUcontext *pctx, CUdevice dev);
CUDA_API CUresult cuDevicePrimaryCtxReset_v2(CUdevice dev);
CUDA_API CUresult cuDevicePrimaryCtxRelease_v2(CUdevice dev);
CUDA_API CUresult cuDevicePrimaryCtxSetFlags_v2(CUdevice dev, unsigned int flags);
CUDA_API CUresult cuDevicePrimaryCtxGetState(CUdevice dev, unsigned int *flags, int *active);

// driver_device.c
CUDA_API CUresult cuDeviceGet(CUdevice *device, int ordinal);
CUDA_API CUresult cuDeviceGetName(char *name, int len, CUdevice dev);
CUDA_API CUresult cuDeviceGetUuid(CUuuid *uuid, CUdevice dev);
CUDA_API CUresult cuDeviceTotalMem_v2(size_t *bytes, CUdevice dev);
CUDA_API CUresult cuDeviceGetAttribute(int *pi, CUdevice_attribute attrib, CUdevice dev);
CUDA_API CUresult cuCtxGetLimit(size_t *pvalue, CUlimit limit);
CUDA_API CUresult cuDeviceComputeCapability(int *major, int *minor, CUdevice dev);
CUDA_API CUresult cuDeviceGetProperties(CUdevprop *prop, CUdevice dev);
CUDA_API CUresult cuDeviceGetLuid(char *luid, unsigned int *deviceNodeMask, CUdevice dev);
CUDA_API CUresult cuDeviceGetExecAffinitySupport(int *pi, CUexecAffinityType type, CUdevice dev);
CUDA_API CUresult cuDeviceGetTexture1DLinearMaxWidth(size_t *maxWidthInElements, CUarray_format format,
                                                     unsigned numChannels, CUdevice dev);
CUDA_API CUresult cuFlushGPUDirectRDMAWrites(int target, int scope);

// driver_module.c
CUDA_API CUresult cuModuleLoad(CUmodule *module, const char *fname);
CUDA_API CUresult cuModuleLoadData(CUmodule *module, const void *image);
CUDA_API CUresult cuModuleLoadDataEx(CUmodule *module, const void *image, unsigned int numOptions,
                                     CUjit_option *options, void **optionValues);
CUDA_API CUresult cuModuleLoadFatBinary(CUmodule *module, const void *fatCubin);
CUDA_API CUresult cuModuleUnload(CUmodule hmod);
CUDA_API CUresult cuModuleGetLoadingMode(CUmoduleLoadingMode *mode);
CUDA_API CUresult cuModuleGetFunction(CUfunction *hfunc, CUmodule hmod, const char *name);
CUDA_API CUresult cuModuleGetGlobal_v2(CUdeviceptr *dptr, size_t *bytes, CUmodule hmod, const char *name);
CUDA_API CUresult cuModuleGetFunctionCount(unsigned int *count, CUmodule mod);
CUDA_API CUresult cuModuleEnumerateFunctions(CUfunction *functions, unsigned int numFunctions, CUmodule mod);
CUDA_API CUresult cuFuncGetModule(CUmodule *hmod, CUfunction hfunc);
CUDA_API CUresult cuKernelGetLibrary(CUlibrary *pLib, CUkernel kernel);
CUDA_API CUresult cuFuncIsLoaded(CUfunctionLoadingState *state, CUfunction function);
CUDA_API CUresult cuFuncLoad(CUfunction function);
CUDA_API CUresult cuKernelGetFunction(CUfunction *pFunc, CUkernel kernel);
CUDA_API CUresult cuFuncGetAttribute(int *pi, CUfunction_attribute attrib, CUfunction hfunc);
CUDA_API CUresult cuFuncSetAttribute(CUfunction hfunc, CUfunction_attribute attrib, int value);
CUDA_API CUresult cuKernelGetAttribute(int *pi, CUfunction_attribute attrib, CUkernel kernel, CUdevice dev);
CUDA_API CUresult cuKernelSetAttribute(CUfunction_attribute attrib, int val, CUkernel kernel, CUdevice dev);
CUDA_API CUresult cuKernelSetCacheConfig(CUkernel kernel, CUfunc_cache config, CUdevice dev);
CUDA_API CUresult cuOccupancyMaxPotentialBlockSizeWithFlags(int *minGridSize, int *blockSize, CUfunction func,
                                                            CUoccupancyB2DSize blockSizeToDynamicSMemSize,
                                                            size_t dynamicSMemSize, int blockSizeLimit,
                                                            unsigned int flags);
CUDA_API CUresult cuOccupancyMaxPotentialBlockSize(int *minGridSize, int *blockSize, CUfunction func,
                                                   CUoccupancyB2DSize blockSizeToDynamicSMemSize,
                                                   size_t dynamicSMemSize, int blockSizeLimit);

// library.c
CUDA_API CUresult cuLibraryLoadData(CUlibrary *library, const void *code, CUjit_option *jitOptions,
                                    void **jitOptionsValues, unsigned int numJitOptions,
                                    CUlibraryOption *libraryOptions, void **libraryOptionValues,
                                    unsigned int numLibraryOptions);
CUDA_API CUresult cuLibraryLoadFromFile(CUlibrary *library, const char *fileName, CUjit_option *jitOptions,
                                        void **jitOptionsValues, unsigned int numJitOptions,
                                        CUlibraryOption *libraryOptions, void **libraryOptionValues,
                                        unsigned int numLibraryOptions);
CUDA_API CUresult cuLibraryUnload(CUlibrary library);
CUDA_API CUresult cuLibraryGetKernel(CUkernel *pKernel, CUlibrary library, const char *name);
CUDA_API CUresult cuLibraryGetModule(CUmodule *pMod, CUlibrary library);
CUDA_API CUresult cuLibraryGetGlobal(CUdeviceptr *dptr, size_t *bytes, CUlibrary library, const char *name);
CUDA_API CUresult cuLibraryGetManaged(CUdeviceptr *dptr, size_t *bytes, CUlibrary library, const char *name);
CUDA_API CUresult cuLibraryGetKernelCount(unsigned int *count, CUlibrary lib);
CUDA_API CUresult cuLibraryEnumerateKernels(CUkernel *kernels, unsigned int numKernels, CUlibrary lib);

// driver_link.c
CUDA_API CUresult cuLinkCreate_v2(unsigned int numOptions, CUjit_option *options, void **optionValues,
                                  CUlinkState *stateOut);
CUDA_API CUresult cuLinkAddData_v2(CUlinkState state, CUjitInputType type, void *data, size_t size, const char *name,
                                   unsigned int numOptions, CUjit_option *options, void **optionValues);
CUDA_API CUresult cuLinkAddFile_v2(CUlinkState state, CUjitInputType type, const char *path, unsigned int numOptions,
                                   CUjit_option *options, void **optionValues);
CUDA_API CUresult cuLinkComplete(CUlinkState state, void **cubinOut, size_t *sizeOut);
CUDA_API CUresult cuLinkDestroy(CUlinkState state);

// driver_launch.c
CUDA_API CUresult cuLaunchKernel(CUfunction f, unsigned int gridDimX, unsigned int gridDimY, unsigned int gridDimZ,
                                 unsigned int blockDimX, unsigned int blockDimY, unsigned int blockDimZ,
                                 unsigned int sharedMemBytes, CUstream hStream, void **kernelParams, void **extra);
CUDA_API CUresult cuLaunchCooperativeKernel(CUfunction f, unsigned int gridDimX, unsigned int gridDimY,
                                            unsigned int gridDimZ, unsigned int blockDimX, unsigned int blockDimY,
                                            unsigned int blockDimZ, unsigned int sharedMemBytes, CUstream hStream,
                                            void **kernelParams);
CUDA_API CUresult cuLaunchKernelEx(const CUlaunchConfig *config, CUfunction f, void **kernelParams, void **extra);
CUDA_API CUresult cuOccupancyMaxActiveClusters(int *numClusters, CUfunction func, const CUlaunchConfig *config);
CUDA_API CUresult cuOccupancyMaxPotentialClusterSize(int *clusterSize, CUfunction func, const CUlaunchConfig *config);
CUDA_API CUresult cuFuncSetBlockShape(CUfunction hfunc, int x, int y, int z);
CUDA_API CUresult cuFuncSetSharedSize(CUfunction hfunc, unsigned int bytes);
CUDA_API CUresult cuParamSetSize(CUfunction hfunc, unsigned int numbytes);
CUDA_API CUresult cuParamSeti(CUfunction hfunc, int offset, unsigned int value);
CUDA_API CUresult cuParamSetf(CUfunction hfunc, int offset, float value);
CUDA_API CUresult cuParamSetv(CUfunction hfunc, int offset, void *ptr, unsigned int numbytes);
CUDA_API CUresult cuLaunch(CUfunction f);
CUDA_API CUresult cuLaunchGrid(CUfunction f, int grid_width, int grid_height);
CUDA_API CUresult cuLaunchGridAsync(CUfunction f, int grid_width, int grid_height, CUstream hStream);

// driver_memory.c
CUDA_API CUresult cuMemAlloc_v2(CUdeviceptr *dptr, size_t bytesize);
CUDA_API CUresult cuMemAllocPitch_v2(CUdeviceptr *dptr, size_t *pPitch, size_t WidthInBytes, size_t Height,
                                     unsigned int ElementSizeBytes);
CUDA_API CUresult cuMemAllocManaged(CUdeviceptr *dptr, size_t bytesize, unsigned int flags);
CUDA_API CUresult cuMemFree_v2(CUdeviceptr dptr);
CUDA_API CUresult cuMemAllocAsync(CUdeviceptr *dptr, size_t bytesize, CUstream hStream);
CUDA_API CUresult cuMemAllocFromPoolAsync(CUdeviceptr *dptr, size_t bytesize, CUmemoryPool pool, CUstream hStream);
CUDA_API CUresult cuMemFreeAsync(CUdeviceptr dptr, CUstream hStream);
CUDA_API CUresult cuMemAllocHost_v2(void **pp, size_t bytesize);
CUDA_API CUresult cuMemHostAlloc(void **pp, size_t bytesize, unsigned int Flags);
CUDA_API CUresult cuMemFreeHost(void *p);
CUDA_API CUresult cuMemHostRegister_v2(void *p, size_t bytesize, unsigned int Flags);
CUDA_API CUresult cuMemHostGetDevicePointer_v2(CUdeviceptr *pdptr, void *p, unsigned int Flags);
CUDA_API CUresult cuMemAdvise(CUdeviceptr devPtr, size_t count, CUmem_advise advice, CUdevice device);
CUDA_API CUresult cuMemAdvise_v2(CUdeviceptr devPtr, size_t count, CUmem_advise advice, CUmemLocation location);
CUDA_API CUresult cuMemPrefetchAsync(CUdeviceptr devPtr, size_t count, CUdevice dstDevice, CUstream hStream);
CUDA_API CUresult cuMemPrefetchAsync_v2(CUdeviceptr devPtr, size_t count, CUmemLocation location, unsigned int flags,
                                        CUstream hStream);
CUDA_API CUresult cuMemRangeGetAttribute(void *data, size_t dataSize, CUmem_range_attribute attribute,
                                         CUdeviceptr devPtr, size_t count);
CUDA_API CUresult cuMemRangeGetAttributes(void **data, size_t *dataSizes, CUmem_range_attribute *attributes,
                                          size_t numAttributes, CUdeviceptr devPtr, size_t count);
CUDA_API CUresult cuMemGetAddressRange_v2(CUdeviceptr *pbase, size_t *psize, CUdeviceptr dptr);
CUDA_API CUresult cuPointerGetAttribute(void *data, CUpointer_attribute attribute, CUdeviceptr ptr);
CUDA_API CUresult cuPointerGetAttributes(unsigned int numAttributes, CUpointer_attribute *attributes, void **data,
                                         CUdeviceptr ptr);
CUDA_API CUresult cuPointerSetAttribute(const void *value, CUpointer_attribute attribute, CUdeviceptr ptr);

// virtual_memory.c
CUDA_API CUresult cuMemAddressReserve(CUdeviceptr *ptr, size_t size, size_t alignment, CUdeviceptr addr,
                                      unsigned long long flags);
CUDA_API CUresult cuMemAddressFree(CUdeviceptr ptr, size_t size);
CUDA_API CUresult cuMemGetAllocationGranularity(size_t *granularity_out, const CUmemAllocationProp *prop,
                                                CUmemAllocationGranularity_flags option);
CUDA_API CUresult cuMemCreate(CUmemGenericAllocationHandle *handle, size_t size, const CUmemAllocationProp *prop,
                              unsigned long long flags);
CUDA_API CUresult cuMemRelease(CUmemGenericAllocationHandle handle);
CUDA_API CUresult cuMemGetAllocationPropertiesFromHandle(CUmemAllocationProp *prop,
                                                         CUmemGenericAllocationHandle handle);
CUDA_API CUresult cuMemExportToShareableHandle(void *shareableHandle, CUmemGenericAllocationHandle handle,
                                               CUmemAllocationHandleType handleType, unsigned long long flags);
CUDA_API CUresult cuMemImportFromShareableHandle(CUmemGenericAllocationHandle *handle, void *osHandle,
                                                 CUmemAllocationHandleType shHandleType);
CUDA_API CUresult cuMemMap(CUdeviceptr ptr, size_t size, size_t offset, CUmemGenericAllocationHandle handle,
                           unsigned long long flags);
CUDA_API CUresult cuMemUnmap(CUdeviceptr ptr, size_t size);
CUDA_API CUresult cuMemSetAccess(CUdeviceptr ptr, size_t size, const CUmemAccessDesc *desc, size_t count);
CUDA_API CUresult cuMemGetAccess(unsigned long long *flags, const CUmemLocation *location, CUdeviceptr ptr);
CUDA_API CUresult cuMemRetainAllocationHandle(CUmemGenericAllocationHandle *handle, void *addr);

// driver_copy.c
CUDA_API CUresult cuMemcpyPeer(CUdeviceptr dstDevice, CUcontext dstContext, CUdeviceptr srcDevice, CUcontext srcContext,
                               size_t ByteCount);
CUDA_API CUresult cuMemcpyPeerAsync(CUdeviceptr dstDevice, CUcontext dstContext, CUdeviceptr srcDevice,
                                    CUcontext srcContext, size_t ByteCount, CUstream hStream);
CUDA_API CUresult cuMemcpy2D_v2(const CUDA_MEMCPY2D *pCopy);
CUDA_API CUresult cuMemcpy2DUnaligned_v2(const CUDA_MEMCPY2D *pCopy);
CUDA_API CUresult cuMemcpy2DAsync_v2(const CUDA_MEMCPY2D *pCopy, CUstream hStream);
CUDA_API CUresult cuMemcpy3D_v2(const CUDA_MEMCPY3D *pCopy);
CUDA_API CUresult cuMemcpy3DAsync_v2(const CUDA_MEMCPY3D *pCopy, CUstream hStream);
CUDA_API CUresult cuMemcpy3DPeer(const CUDA_MEMCPY3D_PEER *pCopy);
CUDA_API CUresult cuMemcpy3DPeerAsync(const CUDA_MEMCPY3D_PEER *pCopy, CUstream hStream);
CUDA_API CUresult cuMemcpyBatchAsync_v2(CUdeviceptr *dsts, CUdeviceptr *srcs, size_t *sizes, size_t count,
                                        CUmemcpyAttributes *attrs, size_t *attrsIdxs, size_t numAttrs,
                                        CUstream hStream);
CUDA_API CUresult cuMemcpy(CUdeviceptr dst, CUdeviceptr src, size_t ByteCount);
CUDA_API CUresult cuMemcpyHtoD_v2(CUdeviceptr dstDevice, const void *srcHost, size_t ByteCount);
CUDA_API CUresult cuMemcpyDtoH_v2(void *dstHost, CUdeviceptr srcDevice, size_t ByteCount);
CUDA_API CUresult cuMemcpyDtoD_v2(CUdeviceptr dstDevice, CUdeviceptr srcDevice, size_t ByteCount);
CUDA_API CUresult cuMemcpyAsync(CUdeviceptr dst, CUdeviceptr src, size_t ByteCount, CUstream hStream);
CUDA_API CUresult cuMemcpyHtoDAsync_v2(CUdeviceptr dstDevice, const void *srcHost, size_t ByteCount, CUstream hStream);
CUDA_API CUresult cuMemcpyDtoHAsync_v2(void *dstHost, CUdeviceptr srcDevice, size_t ByteCount, CUstream hStream);
CUDA_API CUresult cuMemcpyDtoDAsync_v2(CUdeviceptr dstDevice, CUdeviceptr srcDevice, size_t ByteCount,
                                       CUstream hStream);
CUDA_API CUresult cuMemcpyDtoA_v2(CUarray dstArray, size_t dstOffset, CUdeviceptr srcDevice, size_t ByteCount);
CUDA_API CUresult cuMemcpyAtoD_v2(CUdeviceptr dstDevice, CUarray srcArray, size_t srcOffset, size_t ByteCount);
CUDA_API CUresult cuMemcpyHtoA_v2(CUarray dstArray, size_t dstOffset, const void *srcHost, size_t ByteCount);
CUDA_API CUresult cuMemcpyAtoH_v2(void *dstHost, CUarray srcArray, size_t srcOffset, size_t ByteCount);
CUDA_API CUresult cuMemcpyAtoA_v2(CUarray dstArray, size_t dstOffset, CUarray srcArray, size_t srcOffset,
                                  size_t ByteCount);
CUDA_API CUresult cuMemcpyHtoAAsync_v2(CUarray dstArray, size_t dstOffset, const void *srcHost, size_t ByteCount,
                                       CUstream hStream);
CUDA_API CUresult cuMemcpyAtoHAsync_v2(void *dstHost, CUarray srcArray, size_t srcOffset, size_t ByteCount,
                                       CUstream hStream);
CUDA_API CUresult cuMemsetD8_v2(CUdeviceptr dstDevice, unsigned char value, size_t N);
CUDA_API CUresult cuMemsetD8Async(CUdeviceptr dstDevice, unsigned char value, size_t N, CUstream hStream);
CUDA_API CUresult cuMemsetD2D8_v2(CUdeviceptr dstDevice, size_t dstPitch, unsigned char value, size_t Width,
                                  size_t Height);
CUDA_API CUresult cuMemsetD2D8Async(CUdeviceptr dstDevice, size_t dstPitch, unsigned char value, size_t Width,
                                    size_t Height, CUstream hStream);
CUDA_API CUresult cuMemsetD16_v2(CUdeviceptr dstDevice, unsigned short value, size_t N);
CUDA_API CUresult cuMemsetD16Async(CUdeviceptr dstDevice, unsigned short value, size_t N, CUstream hStream);
CUDA_API CUresult cuMemsetD2D16_v2(CUdeviceptr dstDevice, size_t dstPitch, unsigned short value, size_t Width,
                                   size_t Height);
CUDA_API CUresult cuMemsetD2D16Async(CUdeviceptr dstDevice, size_t dstPitch, unsigned short value, size_t Width,
                                     size_t Height, CUstream hStream);
CUDA_API CUresult cuMemsetD32_v2(CUdeviceptr dstDevice, unsigned int value, size_t N);
CUDA_API CUresult cuMemsetD32Async(CUdeviceptr dstDevice, unsigned int value, size_t N, CUstream hStream);
CUDA_API CUresult cuMemsetD2D32_v2(CUdeviceptr dstDevice, size_t dstPitch, unsigned int value, size_t Width,
                                   size_t Height);
CUDA_API CUresult cuMemsetD2D32Async(CUdeviceptr dstDevice, size_t dstPitch, unsigned int value, size_t Width,
                                     size_t Height, CUstream hStream);

// driver_stream.c
CUDA_API CUresult cuStreamCreate(CUstream *phStream, unsigned int Flags);
CUDA_API CUresult cuStreamCreateWithPriority(CUstream *phStream, unsigned int flags, int priority);
CUDA_API CUresult cuStreamDestroy_v2(CUstream hStream);
CUDA_API CUresult cuEventCreate(CUevent *phEvent, unsigned int Flags);
CUDA_API CUresult cuEventDestroy_v2(CUevent hEvent);
CUDA_API CUresult cuStreamGetCtx(CUstream hStream, CUcontext *pctx);
CUDA_API CUresult cuStreamGetCtx_v2(CUstream hStream, CUcontext *pCtx, void **pGreenCtx);
CUDA_API CUresult cuStreamAddCallback(CUstream hStream, CUstreamCallback callback, void *userData, unsigned int flags);
CUDA_API CUresult cuStreamAttachMemAsync(CUstream hStream, CUdeviceptr dptr, size_t length, unsigned int flags);
CUDA_API CUresult cuStreamWriteValue32_v2(CUstream stream, CUdeviceptr addr, unsigned int value, unsigned int flags);
CUDA_API CUresult cuStreamWriteValue64_v2(CUstream stream, CUdeviceptr addr, unsigned long long value,
                                          unsigned int flags);
CUDA_API CUresult cuStreamWaitValue32_v2(CUstream stream, CUdeviceptr addr, unsigned int value, unsigned int flags);
CUDA_API CUresult cuStreamWaitValue64_v2(CUstream stream, CUdeviceptr addr, unsigned long long value,
                                         unsigned int flags);
CUDA_API CUresult cuStreamBatchMemOp_v2(CUstream stream, unsigned int count, CUstreamBatchMemOpParams *paramArray,
                                        unsigned int flags);

// driver_array.c
CUDA_API CUresult cuArrayCreate_v2(CUarray *pHandle, const CUDA_ARRAY_DESCRIPTOR *pAllocateArray);
CUDA_API CUresult cuArray3DCreate_v2(CUarray *pHandle, const CUDA_ARRAY3D_DESCRIPTOR *pAllocateArray);
CUDA_API CUresult cuArrayGetDescriptor_v2(CUDA_ARRAY_DESCRIPTOR *pArrayDescriptor, CUarray hArray);
CUDA_API CUresult cuArray3DGetDescriptor_v2(CUDA_ARRAY3D_DESCRIPTOR *pArrayDescriptor, CUarray hArray);
CUDA_API CUresult cuArrayDestroy(CUarray hArray);
CUDA_API CUresult cuMipmappedArrayCreate(CUmipmappedArray *pHandle, const CUDA_ARRAY3D_DESCRIPTOR *pMipmappedArrayDesc,
                                         unsigned int numMipmapLevels);
CUDA_API CUresult cuMipmappedArrayDestroy(CUmipmappedArray hMipmappedArray);
CUDA_API CUresult cuTexObjectCreate(CUtexObject *pTexObject, const CUDA_RESOURCE_DESC *pResDesc,
                                    const CUDA_TEXTURE_DESC *pTexDesc, const CUDA_RESOURCE_VIEW_DESC *pResViewDesc);
CUDA_API CUresult cuSurfObjectCreate(CUsurfObject *pSurfObject, const CUDA_RESOURCE_DESC *pResDesc);
CUDA_API CUresult cuTexObjectGetResourceDesc(CUDA_RESOURCE_DESC *pResDesc, CUtexObject texObject);
CUDA_API CUresult cuSurfObjectGetResourceDesc(CUDA_RESOURCE_DESC *pResDesc, CUsurfObject surfObject);
CUDA_API CUresult cuTexObjectGetTextureDesc(CUDA_TEXTURE_DESC *pTexDesc, CUtexObject texObject);

// driver_graph.c
CUDA_API CUresult cuGraphAddKernelNode(CUgraphNode *phGraphNode, CUgraph hGraph, const CUgraphNode *dependencies,
                                       size_t numDependencies, const struct cudaKernelNodeParams *nodeParams);
CUDA_API CUresult cuGraphAddKernelNode_v2(CUgraphNode *phGraphNode, CUgraph hGraph, const CUgraphNode *dependencies,
                                          size_t numDependencies, const CUDA_KERNEL_NODE_PARAMS *nodeParams);
CUDA_API CUresult cuGraphKernelNodeGetParams(CUgraphNode hNode, struct cudaKernelNodeParams *nodeParams);
CUDA_API CUresult cuGraphKernelNodeGetParams_v2(CUgraphNode hNode, CUDA_KERNEL_NODE_PARAMS *nodeParams);
CUDA_API CUresult cuGraphKernelNodeSetParams(CUgraphNode hNode, const struct cudaKernelNodeParams *nodeParams);
CUDA_API CUresult cuGraphKernelNodeSetParams_v2(CUgraphNode hNode, const CUDA_KERNEL_NODE_PARAMS *nodeParams);
CUDA_API CUresult cuGraphExecKernelNodeSetParams(CUgraphExec hGraphExec, CUgraphNode hNode,
                                                 const struct cudaKernelNodeParams *nodeParams);
CUDA_API CUresult cuGraphExecKernelNodeSetParams_v2(CUgraphExec hGraphExec, CUgraphNode hNode,
                                                    const CUDA_KERNEL_NODE_PARAMS *nodeParams);
CUDA_API CUresult cuGraphAddMemcpyNode(CUgraphNode *phGraphNode, CUgraph hGraph, const CUgraphNode *dependencies,
                                       size_t numDependencies, const CUDA_MEMCPY3D *copyParams, CUcontext ctx);
CUDA_API CUresult cuGraphMemcpyNodeGetParams(CUgraphNode hNode, CUDA_MEMCPY3D *nodeParams);
CUDA_API CUresult cuGraphMemcpyNodeSetParams(CUgraphNode hNode, const CUDA_MEMCPY3D *nodeParams);
CUDA_API CUresult cuGraphExecMemcpyNodeSetParams(CUgraphExec hGraphExec, CUgraphNode hNode,
                                                 const CUDA_MEMCPY3D *copyParams, CUcontext ctx);
CUDA_API CUresult cuGraphAddMemsetNode(CUgraphNode *phGraphNode, CUgraph hGraph, const CUgraphNode *dependencies,
                                       size_t numDependencies, const CUDA_MEMSET_NODE_PARAMS *memsetParams,
                                       CUcontext ctx);
CUDA_API CUresult cuGraphMemsetNodeGetParams(CUgraphNode hNode, CUDA_MEMSET_NODE_PARAMS *nodeParams);
CUDA_API CUresult cuGraphMemsetNodeSetParams(CUgraphNode hNode, const CUDA_MEMSET_NODE_PARAMS *nodeParams);
CUDA_API CUresult cuGraphExecMemsetNodeSetParams(CUgraphExec hGraphExec, CUgraphNode hNode,
                                                 const CUDA_MEMSET_NODE_PARAMS *memsetParams, CUcontext ctx);
CUDA_API CUresult cuGraphAddNode(CUgraphNode *phGraphNode, CUgraph hGraph, const CUgraphNode *dependencies,
                                 size_t numDependencies, CUgraphNodeParams *nodeParams);
CUDA_API CUresult cuGraphAddNode_v2(CUgraphNode *phGraphNode, CUgraph hGraph, const CUgraphNode *dependencies,
                                    const CUgraphEdgeData *dependencyData, size_t numDependencies,
                                    CUgraphNodeParams *nodeParams);
CUDA_API CUresult cuGraphNodeSetParams(CUgraphNode hNode, CUgraphNodeParams *nodeParams);
CUDA_API CUresult cuGraphExecNodeSetParams(CUgraphExec hGraphExec, CUgraphNode hNode, CUgraphNodeParams *nodeParams);
CUDA_API CUresult cuGraphInstantiate(CUgraphExec *phGraphExec, CUgraph hGraph, CUgraphNode *phErrorNode,
                                     char *logBuffer, size_t bufferSize);
CUDA_API CUresult cuGraphExecUpdate(CUgraphExec hGraphExec, CUgraph hGraph, CUgraphNode *hErrorNode_out,
                                    CUgraphExecUpdateResult *updateResult_out);

// tensor_map_api.c
CUDA_API CUresult cuTensorMapEncodeTiled(CUtensorMap *tensorMap, int tensorDataType, unsigned int tensorRank,
                                         void *globalAddress, const unsigned long long *globalDim,
                                         const unsigned long long *globalStrides, const unsigned int *boxDim,
                                         const unsigned int *elementStrides, int interleave, int swizzle,
                                         int l2Promotion, int oobFill);
CUDA_API CUresult cuTensorMapEncodeIm2col(CUtensorMap *tensorMap, int tensorDataType, unsigned int tensorRank,
                                          void *globalAddress, const unsigned long long *globalDim,
                                          const unsigned long long *globalStrides, const int *pixelBoxLowerCorner,
                                          const int *pixelBoxUpperCorner, unsigned int channelsPerPixel,
                                          unsigned int pixelsPerColumn, const unsigned int *elementStrides,
                                          int interleave, int swizzle, int l2Promotion, int oobFill);
CUDA_API CUresult cuTensorMapEncodeIm2colWide(CUtensorMap *tensorMap, int tensorDataType, unsigned int tensorRank,
                                              void *globalAddress, const unsigned long long *globalDim,
                                              const unsigned long long *globalStrides, int pixelBoxLowerCornerWidth,
                                              int pixelBoxUpperCornerWidth, unsigned int channelsPerPixel,
                                              unsigned int pixelsPerColumn, const unsigned int *elementStrides,
                                              int interleave, int mode, int swizzle, int l2Promotion, int oobFill);
CUDA_API CUresult cuTensorMapReplaceAddress(CUtensorMap *tensorMap, void *globalAddress);

// driver_table.c
CUDA_API CUresult cuGetProcAddress(const char *symbol, void **pfn, int cudaVersion, unsigned long long flags);
CUDA_API CUresult cuGetProcAddress_v2(const char *symbol, void **pfn, int cudaVersion, unsigned long long flags,
                                      CUdriverProcAddressQueryResult *symbolStatus);

#endif
