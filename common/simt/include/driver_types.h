#pragma once
/// \file
/// Types and constants of the CUDA runtime, with CUDA's values.

#define __DRIVER_TYPES_H__  // by which other headers know it
#include <cstddef>

#include "host_defines.h"
#include "vector_types.h"

enum cudaError {
#define SIMT_ERROR(name, number, text) name = number,
#include "simt_errors.h"
#undef SIMT_ERROR
};
using cudaError_t = cudaError;

using cudaStream_t = struct CUstream_st*;
using cudaEvent_t = struct CUevent_st*;
using cudaMemPool_t = struct CUmemPoolHandle_st*;
using cudaGraph_t = struct CUgraph_st*;
using cudaGraphNode_t = struct CUgraphNode_st*;
using cudaGraphExec_t = struct CUgraphExec_st*;
using cudaHostFn_t = void (*)(void* data);
using cudaStreamCallback_t = void (*)(cudaStream_t stream, cudaError_t status, void* data);

// Streams and events
#define cudaStreamDefault 0x00
#define cudaStreamNonBlocking 0x01
#define cudaStreamLegacy ((cudaStream_t)0x1)
#define cudaStreamPerThread ((cudaStream_t)0x2)
#define cudaStreamTailLaunch ((cudaStream_t)0x3)
#define cudaStreamFireAndForget ((cudaStream_t)0x4)
#define cudaEventDefault 0x00
#define cudaEventBlockingSync 0x01
#define cudaEventDisableTiming 0x02
#define cudaEventInterprocess 0x04
#define cudaEventRecordDefault 0x00
#define cudaEventRecordExternal 0x01
#define cudaEventWaitDefault 0x00
#define cudaEventWaitExternal 0x01

// Functions of the driver
#define cudaEnableDefault 0x0
#define cudaEnableLegacyStream 0x1
#define cudaEnablePerThreadDefaultStream 0x2
enum cudaDriverEntryPointQueryResult {
  cudaDriverEntryPointSuccess = 0,
  cudaDriverEntryPointSymbolNotFound = 1,
  cudaDriverEntryPointVersionNotSufficent = 2
};

// Flags
#define cudaHostAllocDefault 0x00
#define cudaHostAllocPortable 0x01
#define cudaHostAllocMapped 0x02
#define cudaHostAllocWriteCombined 0x04
#define cudaHostRegisterDefault 0x00
#define cudaHostRegisterPortable 0x01
#define cudaHostRegisterMapped 0x02
#define cudaHostRegisterIoMemory 0x04
#define cudaHostRegisterReadOnly 0x08
#define cudaMemAttachGlobal 0x01
#define cudaMemAttachHost 0x02
#define cudaMemAttachSingle 0x04
#define cudaDeviceScheduleAuto 0x00
#define cudaDeviceScheduleSpin 0x01
#define cudaDeviceScheduleYield 0x02
#define cudaDeviceScheduleBlockingSync 0x04
#define cudaDeviceMapHost 0x08
#define cudaDeviceLmemResizeToMax 0x10
#define cudaOccupancyDefault 0x00
#define cudaOccupancyDisableCachingOverride 0x01
#define cudaCpuDeviceId ((int)-1)
#define cudaInvalidDeviceId ((int)-2)

enum cudaMemcpyKind {
  cudaMemcpyHostToHost = 0,
  cudaMemcpyHostToDevice = 1,
  cudaMemcpyDeviceToHost = 2,
  cudaMemcpyDeviceToDevice = 3,
  cudaMemcpyDefault = 4
};

enum cudaMemoryType {
  cudaMemoryTypeUnregistered = 0,
  cudaMemoryTypeHost = 1,
  cudaMemoryTypeDevice = 2,
  cudaMemoryTypeManaged = 3
};
// Boxes of pitched memory. Arrays (cudaArray_t) are not here: they serve textures.
struct cudaExtent {
  std::size_t width, height, depth;  ///< bytes, rows, slices
};
struct cudaPos {
  std::size_t x, y, z;
};
struct cudaPitchedPtr {
  void* ptr;
  std::size_t pitch, xsize, ysize;
};
struct cudaMemcpy3DParms {
  struct cudaArray* srcArray;
  cudaPos srcPos;
  cudaPitchedPtr srcPtr;
  struct cudaArray* dstArray;
  cudaPos dstPos;
  cudaPitchedPtr dstPtr;
  cudaExtent extent;
  cudaMemcpyKind kind;
};
inline cudaExtent make_cudaExtent(std::size_t width, std::size_t height, std::size_t depth) {
  return {width, height, depth};
}
inline cudaPos make_cudaPos(std::size_t x, std::size_t y, std::size_t z) { return {x, y, z}; }
inline cudaPitchedPtr make_cudaPitchedPtr(void* p, std::size_t pitch, std::size_t width,
                                          std::size_t height) {
  return {p, pitch, width, height};
}

struct cudaPointerAttributes {
  cudaMemoryType type;
  int device;
  void* devicePointer;
  void* hostPointer;
};

enum cudaMemoryAdvise {
  cudaMemAdviseSetReadMostly = 1,
  cudaMemAdviseUnsetReadMostly = 2,
  cudaMemAdviseSetPreferredLocation = 3,
  cudaMemAdviseUnsetPreferredLocation = 4,
  cudaMemAdviseSetAccessedBy = 5,
  cudaMemAdviseUnsetAccessedBy = 6
};
enum cudaMemLocationType {
  cudaMemLocationTypeInvalid = 0,
  cudaMemLocationTypeNone = 0,
  cudaMemLocationTypeDevice = 1,
  cudaMemLocationTypeHost = 2,
  cudaMemLocationTypeHostNuma = 3,
  cudaMemLocationTypeHostNumaCurrent = 4
};
struct cudaMemLocation {
  cudaMemLocationType type;
  int id;
};
enum cudaMemPoolAttr {
  cudaMemPoolReuseFollowEventDependencies = 1,
  cudaMemPoolReuseAllowOpportunistic = 2,
  cudaMemPoolReuseAllowInternalDependencies = 3,
  cudaMemPoolAttrReleaseThreshold = 4,
  cudaMemPoolAttrReservedMemCurrent = 5,
  cudaMemPoolAttrReservedMemHigh = 6,
  cudaMemPoolAttrUsedMemCurrent = 7,
  cudaMemPoolAttrUsedMemHigh = 8
};
enum cudaMemAllocationType {
  cudaMemAllocationTypeInvalid = 0,
  cudaMemAllocationTypePinned = 1,
  cudaMemAllocationTypeManaged = 2,
  cudaMemAllocationTypeMax = 0x7fffffff
};
enum cudaMemAllocationHandleType {
  cudaMemHandleTypeNone = 0,
  cudaMemHandleTypePosixFileDescriptor = 1,
  cudaMemHandleTypeWin32 = 2,
  cudaMemHandleTypeWin32Kmt = 4,
  cudaMemHandleTypeFabric = 8
};
struct cudaMemPoolProps {
  cudaMemAllocationType allocType;
  cudaMemAllocationHandleType handleTypes;
  cudaMemLocation location;
  void* win32SecurityAttributes;
  std::size_t maxSize;
  unsigned short usage;
  unsigned char reserved[54];
};
enum cudaMemAccessFlags {
  cudaMemAccessFlagsProtNone = 0,
  cudaMemAccessFlagsProtRead = 1,
  cudaMemAccessFlagsProtReadWrite = 3
};
struct cudaMemAccessDesc {
  cudaMemLocation location;
  cudaMemAccessFlags flags;
};

enum cudaLimit {
  cudaLimitStackSize = 0,
  cudaLimitPrintfFifoSize = 1,
  cudaLimitMallocHeapSize = 2,
  cudaLimitDevRuntimeSyncDepth = 3,
  cudaLimitDevRuntimePendingLaunchCount = 4,
  cudaLimitMaxL2FetchGranularity = 5,
  cudaLimitPersistingL2CacheSize = 6
};

enum cudaFuncAttribute {
  cudaFuncAttributeMaxDynamicSharedMemorySize = 8,
  cudaFuncAttributePreferredSharedMemoryCarveout = 9,
  cudaFuncAttributeClusterDimMustBeSet = 10,
  cudaFuncAttributeRequiredClusterWidth = 11,
  cudaFuncAttributeRequiredClusterHeight = 12,
  cudaFuncAttributeRequiredClusterDepth = 13,
  cudaFuncAttributeNonPortableClusterSizeAllowed = 14,
  cudaFuncAttributeClusterSchedulingPolicyPreference = 15,
  cudaFuncAttributeMax
};
enum cudaFuncCache {
  cudaFuncCachePreferNone = 0,
  cudaFuncCachePreferShared = 1,
  cudaFuncCachePreferL1 = 2,
  cudaFuncCachePreferEqual = 3
};
enum cudaSharedCarveout {
  cudaSharedmemCarveoutDefault = -1,
  cudaSharedmemCarveoutMaxShared = 100,
  cudaSharedmemCarveoutMaxL1 = 0
};
struct cudaFuncAttributes {
  std::size_t sharedSizeBytes;  ///< unknown here: 0
  std::size_t constSizeBytes;
  std::size_t localSizeBytes;
  int maxThreadsPerBlock;
  int numRegs;  ///< unknown here: 0
  int ptxVersion;
  int binaryVersion;
  int cacheModeCA;
  int maxDynamicSharedSizeBytes;
  int preferredShmemCarveout;
};

// Launches with attributes
enum cudaLaunchAttributeID {
  cudaLaunchAttributeIgnore = 0,
  cudaLaunchAttributeAccessPolicyWindow = 1,
  cudaLaunchAttributeCooperative = 2,
  cudaLaunchAttributeSynchronizationPolicy = 3,
  cudaLaunchAttributeClusterDimension = 4,
  cudaLaunchAttributeClusterSchedulingPolicyPreference = 5,
  cudaLaunchAttributeProgrammaticStreamSerialization = 6,
  cudaLaunchAttributeProgrammaticEvent = 7,
  cudaLaunchAttributePriority = 8,
  cudaLaunchAttributeMemSyncDomainMap = 9,
  cudaLaunchAttributeMemSyncDomain = 10,
  cudaLaunchAttributePreferredClusterDimension = 11,
  cudaLaunchAttributeLaunchCompletionEvent = 12,
  cudaLaunchAttributeDeviceUpdatableKernelNode = 13,
  cudaLaunchAttributePreferredSharedMemoryCarveout = 14
};
enum cudaClusterSchedulingPolicy {
  cudaClusterSchedulingPolicyDefault = 0,
  cudaClusterSchedulingPolicySpread = 1,
  cudaClusterSchedulingPolicyLoadBalancing = 2
};
union cudaLaunchAttributeValue {
  char pad[64];
  int cooperative;
  struct {
    unsigned x, y, z;
  } clusterDim;
  cudaClusterSchedulingPolicy clusterSchedulingPolicyPreference;
  int programmaticStreamSerializationAllowed;
  struct {
    cudaEvent_t event;
    int flags;
    int triggerAtBlockStart;
  } programmaticEvent;
  int priority;
  struct {
    unsigned x, y, z;
  } preferredClusterDim;
  struct {
    cudaEvent_t event;
    int flags;
  } launchCompletionEvent;
  unsigned sharedMemCarveout;
};
struct cudaLaunchAttribute {
  cudaLaunchAttributeID id;
  char pad[8 - sizeof(cudaLaunchAttributeID)];
  cudaLaunchAttributeValue val;
};
struct cudaLaunchConfig_t {
  dim3 gridDim;
  dim3 blockDim;
  std::size_t dynamicSmemBytes;
  cudaStream_t stream;
  cudaLaunchAttribute* attrs;
  unsigned numAttrs;
};

// Stream capture and graphs: the names, so that programs compile. The calls are not supported.
enum cudaStreamCaptureMode {
  cudaStreamCaptureModeGlobal = 0,
  cudaStreamCaptureModeThreadLocal = 1,
  cudaStreamCaptureModeRelaxed = 2
};
enum cudaStreamCaptureStatus {
  cudaStreamCaptureStatusNone = 0,
  cudaStreamCaptureStatusActive = 1,
  cudaStreamCaptureStatusInvalidated = 2
};
enum cudaGraphNodeType {
  cudaGraphNodeTypeKernel = 0,
  cudaGraphNodeTypeMemcpy = 1,
  cudaGraphNodeTypeMemset = 2,
  cudaGraphNodeTypeHost = 3,
  cudaGraphNodeTypeGraph = 4,
  cudaGraphNodeTypeEmpty = 5,
  cudaGraphNodeTypeWaitEvent = 6,
  cudaGraphNodeTypeEventRecord = 7,
  cudaGraphNodeTypeMemAlloc = 10,
  cudaGraphNodeTypeMemFree = 11,
  cudaGraphNodeTypeConditional = 13
};
struct cudaKernelNodeParams {
  void* func;
  dim3 gridDim;
  dim3 blockDim;
  unsigned sharedMemBytes;
  void** kernelParams;
  void** extra;
};

/// SIMT_ATTRIBUTE(name, number): attributes of the device. Most of those that no program of the CPU
/// backend can use (textures, surfaces, interprocess handles) are left out.
#define SIMT_ATTRIBUTES(SIMT_ATTRIBUTE)                       \
  SIMT_ATTRIBUTE(MaxThreadsPerBlock, 1)                       \
  SIMT_ATTRIBUTE(MaxBlockDimX, 2)                             \
  SIMT_ATTRIBUTE(MaxBlockDimY, 3)                             \
  SIMT_ATTRIBUTE(MaxBlockDimZ, 4)                             \
  SIMT_ATTRIBUTE(MaxGridDimX, 5)                              \
  SIMT_ATTRIBUTE(MaxGridDimY, 6)                              \
  SIMT_ATTRIBUTE(MaxGridDimZ, 7)                              \
  SIMT_ATTRIBUTE(MaxSharedMemoryPerBlock, 8)                  \
  SIMT_ATTRIBUTE(TotalConstantMemory, 9)                      \
  SIMT_ATTRIBUTE(WarpSize, 10)                                \
  SIMT_ATTRIBUTE(MaxPitch, 11)                                \
  SIMT_ATTRIBUTE(MaxRegistersPerBlock, 12)                    \
  SIMT_ATTRIBUTE(ClockRate, 13)                               \
  SIMT_ATTRIBUTE(TextureAlignment, 14)                        \
  SIMT_ATTRIBUTE(GpuOverlap, 15)                              \
  SIMT_ATTRIBUTE(MultiProcessorCount, 16)                     \
  SIMT_ATTRIBUTE(KernelExecTimeout, 17)                       \
  SIMT_ATTRIBUTE(Integrated, 18)                              \
  SIMT_ATTRIBUTE(CanMapHostMemory, 19)                        \
  SIMT_ATTRIBUTE(ComputeMode, 20)                             \
  SIMT_ATTRIBUTE(MaxTexture1DWidth, 21)                       \
  SIMT_ATTRIBUTE(MaxTexture2DWidth, 22)                       \
  SIMT_ATTRIBUTE(MaxTexture2DHeight, 23)                      \
  SIMT_ATTRIBUTE(MaxTexture3DWidth, 24)                       \
  SIMT_ATTRIBUTE(MaxTexture3DHeight, 25)                      \
  SIMT_ATTRIBUTE(MaxTexture3DDepth, 26)                       \
  SIMT_ATTRIBUTE(ConcurrentKernels, 31)                       \
  SIMT_ATTRIBUTE(EccEnabled, 32)                              \
  SIMT_ATTRIBUTE(PciBusId, 33)                                \
  SIMT_ATTRIBUTE(PciDeviceId, 34)                             \
  SIMT_ATTRIBUTE(TccDriver, 35)                               \
  SIMT_ATTRIBUTE(MemoryClockRate, 36)                         \
  SIMT_ATTRIBUTE(GlobalMemoryBusWidth, 37)                    \
  SIMT_ATTRIBUTE(L2CacheSize, 38)                             \
  SIMT_ATTRIBUTE(MaxThreadsPerMultiProcessor, 39)             \
  SIMT_ATTRIBUTE(AsyncEngineCount, 40)                        \
  SIMT_ATTRIBUTE(UnifiedAddressing, 41)                       \
  SIMT_ATTRIBUTE(PciDomainId, 50)                             \
  SIMT_ATTRIBUTE(TexturePitchAlignment, 51)                   \
  SIMT_ATTRIBUTE(ComputeCapabilityMajor, 75)                  \
  SIMT_ATTRIBUTE(ComputeCapabilityMinor, 76)                  \
  SIMT_ATTRIBUTE(StreamPrioritiesSupported, 78)               \
  SIMT_ATTRIBUTE(GlobalL1CacheSupported, 79)                  \
  SIMT_ATTRIBUTE(LocalL1CacheSupported, 80)                   \
  SIMT_ATTRIBUTE(MaxSharedMemoryPerMultiprocessor, 81)        \
  SIMT_ATTRIBUTE(MaxRegistersPerMultiprocessor, 82)           \
  SIMT_ATTRIBUTE(ManagedMemory, 83)                           \
  SIMT_ATTRIBUTE(IsMultiGpuBoard, 84)                         \
  SIMT_ATTRIBUTE(MultiGpuBoardGroupID, 85)                    \
  SIMT_ATTRIBUTE(HostNativeAtomicSupported, 86)               \
  SIMT_ATTRIBUTE(SingleToDoublePrecisionPerfRatio, 87)        \
  SIMT_ATTRIBUTE(PageableMemoryAccess, 88)                    \
  SIMT_ATTRIBUTE(ConcurrentManagedAccess, 89)                 \
  SIMT_ATTRIBUTE(ComputePreemptionSupported, 90)              \
  SIMT_ATTRIBUTE(CanUseHostPointerForRegisteredMem, 91)       \
  SIMT_ATTRIBUTE(CooperativeLaunch, 95)                       \
  SIMT_ATTRIBUTE(MaxSharedMemoryPerBlockOptin, 97)            \
  SIMT_ATTRIBUTE(CanFlushRemoteWrites, 98)                    \
  SIMT_ATTRIBUTE(HostRegisterSupported, 99)                   \
  SIMT_ATTRIBUTE(PageableMemoryAccessUsesHostPageTables, 100) \
  SIMT_ATTRIBUTE(DirectManagedMemAccessFromHost, 101)         \
  SIMT_ATTRIBUTE(MaxBlocksPerMultiprocessor, 106)             \
  SIMT_ATTRIBUTE(MaxPersistingL2CacheSize, 108)               \
  SIMT_ATTRIBUTE(MaxAccessPolicyWindowSize, 109)              \
  SIMT_ATTRIBUTE(ReservedSharedMemoryPerBlock, 111)           \
  SIMT_ATTRIBUTE(MemoryPoolsSupported, 115)                   \
  SIMT_ATTRIBUTE(ClusterLaunch, 120)

enum cudaDeviceAttr {
#define SIMT_ATTRIBUTE(name, number) cudaDevAttr##name = number,
  SIMT_ATTRIBUTES(SIMT_ATTRIBUTE)
#undef SIMT_ATTRIBUTE
      cudaDevAttrMax = 148
};
enum cudaComputeMode {
  cudaComputeModeDefault = 0,
  cudaComputeModeExclusive = 1,
  cudaComputeModeProhibited = 2,
  cudaComputeModeExclusiveProcess = 3
};

/// As in CUDA 13, without most of what belongs to textures, surfaces and interprocess handles.
struct cudaDeviceProp {
  char name[256];
  struct {
    char bytes[16];
  } uuid;
  std::size_t totalGlobalMem;
  std::size_t sharedMemPerBlock;
  int regsPerBlock;
  int warpSize;
  std::size_t memPitch;
  int maxThreadsPerBlock;
  int maxThreadsDim[3];
  int maxGridSize[3];
  std::size_t totalConstMem;
  int major;
  int minor;
  std::size_t textureAlignment;
  std::size_t texturePitchAlignment;
  int multiProcessorCount;
  int integrated;
  int canMapHostMemory;
  int maxTexture1D;
  int maxTexture2D[2];
  int maxTexture3D[3];
  int concurrentKernels;
  int ECCEnabled;
  int pciBusID;
  int pciDeviceID;
  int pciDomainID;
  int tccDriver;
  int asyncEngineCount;
  int unifiedAddressing;
  int memoryBusWidth;
  int l2CacheSize;
  int persistingL2CacheMaxSize;
  int maxThreadsPerMultiProcessor;
  int streamPrioritiesSupported;
  int globalL1CacheSupported;
  int localL1CacheSupported;
  std::size_t sharedMemPerMultiprocessor;
  int regsPerMultiprocessor;
  int managedMemory;
  int isMultiGpuBoard;
  int multiGpuBoardGroupID;
  int hostNativeAtomicSupported;
  int pageableMemoryAccess;
  int concurrentManagedAccess;
  int computePreemptionSupported;
  int canUseHostPointerForRegisteredMem;
  int cooperativeLaunch;
  std::size_t sharedMemPerBlockOptin;
  int pageableMemoryAccessUsesHostPageTables;
  int directManagedMemAccessFromHost;
  int maxBlocksPerMultiProcessor;
  int accessPolicyMaxWindowSize;
  std::size_t reservedSharedMemPerBlock;
  int hostRegisterSupported;
  int memoryPoolsSupported;
  int clusterLaunch;
};
