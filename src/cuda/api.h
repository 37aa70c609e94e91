// SPDX-License-Identifier: Apache-2.0
// The implemented functions of the CUDA runtime API, by the file that has them. Behaviour is documented by NVIDIA;
// where ours differs, docs/cuda-api.md says so. Which functions exist at all: api.def.
#ifndef WL_CUDA_API_H
#define WL_CUDA_API_H

#include "cuda/context.h"

// error.c
CUDA_API const char *cudaGetErrorName(cudaError_t error);
CUDA_API const char *cudaGetErrorString(cudaError_t error);
CUDA_API cudaError_t cudaPeekAtLastError(void);
CUDA_API cudaError_t cudaGetLastError(void);

// device.c
CUDA_API cudaError_t cudaGetDeviceCount(int *count);
CUDA_API cudaError_t cudaSetDevice(int device);
CUDA_API cudaError_t cudaGetDevice(int *device);
CUDA_API cudaError_t cudaInitDevice(int device, unsigned int deviceFlags, unsigned int flags);
CUDA_API cudaError_t cudaSetValidDevices(int *device_arr, int len);
CUDA_API cudaError_t cudaChooseDevice(int *device, const struct cudaDeviceProp *prop);
CUDA_API cudaError_t cudaSetDeviceFlags(unsigned int flags);
CUDA_API cudaError_t cudaGetDeviceFlags(unsigned int *flags);
CUDA_API cudaError_t cudaDeviceReset(void);
CUDA_API cudaError_t cudaDeviceGetAttribute(int *value, enum cudaDeviceAttr attr, int device);
CUDA_API cudaError_t cudaGetDeviceProperties(struct cudaDeviceProp *prop, int device);
CUDA_API cudaError_t cudaDriverGetVersion(int *driverVersion);
CUDA_API cudaError_t cudaRuntimeGetVersion(int *runtimeVersion);
CUDA_API cudaError_t cudaDeviceGetTexture1DLinearMaxWidth(size_t *maxWidthInElements,
                                                          const struct cudaChannelFormatDesc *fmtDesc, int device);
CUDA_API cudaError_t cudaDeviceGetPCIBusId(char *pciBusId, int len, int device);
CUDA_API cudaError_t cudaDeviceGetByPCIBusId(int *device, const char *pciBusId);
CUDA_API cudaError_t cudaDeviceSetLimit(enum cudaLimit limit, size_t value);
CUDA_API cudaError_t cudaDeviceGetLimit(size_t *pValue, enum cudaLimit limit);
CUDA_API cudaError_t cudaDeviceSetCacheConfig(enum cudaFuncCache cacheConfig);
CUDA_API cudaError_t cudaDeviceGetCacheConfig(enum cudaFuncCache *pCacheConfig);
CUDA_API cudaError_t cudaDeviceGetSharedMemConfig(enum cudaSharedMemConfig *pConfig);
CUDA_API cudaError_t cudaDeviceSetSharedMemConfig(enum cudaSharedMemConfig config);
CUDA_API cudaError_t cudaCtxResetPersistingL2Cache(void);
CUDA_API cudaError_t cudaProfilerStart(void);
CUDA_API cudaError_t cudaProfilerStop(void);
CUDA_API cudaError_t cudaDeviceCanAccessPeer(int *canAccessPeer, int device, int peerDevice);
CUDA_API cudaError_t cudaDeviceEnablePeerAccess(int peerDevice, unsigned int flags);
CUDA_API cudaError_t cudaDeviceDisablePeerAccess(int peerDevice);
CUDA_API cudaError_t cudaDeviceGetP2PAttribute(int *value, enum cudaDeviceP2PAttr attr, int srcDevice, int dstDevice);

// memory.c
CUDA_API cudaError_t cudaMalloc(void **devPtr, size_t size);
CUDA_API cudaError_t cudaFree(void *devPtr);
CUDA_API cudaError_t cudaMallocManaged(void **devPtr, size_t size, unsigned int flags);
CUDA_API cudaError_t cudaMallocPitch(void **devPtr, size_t *pitch, size_t width, size_t height);
CUDA_API cudaError_t cudaMalloc3D(struct cudaPitchedPtr *pitchedDevPtr, struct cudaExtent extent);
CUDA_API cudaError_t cudaMemGetInfo(size_t *free, size_t *total);
CUDA_API cudaError_t cudaHostAlloc(void **pHost, size_t size, unsigned int flags);
CUDA_API cudaError_t cudaMallocHost(void **ptr, size_t size);
CUDA_API cudaError_t cudaFreeHost(void *ptr);
CUDA_API cudaError_t cudaHostRegister(void *ptr, size_t size, unsigned int flags);
CUDA_API cudaError_t cudaHostUnregister(void *ptr);
CUDA_API cudaError_t cudaHostGetDevicePointer(void **pDevice, void *pHost, unsigned int flags);
CUDA_API cudaError_t cudaHostGetFlags(unsigned int *pFlags, void *pHost);
CUDA_API cudaError_t cudaPointerGetAttributes(struct cudaPointerAttributes *attributes, const void *ptr);
CUDA_API cudaError_t cudaMemPrefetchAsync(const void *devPtr, size_t count, struct cudaMemLocation location,
                                          unsigned int flags, cudaStream_t stream);
CUDA_API cudaError_t cudaMemAdvise(const void *devPtr, size_t count, enum cudaMemoryAdvise advice,
                                   struct cudaMemLocation location);
CUDA_API cudaError_t cudaMemRangeGetAttribute(void *data, size_t dataSize, enum cudaMemRangeAttribute attribute,
                                              const void *devPtr, size_t count);

// copy.c
CUDA_API cudaError_t cudaMemcpy(void *dst, const void *src, size_t count, enum cudaMemcpyKind kind);
CUDA_API cudaError_t cudaMemcpyAsync(void *dst, const void *src, size_t count, enum cudaMemcpyKind kind,
                                     cudaStream_t stream);
CUDA_API cudaError_t cudaMemcpyPeer(void *dst, int dstDevice, const void *src, int srcDevice, size_t count);
CUDA_API cudaError_t cudaMemcpyPeerAsync(void *dst, int dstDevice, const void *src, int srcDevice, size_t count,
                                         cudaStream_t stream);
CUDA_API cudaError_t cudaMemcpyBatchAsync(void *const *dsts, const void *const *srcs, const size_t *sizes, size_t count,
                                          struct cudaMemcpyAttributes *attrs, size_t *attrsIdxs, size_t numAttrs,
                                          cudaStream_t stream);
CUDA_API cudaError_t cudaMemcpy2D(void *dst, size_t dpitch, const void *src, size_t spitch, size_t width, size_t height,
                                  enum cudaMemcpyKind kind);
CUDA_API cudaError_t cudaMemcpy2DAsync(void *dst, size_t dpitch, const void *src, size_t spitch, size_t width,
                                       size_t height, enum cudaMemcpyKind kind, cudaStream_t stream);
CUDA_API cudaError_t cudaMemcpy2DToArray(cudaArray_t dst, size_t wOffset, size_t hOffset, const void *src,
                                         size_t spitch, size_t width, size_t height, enum cudaMemcpyKind kind);
CUDA_API cudaError_t cudaMemcpy2DToArrayAsync(cudaArray_t dst, size_t wOffset, size_t hOffset, const void *src,
                                              size_t spitch, size_t width, size_t height, enum cudaMemcpyKind kind,
                                              cudaStream_t stream);
CUDA_API cudaError_t cudaMemcpy2DFromArray(void *dst, size_t dpitch, cudaArray_const_t src, size_t wOffset,
                                           size_t hOffset, size_t width, size_t height, enum cudaMemcpyKind kind);
CUDA_API cudaError_t cudaMemcpy2DFromArrayAsync(void *dst, size_t dpitch, cudaArray_const_t src, size_t wOffset,
                                                size_t hOffset, size_t width, size_t height, enum cudaMemcpyKind kind,
                                                cudaStream_t stream);
CUDA_API cudaError_t cudaMemcpy2DArrayToArray(cudaArray_t dst, size_t wOffsetDst, size_t hOffsetDst,
                                              cudaArray_const_t src, size_t wOffsetSrc, size_t hOffsetSrc, size_t width,
                                              size_t height, enum cudaMemcpyKind kind);
CUDA_API cudaError_t cudaMemcpyToArray(cudaArray_t dst, size_t wOffset, size_t hOffset, const void *src, size_t count,
                                       enum cudaMemcpyKind kind);
CUDA_API cudaError_t cudaMemcpyToArrayAsync(cudaArray_t dst, size_t wOffset, size_t hOffset, const void *src,
                                            size_t count, enum cudaMemcpyKind kind, cudaStream_t stream);
CUDA_API cudaError_t cudaMemcpyFromArray(void *dst, cudaArray_const_t src, size_t wOffset, size_t hOffset, size_t count,
                                         enum cudaMemcpyKind kind);
CUDA_API cudaError_t cudaMemcpyFromArrayAsync(void *dst, cudaArray_const_t src, size_t wOffset, size_t hOffset,
                                              size_t count, enum cudaMemcpyKind kind, cudaStream_t stream);
CUDA_API cudaError_t cudaMemcpy3D(const struct cudaMemcpy3DParms *p);
CUDA_API cudaError_t cudaMemcpy3DAsync(const struct cudaMemcpy3DParms *p, cudaStream_t stream);
CUDA_API cudaError_t cudaMemcpy3DPeer(const struct cudaMemcpy3DPeerParms *p);
CUDA_API cudaError_t cudaMemcpy3DPeerAsync(const struct cudaMemcpy3DPeerParms *p, cudaStream_t stream);
CUDA_API cudaError_t cudaMemcpyToSymbol(const void *symbol, const void *src, size_t count, size_t offset,
                                        enum cudaMemcpyKind kind);
CUDA_API cudaError_t cudaMemcpyToSymbolAsync(const void *symbol, const void *src, size_t count, size_t offset,
                                             enum cudaMemcpyKind kind, cudaStream_t stream);
CUDA_API cudaError_t cudaMemcpyFromSymbol(void *dst, const void *symbol, size_t count, size_t offset,
                                          enum cudaMemcpyKind kind);
CUDA_API cudaError_t cudaMemcpyFromSymbolAsync(void *dst, const void *symbol, size_t count, size_t offset,
                                               enum cudaMemcpyKind kind, cudaStream_t stream);
CUDA_API cudaError_t cudaMemset(void *devPtr, int value, size_t count);
CUDA_API cudaError_t cudaMemsetAsync(void *devPtr, int value, size_t count, cudaStream_t stream);
CUDA_API cudaError_t cudaMemset2D(void *devPtr, size_t pitch, int value, size_t width, size_t height);
CUDA_API cudaError_t cudaMemset2DAsync(void *devPtr, size_t pitch, int value, size_t width, size_t height,
                                       cudaStream_t stream);
CUDA_API cudaError_t cudaMemset3D(struct cudaPitchedPtr pitchedDevPtr, int value, struct cudaExtent extent);
CUDA_API cudaError_t cudaMemset3DAsync(struct cudaPitchedPtr pitchedDevPtr, int value, struct cudaExtent extent,
                                       cudaStream_t stream);

// array.c
CUDA_API cudaError_t cudaMallocArray(cudaArray_t *array, const struct cudaChannelFormatDesc *desc, size_t width,
                                     size_t height, unsigned int flags);
CUDA_API cudaError_t cudaMalloc3DArray(cudaArray_t *array, const struct cudaChannelFormatDesc *desc,
                                       struct cudaExtent extent, unsigned int flags);
CUDA_API cudaError_t cudaFreeArray(cudaArray_t array);
CUDA_API cudaError_t cudaArrayGetInfo(struct cudaChannelFormatDesc *desc, struct cudaExtent *extent,
                                      unsigned int *flags, cudaArray_t array);
CUDA_API cudaError_t cudaGetChannelDesc(struct cudaChannelFormatDesc *desc, cudaArray_const_t array);
CUDA_API struct cudaChannelFormatDesc cudaCreateChannelDesc(int x, int y, int z, int w, enum cudaChannelFormatKind f);
CUDA_API cudaError_t cudaMallocMipmappedArray(cudaMipmappedArray_t *mipmappedArray,
                                              const struct cudaChannelFormatDesc *desc, struct cudaExtent extent,
                                              unsigned int numLevels, unsigned int flags);
CUDA_API cudaError_t cudaFreeMipmappedArray(cudaMipmappedArray_t mipmappedArray);
CUDA_API cudaError_t cudaGetMipmappedArrayLevel(cudaArray_t *levelArray, cudaMipmappedArray_const_t mipmappedArray,
                                                unsigned int level);

// texture.c
CUDA_API cudaError_t cudaCreateTextureObject(cudaTextureObject_t *pTexObject, const struct cudaResourceDesc *pResDesc,
                                             const struct cudaTextureDesc *pTexDesc,
                                             const struct cudaResourceViewDesc *pResViewDesc);
CUDA_API cudaError_t cudaDestroyTextureObject(cudaTextureObject_t texObject);
CUDA_API cudaError_t cudaCreateSurfaceObject(cudaSurfaceObject_t *pSurfObject, const struct cudaResourceDesc *pResDesc);
CUDA_API cudaError_t cudaDestroySurfaceObject(cudaSurfaceObject_t surfObject);
CUDA_API cudaError_t cudaGetTextureObjectResourceDesc(struct cudaResourceDesc *pResDesc, cudaTextureObject_t texObject);
CUDA_API cudaError_t cudaGetSurfaceObjectResourceDesc(struct cudaResourceDesc *pResDesc,
                                                      cudaSurfaceObject_t surfObject);
CUDA_API cudaError_t cudaGetTextureObjectTextureDesc(struct cudaTextureDesc *pTexDesc, cudaTextureObject_t texObject);

// module.c
CUDA_API cudaError_t cudaGetSymbolAddress(void **devPtr, const void *symbol);
CUDA_API cudaError_t cudaGetSymbolSize(size_t *size, const void *symbol);
CUDA_API void **__cudaRegisterFatBinary(void *fatCubin);
CUDA_API void __cudaRegisterFatBinaryEnd(void **fatCubinHandle);
CUDA_API void __cudaRegisterFunction(void **fatCubinHandle, const char *hostFun, char *deviceFun,
                                     const char *deviceName, int thread_limit, uint3 *tid, uint3 *bid, dim3 *bDim,
                                     dim3 *gDim, int *wSize);
CUDA_API void __cudaRegisterVar(void **fatCubinHandle, char *hostVar, char *deviceAddress, const char *deviceName,
                                int ext, size_t size, int constant, int global);
CUDA_API void __cudaRegisterManagedVar(void **fatCubinHandle, void **hostVarPtrAddress, char *deviceAddress,
                                       const char *deviceName, int ext, size_t size, int constant, int global);
CUDA_API char __cudaInitModule(void **fatCubinHandle);
CUDA_API void __cudaUnregisterFatBinary(void **fatCubinHandle);

// launch.c
CUDA_API cudaError_t cudaLaunchKernel(const void *func, dim3 gridDim, dim3 blockDim, void **args, size_t sharedMem,
                                      cudaStream_t stream);
CUDA_API cudaError_t cudaLaunchCooperativeKernel(const void *func, dim3 gridDim, dim3 blockDim, void **args,
                                                 size_t sharedMem, cudaStream_t stream);
CUDA_API cudaError_t cudaLaunchKernelExC(const cudaLaunchConfig_t *config, const void *func, void **args);
CUDA_API unsigned __cudaPushCallConfiguration(dim3 gridDim, dim3 blockDim, size_t sharedMem, cudaStream_t stream);
CUDA_API cudaError_t __cudaPopCallConfiguration(dim3 *gridDim, dim3 *blockDim, size_t *sharedMem, void *stream);
CUDA_API cudaError_t __cudaGetKernel(cudaKernel_t *kernel, const void *entry);
CUDA_API cudaError_t cudaGetKernel(cudaKernel_t *kernelPtr, const void *entryFuncAddr);
CUDA_API cudaError_t cudaGetFuncBySymbol(cudaFunction_t *functionPtr, const void *symbolPtr);
CUDA_API cudaError_t __cudaLaunchKernel(cudaKernel_t kernel, dim3 gridDim, dim3 blockDim, void **args, size_t sharedMem,
                                        cudaStream_t stream);

// function.c
CUDA_API cudaError_t cudaFuncGetAttributes(struct cudaFuncAttributes *attr, const void *func);
CUDA_API cudaError_t cudaFuncSetAttribute(const void *func, enum cudaFuncAttribute attr, int value);
CUDA_API cudaError_t cudaFuncSetCacheConfig(const void *func, enum cudaFuncCache cacheConfig);
CUDA_API cudaError_t cudaFuncSetSharedMemConfig(const void *func, enum cudaSharedMemConfig config);
CUDA_API cudaError_t cudaFuncGetName(const char **name, const void *func);
CUDA_API cudaError_t cudaFuncGetParamInfo(const void *func, size_t paramIndex, size_t *paramOffset, size_t *paramSize);
CUDA_API cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int *numBlocks, const void *func, int blockSize,
                                                                   size_t dynamicSMemSize);
CUDA_API cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int *numBlocks, const void *func,
                                                                            int blockSize, size_t dynamicSMemSize,
                                                                            unsigned int flags);
CUDA_API cudaError_t cudaOccupancyAvailableDynamicSMemPerBlock(size_t *dynamicSmemSize, const void *func, int numBlocks,
                                                               int blockSize);
CUDA_API cudaError_t cudaOccupancyMaxActiveClusters(int *numClusters, const void *func,
                                                    const cudaLaunchConfig_t *launchConfig);
CUDA_API cudaError_t cudaOccupancyMaxPotentialClusterSize(int *clusterSize, const void *func,
                                                          const cudaLaunchConfig_t *launchConfig);

// stream.c
CUDA_API cudaError_t cudaStreamCreate(cudaStream_t *pStream);
CUDA_API cudaError_t cudaStreamCreateWithFlags(cudaStream_t *pStream, unsigned int flags);
CUDA_API cudaError_t cudaStreamCreateWithPriority(cudaStream_t *pStream, unsigned int flags, int priority);
CUDA_API cudaError_t cudaStreamDestroy(cudaStream_t stream);
CUDA_API cudaError_t cudaStreamSynchronize(cudaStream_t stream);
CUDA_API cudaError_t cudaStreamQuery(cudaStream_t stream);
CUDA_API cudaError_t cudaDeviceSynchronize(void);
CUDA_API cudaError_t cudaStreamGetPriority(cudaStream_t hStream, int *priority);
CUDA_API cudaError_t cudaStreamGetFlags(cudaStream_t hStream, unsigned int *flags);
CUDA_API cudaError_t cudaStreamGetId(cudaStream_t hStream, unsigned long long *streamId);
CUDA_API cudaError_t cudaStreamGetDevice(cudaStream_t hStream, int *device);
CUDA_API cudaError_t cudaDeviceGetStreamPriorityRange(int *leastPriority, int *greatestPriority);
CUDA_API cudaError_t cudaStreamGetAttribute(cudaStream_t hStream, cudaLaunchAttributeID attr,
                                            cudaLaunchAttributeValue *value);
CUDA_API cudaError_t cudaStreamSetAttribute(cudaStream_t hStream, cudaLaunchAttributeID attr,
                                            const cudaLaunchAttributeValue *value);
CUDA_API cudaError_t cudaStreamCopyAttributes(cudaStream_t dst, cudaStream_t src);
CUDA_API cudaError_t cudaLaunchHostFunc(cudaStream_t stream, cudaHostFn_t fn, void *userData);
CUDA_API cudaError_t cudaStreamAddCallback(cudaStream_t stream, cudaStreamCallback_t callback, void *userData,
                                           unsigned int flags);
CUDA_API cudaError_t cudaStreamAttachMemAsync(cudaStream_t stream, void *devPtr, size_t length, unsigned int flags);

// event.c
CUDA_API cudaError_t cudaEventCreate(cudaEvent_t *event);
CUDA_API cudaError_t cudaEventCreateWithFlags(cudaEvent_t *event, unsigned int flags);
CUDA_API cudaError_t cudaEventDestroy(cudaEvent_t event);
CUDA_API cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream);
CUDA_API cudaError_t cudaEventRecordWithFlags(cudaEvent_t event, cudaStream_t stream, unsigned int flags);
CUDA_API cudaError_t cudaEventQuery(cudaEvent_t event);
CUDA_API cudaError_t cudaEventSynchronize(cudaEvent_t event);
CUDA_API cudaError_t cudaEventElapsedTime(float *ms, cudaEvent_t start, cudaEvent_t end);
CUDA_API cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned int flags);

// capture.c
CUDA_API cudaError_t cudaStreamBeginCapture(cudaStream_t stream, enum cudaStreamCaptureMode mode);
CUDA_API cudaError_t cudaStreamBeginCaptureToGraph(cudaStream_t stream, cudaGraph_t graph,
                                                   const cudaGraphNode_t *dependencies,
                                                   const cudaGraphEdgeData *dependencyData, size_t numDependencies,
                                                   enum cudaStreamCaptureMode mode);
CUDA_API cudaError_t cudaStreamEndCapture(cudaStream_t stream, cudaGraph_t *pGraph);
CUDA_API cudaError_t cudaStreamIsCapturing(cudaStream_t stream, enum cudaStreamCaptureStatus *pCaptureStatus);
CUDA_API cudaError_t cudaStreamGetCaptureInfo(cudaStream_t stream, enum cudaStreamCaptureStatus *captureStatus_out,
                                              unsigned long long *id_out, cudaGraph_t *graph_out,
                                              const cudaGraphNode_t **dependencies_out,
                                              const cudaGraphEdgeData **edgeData_out, size_t *numDependencies_out);
CUDA_API cudaError_t cudaStreamUpdateCaptureDependencies(cudaStream_t stream, cudaGraphNode_t *dependencies,
                                                         const cudaGraphEdgeData *dependencyData,
                                                         size_t numDependencies, unsigned int flags);
CUDA_API cudaError_t cudaThreadExchangeStreamCaptureMode(enum cudaStreamCaptureMode *mode);

// pool.c
CUDA_API cudaError_t cudaMallocAsync(void **devPtr, size_t size, cudaStream_t hStream);
CUDA_API cudaError_t cudaMallocFromPoolAsync(void **ptr, size_t size, cudaMemPool_t memPool, cudaStream_t stream);
CUDA_API cudaError_t cudaFreeAsync(void *devPtr, cudaStream_t hStream);
CUDA_API cudaError_t cudaMemPoolCreate(cudaMemPool_t *memPool, const struct cudaMemPoolProps *poolProps);
CUDA_API cudaError_t cudaMemPoolDestroy(cudaMemPool_t memPool);
CUDA_API cudaError_t cudaDeviceGetDefaultMemPool(cudaMemPool_t *memPool, int device);
CUDA_API cudaError_t cudaDeviceGetMemPool(cudaMemPool_t *memPool, int device);
CUDA_API cudaError_t cudaDeviceSetMemPool(int device, cudaMemPool_t memPool);
CUDA_API cudaError_t cudaMemPoolTrimTo(cudaMemPool_t memPool, size_t minBytesToKeep);
CUDA_API cudaError_t cudaMemPoolSetAttribute(cudaMemPool_t memPool, enum cudaMemPoolAttr attr, void *value);
CUDA_API cudaError_t cudaMemPoolGetAttribute(cudaMemPool_t memPool, enum cudaMemPoolAttr attr, void *value);
CUDA_API cudaError_t cudaMemPoolSetAccess(cudaMemPool_t memPool, const struct cudaMemAccessDesc *descList,
                                          size_t count);
CUDA_API cudaError_t cudaMemPoolGetAccess(enum cudaMemAccessFlags *flags, cudaMemPool_t memPool,
                                          struct cudaMemLocation *location);

// graph_nodes.c
CUDA_API cudaError_t cudaGraphCreate(cudaGraph_t *pGraph, unsigned int flags);
CUDA_API cudaError_t cudaGraphDestroy(cudaGraph_t graph);
CUDA_API cudaError_t cudaGraphClone(cudaGraph_t *pGraphClone, cudaGraph_t originalGraph);
CUDA_API cudaError_t cudaGraphNodeFindInClone(cudaGraphNode_t *pNode, cudaGraphNode_t originalNode,
                                              cudaGraph_t clonedGraph);
CUDA_API cudaError_t cudaGraphAddKernelNode(cudaGraphNode_t *pGraphNode, cudaGraph_t graph,
                                            const cudaGraphNode_t *pDependencies, size_t numDependencies,
                                            const struct cudaKernelNodeParams *pNodeParams);
CUDA_API cudaError_t cudaGraphAddMemcpyNode(cudaGraphNode_t *pGraphNode, cudaGraph_t graph,
                                            const cudaGraphNode_t *pDependencies, size_t numDependencies,
                                            const struct cudaMemcpy3DParms *pCopyParams);
CUDA_API cudaError_t cudaGraphAddMemcpyNode1D(cudaGraphNode_t *pGraphNode, cudaGraph_t graph,
                                              const cudaGraphNode_t *pDependencies, size_t numDependencies, void *dst,
                                              const void *src, size_t count, enum cudaMemcpyKind kind);
CUDA_API cudaError_t cudaGraphAddMemcpyNodeToSymbol(cudaGraphNode_t *pGraphNode, cudaGraph_t graph,
                                                    const cudaGraphNode_t *pDependencies, size_t numDependencies,
                                                    const void *symbol, const void *src, size_t count, size_t offset,
                                                    enum cudaMemcpyKind kind);
CUDA_API cudaError_t cudaGraphAddMemcpyNodeFromSymbol(cudaGraphNode_t *pGraphNode, cudaGraph_t graph,
                                                      const cudaGraphNode_t *pDependencies, size_t numDependencies,
                                                      void *dst, const void *symbol, size_t count, size_t offset,
                                                      enum cudaMemcpyKind kind);
CUDA_API cudaError_t cudaGraphAddMemsetNode(cudaGraphNode_t *pGraphNode, cudaGraph_t graph,
                                            const cudaGraphNode_t *pDependencies, size_t numDependencies,
                                            const struct cudaMemsetParams *pMemsetParams);
CUDA_API cudaError_t cudaGraphAddHostNode(cudaGraphNode_t *pGraphNode, cudaGraph_t graph,
                                          const cudaGraphNode_t *pDependencies, size_t numDependencies,
                                          const struct cudaHostNodeParams *pNodeParams);
CUDA_API cudaError_t cudaGraphAddChildGraphNode(cudaGraphNode_t *pGraphNode, cudaGraph_t graph,
                                                const cudaGraphNode_t *pDependencies, size_t numDependencies,
                                                cudaGraph_t childGraph);
CUDA_API cudaError_t cudaGraphAddEmptyNode(cudaGraphNode_t *pGraphNode, cudaGraph_t graph,
                                           const cudaGraphNode_t *pDependencies, size_t numDependencies);
CUDA_API cudaError_t cudaGraphAddEventRecordNode(cudaGraphNode_t *pGraphNode, cudaGraph_t graph,
                                                 const cudaGraphNode_t *pDependencies, size_t numDependencies,
                                                 cudaEvent_t event);
CUDA_API cudaError_t cudaGraphAddEventWaitNode(cudaGraphNode_t *pGraphNode, cudaGraph_t graph,
                                               const cudaGraphNode_t *pDependencies, size_t numDependencies,
                                               cudaEvent_t event);
CUDA_API cudaError_t cudaGraphAddMemAllocNode(cudaGraphNode_t *pGraphNode, cudaGraph_t graph,
                                              const cudaGraphNode_t *pDependencies, size_t numDependencies,
                                              struct cudaMemAllocNodeParams *nodeParams);
CUDA_API cudaError_t cudaGraphAddMemFreeNode(cudaGraphNode_t *pGraphNode, cudaGraph_t graph,
                                             const cudaGraphNode_t *pDependencies, size_t numDependencies, void *dptr);
CUDA_API cudaError_t cudaGraphAddNode(cudaGraphNode_t *pGraphNode, cudaGraph_t graph,
                                      const cudaGraphNode_t *pDependencies, const cudaGraphEdgeData *dependencyData,
                                      size_t numDependencies, struct cudaGraphNodeParams *nodeParams);
CUDA_API cudaError_t cudaGraphKernelNodeGetParams(cudaGraphNode_t node, struct cudaKernelNodeParams *pNodeParams);
CUDA_API cudaError_t cudaGraphMemcpyNodeGetParams(cudaGraphNode_t node, struct cudaMemcpy3DParms *pNodeParams);
CUDA_API cudaError_t cudaGraphMemsetNodeGetParams(cudaGraphNode_t node, struct cudaMemsetParams *pNodeParams);
CUDA_API cudaError_t cudaGraphHostNodeGetParams(cudaGraphNode_t node, struct cudaHostNodeParams *pNodeParams);
CUDA_API cudaError_t cudaGraphMemAllocNodeGetParams(cudaGraphNode_t node, struct cudaMemAllocNodeParams *params_out);
CUDA_API cudaError_t cudaGraphMemFreeNodeGetParams(cudaGraphNode_t node, void *dptr_out);
CUDA_API cudaError_t cudaGraphChildGraphNodeGetGraph(cudaGraphNode_t node, cudaGraph_t *pGraph);
CUDA_API cudaError_t cudaGraphEventRecordNodeGetEvent(cudaGraphNode_t node, cudaEvent_t *event_out);
CUDA_API cudaError_t cudaGraphEventWaitNodeGetEvent(cudaGraphNode_t node, cudaEvent_t *event_out);
CUDA_API cudaError_t cudaGraphKernelNodeSetParams(cudaGraphNode_t node, const struct cudaKernelNodeParams *pNodeParams);
CUDA_API cudaError_t cudaGraphMemcpyNodeSetParams(cudaGraphNode_t node, const struct cudaMemcpy3DParms *pNodeParams);
CUDA_API cudaError_t cudaGraphMemcpyNodeSetParams1D(cudaGraphNode_t node, void *dst, const void *src, size_t count,
                                                    enum cudaMemcpyKind kind);
CUDA_API cudaError_t cudaGraphMemcpyNodeSetParamsToSymbol(cudaGraphNode_t node, const void *symbol, const void *src,
                                                          size_t count, size_t offset, enum cudaMemcpyKind kind);
CUDA_API cudaError_t cudaGraphMemcpyNodeSetParamsFromSymbol(cudaGraphNode_t node, void *dst, const void *symbol,
                                                            size_t count, size_t offset, enum cudaMemcpyKind kind);
CUDA_API cudaError_t cudaGraphMemsetNodeSetParams(cudaGraphNode_t node, const struct cudaMemsetParams *pNodeParams);
CUDA_API cudaError_t cudaGraphHostNodeSetParams(cudaGraphNode_t node, const struct cudaHostNodeParams *pNodeParams);
CUDA_API cudaError_t cudaGraphEventRecordNodeSetEvent(cudaGraphNode_t node, cudaEvent_t event);
CUDA_API cudaError_t cudaGraphEventWaitNodeSetEvent(cudaGraphNode_t node, cudaEvent_t event);
CUDA_API cudaError_t cudaGraphNodeSetParams(cudaGraphNode_t node, struct cudaGraphNodeParams *nodeParams);
CUDA_API cudaError_t cudaGraphKernelNodeSetAttribute(cudaGraphNode_t hNode, cudaLaunchAttributeID attr,
                                                     const cudaLaunchAttributeValue *value);
CUDA_API cudaError_t cudaGraphKernelNodeGetAttribute(cudaGraphNode_t hNode, cudaLaunchAttributeID attr,
                                                     cudaLaunchAttributeValue *value_out);
CUDA_API cudaError_t cudaGraphKernelNodeCopyAttributes(cudaGraphNode_t hDst, cudaGraphNode_t hSrc);

// graph_edges.c
CUDA_API cudaError_t cudaGraphGetNodes(cudaGraph_t graph, cudaGraphNode_t *nodes, size_t *numNodes);
CUDA_API cudaError_t cudaGraphGetRootNodes(cudaGraph_t graph, cudaGraphNode_t *pRootNodes, size_t *pNumRootNodes);
CUDA_API cudaError_t cudaGraphGetEdges(cudaGraph_t graph, cudaGraphNode_t *from, cudaGraphNode_t *to,
                                       cudaGraphEdgeData *edgeData, size_t *numEdges);
CUDA_API cudaError_t cudaGraphNodeGetDependencies(cudaGraphNode_t node, cudaGraphNode_t *pDependencies,
                                                  cudaGraphEdgeData *edgeData, size_t *pNumDependencies);
CUDA_API cudaError_t cudaGraphNodeGetDependentNodes(cudaGraphNode_t node, cudaGraphNode_t *pDependentNodes,
                                                    cudaGraphEdgeData *edgeData, size_t *pNumDependentNodes);
CUDA_API cudaError_t cudaGraphAddDependencies(cudaGraph_t graph, const cudaGraphNode_t *from, const cudaGraphNode_t *to,
                                              const cudaGraphEdgeData *edgeData, size_t numDependencies);
CUDA_API cudaError_t cudaGraphRemoveDependencies(cudaGraph_t graph, const cudaGraphNode_t *from,
                                                 const cudaGraphNode_t *to, const cudaGraphEdgeData *edgeData,
                                                 size_t numDependencies);
CUDA_API cudaError_t cudaGraphDestroyNode(cudaGraphNode_t node);
CUDA_API cudaError_t cudaGraphNodeGetType(cudaGraphNode_t node, enum cudaGraphNodeType *pType);
CUDA_API cudaError_t cudaGraphDebugDotPrint(cudaGraph_t graph, const char *path, unsigned int flags);

// graph_exec.c
CUDA_API cudaError_t cudaGraphInstantiate(cudaGraphExec_t *pGraphExec, cudaGraph_t graph, unsigned long long flags);
CUDA_API cudaError_t cudaGraphInstantiateWithFlags(cudaGraphExec_t *pGraphExec, cudaGraph_t graph,
                                                   unsigned long long flags);
CUDA_API cudaError_t cudaGraphInstantiateWithParams(cudaGraphExec_t *pGraphExec, cudaGraph_t graph,
                                                    cudaGraphInstantiateParams *instantiateParams);
CUDA_API cudaError_t cudaGraphExecDestroy(cudaGraphExec_t graphExec);
CUDA_API cudaError_t cudaGraphExecGetFlags(cudaGraphExec_t graphExec, unsigned long long *flags);
CUDA_API cudaError_t cudaGraphLaunch(cudaGraphExec_t graphExec, cudaStream_t stream);
CUDA_API cudaError_t cudaGraphUpload(cudaGraphExec_t graphExec, cudaStream_t stream);
CUDA_API cudaError_t cudaGraphExecKernelNodeSetParams(cudaGraphExec_t hGraphExec, cudaGraphNode_t node,
                                                      const struct cudaKernelNodeParams *pNodeParams);
CUDA_API cudaError_t cudaGraphExecMemcpyNodeSetParams(cudaGraphExec_t hGraphExec, cudaGraphNode_t node,
                                                      const struct cudaMemcpy3DParms *pNodeParams);
CUDA_API cudaError_t cudaGraphExecMemcpyNodeSetParams1D(cudaGraphExec_t hGraphExec, cudaGraphNode_t node, void *dst,
                                                        const void *src, size_t count, enum cudaMemcpyKind kind);
CUDA_API cudaError_t cudaGraphExecMemcpyNodeSetParamsToSymbol(cudaGraphExec_t hGraphExec, cudaGraphNode_t node,
                                                              const void *symbol, const void *src, size_t count,
                                                              size_t offset, enum cudaMemcpyKind kind);
CUDA_API cudaError_t cudaGraphExecMemcpyNodeSetParamsFromSymbol(cudaGraphExec_t hGraphExec, cudaGraphNode_t node,
                                                                void *dst, const void *symbol, size_t count,
                                                                size_t offset, enum cudaMemcpyKind kind);
CUDA_API cudaError_t cudaGraphExecMemsetNodeSetParams(cudaGraphExec_t hGraphExec, cudaGraphNode_t node,
                                                      const struct cudaMemsetParams *pNodeParams);
CUDA_API cudaError_t cudaGraphExecHostNodeSetParams(cudaGraphExec_t hGraphExec, cudaGraphNode_t node,
                                                    const struct cudaHostNodeParams *pNodeParams);
CUDA_API cudaError_t cudaGraphExecChildGraphNodeSetParams(cudaGraphExec_t hGraphExec, cudaGraphNode_t node,
                                                          cudaGraph_t childGraph);
CUDA_API cudaError_t cudaGraphExecEventRecordNodeSetEvent(cudaGraphExec_t hGraphExec, cudaGraphNode_t hNode,
                                                          cudaEvent_t event);
CUDA_API cudaError_t cudaGraphExecEventWaitNodeSetEvent(cudaGraphExec_t hGraphExec, cudaGraphNode_t hNode,
                                                        cudaEvent_t event);
CUDA_API cudaError_t cudaGraphExecNodeSetParams(cudaGraphExec_t graphExec, cudaGraphNode_t node,
                                                struct cudaGraphNodeParams *nodeParams);
CUDA_API cudaError_t cudaGraphNodeSetEnabled(cudaGraphExec_t hGraphExec, cudaGraphNode_t hNode, unsigned int isEnabled);
CUDA_API cudaError_t cudaGraphNodeGetEnabled(cudaGraphExec_t hGraphExec, cudaGraphNode_t hNode,
                                             unsigned int *isEnabled);
CUDA_API cudaError_t cudaGraphExecUpdate(cudaGraphExec_t hGraphExec, cudaGraph_t hGraph,
                                         cudaGraphExecUpdateResultInfo *resultInfo);
CUDA_API cudaError_t cudaDeviceGetGraphMemAttribute(int device, enum cudaGraphMemAttributeType attr, void *value);
CUDA_API cudaError_t cudaDeviceSetGraphMemAttribute(int device, enum cudaGraphMemAttributeType attr, void *value);
CUDA_API cudaError_t cudaDeviceGraphMemTrim(int device);

// graph_condition.c
CUDA_API cudaError_t cudaGraphConditionalHandleCreate(cudaGraphConditionalHandle *pHandle_out, cudaGraph_t graph,
                                                      unsigned int defaultLaunchValue, unsigned int flags);

// sharing.c
CUDA_API cudaError_t cudaIpcGetEventHandle(cudaIpcEventHandle_t *handle, cudaEvent_t event);
CUDA_API cudaError_t cudaIpcOpenEventHandle(cudaEvent_t *event, cudaIpcEventHandle_t handle);
CUDA_API cudaError_t cudaIpcGetMemHandle(cudaIpcMemHandle_t *handle, void *devPtr);
CUDA_API cudaError_t cudaIpcOpenMemHandle(void **devPtr, cudaIpcMemHandle_t handle, unsigned int flags);
CUDA_API cudaError_t cudaIpcCloseMemHandle(void *devPtr);
CUDA_API cudaError_t cudaMemPoolExportToShareableHandle(void *shareableHandle, cudaMemPool_t memPool, int handleType,
                                                        unsigned int flags);
CUDA_API cudaError_t cudaMemPoolImportFromShareableHandle(cudaMemPool_t *memPool, void *shareableHandle, int handleType,
                                                          unsigned int flags);
CUDA_API cudaError_t cudaMemPoolExportPointer(void *exportData, void *ptr);
CUDA_API cudaError_t cudaMemPoolImportPointer(void **ptr, cudaMemPool_t memPool, void *exportData);
CUDA_API cudaError_t cudaDeviceFlushGPUDirectRDMAWrites(int target, int scope);
CUDA_API cudaError_t cudaDeviceGetHostAtomicCapabilities(unsigned int *capabilities, const int *operations,
                                                         unsigned int count, int device);
CUDA_API cudaError_t cudaDeviceGetP2PAtomicCapabilities(unsigned int *capabilities, const int *operations,
                                                        unsigned int count, int srcDevice, int dstDevice);

// managed.c
CUDA_API cudaError_t cudaMemRangeGetAttributes(void **data, size_t *dataSizes, enum cudaMemRangeAttribute *attributes,
                                               size_t numAttributes, const void *devPtr, size_t count);
CUDA_API cudaError_t cudaMemPrefetchBatchAsync(void **dptrs, size_t *sizes, size_t count,
                                               struct cudaMemLocation *prefetchLocs, size_t *prefetchLocIdxs,
                                               size_t numPrefetchLocs, unsigned long long flags, cudaStream_t stream);
CUDA_API cudaError_t cudaMemDiscardBatchAsync(void **dptrs, size_t *sizes, size_t count, unsigned long long flags,
                                              cudaStream_t stream);
CUDA_API cudaError_t cudaMemDiscardAndPrefetchBatchAsync(void **dptrs, size_t *sizes, size_t count,
                                                         struct cudaMemLocation *prefetchLocs, size_t *prefetchLocIdxs,
                                                         size_t numPrefetchLocs, unsigned long long flags,
                                                         cudaStream_t stream);

// copy_more.c
CUDA_API cudaError_t cudaMemcpy3DBatchAsync(size_t numOps, struct cudaMemcpy3DBatchOp *opList, unsigned long long flags,
                                            cudaStream_t stream);
CUDA_API cudaError_t cudaMemcpyArrayToArray(cudaArray_t dst, size_t wOffsetDst, size_t hOffsetDst,
                                            cudaArray_const_t src, size_t wOffsetSrc, size_t hOffsetSrc, size_t count,
                                            enum cudaMemcpyKind kind);

// array.c, also
CUDA_API cudaError_t cudaArrayGetPlane(cudaArray_t *pPlaneArray, cudaArray_t hArray, unsigned int planeIdx);
CUDA_API cudaError_t cudaArrayGetMemoryRequirements(struct cudaArrayMemoryRequirements *memoryRequirements,
                                                    cudaArray_t array, int device);
CUDA_API cudaError_t cudaMipmappedArrayGetMemoryRequirements(struct cudaArrayMemoryRequirements *memoryRequirements,
                                                             cudaMipmappedArray_t mipmap, int device);
CUDA_API cudaError_t cudaArrayGetSparseProperties(struct cudaArraySparseProperties *sparseProperties,
                                                  cudaArray_t array);
CUDA_API cudaError_t cudaMipmappedArrayGetSparseProperties(struct cudaArraySparseProperties *sparseProperties,
                                                           cudaMipmappedArray_t mipmap);

// pool.c, also
CUDA_API cudaError_t cudaMemGetDefaultMemPool(cudaMemPool_t *memPool, struct cudaMemLocation *location,
                                              enum cudaMemAllocationType type);
CUDA_API cudaError_t cudaMemGetMemPool(cudaMemPool_t *memPool, struct cudaMemLocation *location,
                                       enum cudaMemAllocationType type);
CUDA_API cudaError_t cudaMemSetMemPool(struct cudaMemLocation *location, enum cudaMemAllocationType type,
                                       cudaMemPool_t memPool);

// texture.c, also
CUDA_API cudaError_t cudaGetTextureObjectResourceViewDesc(struct cudaResourceViewDesc *pResViewDesc,
                                                          cudaTextureObject_t texObject);

// user_object.c
CUDA_API cudaError_t cudaUserObjectCreate(cudaUserObject_t *object_out, void *ptr, cudaHostFn_t destroy,
                                          unsigned int initialRefcount, unsigned int flags);
CUDA_API cudaError_t cudaUserObjectRetain(cudaUserObject_t object, unsigned int count);
CUDA_API cudaError_t cudaUserObjectRelease(cudaUserObject_t object, unsigned int count);
CUDA_API cudaError_t cudaGraphRetainUserObject(cudaGraph_t graph, cudaUserObject_t object, unsigned int count,
                                               unsigned int flags);
CUDA_API cudaError_t cudaGraphReleaseUserObject(cudaGraph_t graph, cudaUserObject_t object, unsigned int count);

// driver/driver_table.c
CUDA_API cudaError_t cudaGetDriverEntryPoint(const char *symbol, void **funcPtr, unsigned long long flags,
                                             enum cudaDriverEntryPointQueryResult *driverStatus);
CUDA_API cudaError_t cudaGetDriverEntryPointByVersion(const char *symbol, void **funcPtr, unsigned int cudaVersion,
                                                      unsigned long long flags,
                                                      enum cudaDriverEntryPointQueryResult *driverStatus);

// driver/library.c; the options are enum cudaJitOption and enum cudaLibraryOption
CUDA_API cudaError_t cudaLibraryLoadData(cudaLibrary_t *library, const void *code, const int *jitOptions,
                                         void **jitOptionsValues, unsigned int numJitOptions, const int *libraryOptions,
                                         void **libraryOptionValues, unsigned int numLibraryOptions);
CUDA_API cudaError_t cudaLibraryLoadFromFile(cudaLibrary_t *library, const char *fileName, const int *jitOptions,
                                             void **jitOptionsValues, unsigned int numJitOptions,
                                             const int *libraryOptions, void **libraryOptionValues,
                                             unsigned int numLibraryOptions);
CUDA_API cudaError_t cudaLibraryUnload(cudaLibrary_t library);
CUDA_API cudaError_t cudaLibraryGetKernel(cudaKernel_t *pKernel, cudaLibrary_t library, const char *name);
CUDA_API cudaError_t cudaLibraryGetGlobal(void **dptr, size_t *bytes, cudaLibrary_t library, const char *name);
CUDA_API cudaError_t cudaLibraryGetManaged(void **dptr, size_t *bytes, cudaLibrary_t library, const char *name);
CUDA_API cudaError_t cudaLibraryGetKernelCount(unsigned int *count, cudaLibrary_t lib);
CUDA_API cudaError_t cudaLibraryEnumerateKernels(cudaKernel_t *kernels, unsigned int numKernels, cudaLibrary_t lib);

#endif
