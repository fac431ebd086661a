/* Activity records as CUPTI 11.7 to 13.5 emit them, written from measured offsets.
 *
 * One struct a kind, with the fields of the newest version: older versions emit a prefix of it,
 * SIZES says how long. One field a line, so that a test can compare each with a real header. */
#include <stdint.h>

typedef struct { uint32_t first, second, third; } object_id;

typedef struct {
    uint32_t kind;
    uint8_t cacheConfig;
    uint8_t sharedMemoryConfig;
    uint16_t registersPerThread;
    uint32_t partitionedGlobalCacheRequested;
    uint32_t partitionedGlobalCacheExecuted;
    uint64_t start;
    uint64_t end;
    uint64_t completed;
    uint32_t deviceId;
    uint32_t contextId;
    uint32_t streamId;
    int32_t gridX;
    int32_t gridY;
    int32_t gridZ;
    int32_t blockX;
    int32_t blockY;
    int32_t blockZ;
    int32_t staticSharedMemory;
    int32_t dynamicSharedMemory;
    uint32_t localMemoryPerThread;
    uint32_t localMemoryTotal;
    uint32_t correlationId;
    int64_t gridId;
    const char *name;
    void *reserved0;
    uint64_t queued;
    uint64_t submitted;
    uint8_t launchType;
    uint8_t isSharedMemoryCarveoutRequested;
    uint8_t sharedMemoryCarveoutRequested;
    uint8_t padding;
    uint32_t sharedMemoryExecuted;
    uint64_t graphNodeId;
    uint32_t shmemLimitConfig;
    uint32_t graphId;
    void *pAccessPolicyWindow;
    uint32_t channelID;
    uint32_t channelType;
    uint32_t clusterX;
    uint32_t clusterY;
    uint32_t clusterZ;
    uint32_t clusterSchedulingPolicy;
    uint64_t localMemoryTotal_v2;
    uint32_t maxPotentialClusterSize;
    uint32_t maxActiveClusters;
    uint8_t isDeviceLaunched;
    uint32_t padding3;
    int32_t priority;
    uint32_t padding4;
    uint32_t executionModel;
    uint32_t padding5;
    uint32_t sourceGraphId;
    uint64_t sourceGraphNodeId;
} fake_kernel;

typedef struct {
    uint32_t kind;
    uint8_t copyKind;
    uint8_t srcKind;
    uint8_t dstKind;
    uint8_t flags;
    uint64_t bytes;
    uint64_t start;
    uint64_t end;
    uint32_t deviceId;
    uint32_t contextId;
    uint32_t streamId;
    uint32_t correlationId;
    uint32_t runtimeCorrelationId;
    void *reserved0;
    uint64_t graphNodeId;
    uint32_t graphId;
    uint32_t channelID;
    uint32_t channelType;
    uint64_t copyCount;
    uint32_t sourceGraphId;
    uint64_t sourceGraphNodeId;
} fake_memcpy_record;

typedef struct {
    uint32_t kind;
    uint32_t value;
    uint64_t bytes;
    uint64_t start;
    uint64_t end;
    uint32_t deviceId;
    uint32_t contextId;
    uint32_t streamId;
    uint32_t correlationId;
    uint16_t flags;
    uint16_t memoryKind;
    void *reserved0;
    uint64_t graphNodeId;
    uint32_t graphId;
    uint32_t channelID;
    uint32_t channelType;
    uint32_t pad2;
    uint32_t sourceGraphId;
    uint64_t sourceGraphNodeId;
} fake_memset_record;

typedef struct {
    uint32_t kind;
    uint8_t copyKind;
    uint8_t srcKind;
    uint8_t dstKind;
    uint8_t flags;
    uint64_t bytes;
    uint64_t start;
    uint64_t end;
    uint32_t deviceId;
    uint32_t contextId;
    uint32_t streamId;
    uint32_t srcDeviceId;
    uint32_t srcContextId;
    uint32_t dstDeviceId;
    uint32_t dstContextId;
    uint32_t correlationId;
    void *reserved0;
    uint64_t graphNodeId;
    uint32_t graphId;
    uint32_t channelID;
    uint32_t channelType;
} fake_peer_record;

typedef struct {
    uint32_t kind;
    uint32_t cbid;
    uint64_t start;
    uint64_t end;
    uint32_t processId;
    uint32_t threadId;
    uint32_t correlationId;
    uint32_t returnValue;
} fake_api;

typedef struct {
    uint32_t kind;
    uint32_t externalKind;
    uint64_t externalId;
    uint32_t correlationId;
    uint32_t reserved;
} fake_external;

typedef struct {
    uint32_t kind;
    uint32_t flags;
    uint64_t timestamp;
    uint32_t id;
    uint32_t objectKind;
    object_id objectId;
    const char *name;
    const char *domain;
} fake_marker;

typedef struct {
    uint32_t kind;
    uint32_t overheadKind;
    uint32_t objectKind;
    object_id objectId;
    uint64_t start;
    uint64_t end;
    uint32_t correlationId;
    uint32_t reserved0;
    void *overheadData;
} fake_overhead;

typedef struct {
    uint32_t kind;
    uint32_t type;
    uint64_t start;
    uint64_t end;
    uint32_t correlationId;
    uint32_t contextId;
    uint32_t streamId;
    uint32_t cudaEventId;
    uint64_t cudaEventSyncId;
    uint32_t returnValue;
} fake_sync;

typedef struct {
    uint32_t kind;
    uint32_t memoryOperationType;
    uint32_t memoryKind;
    uint32_t correlationId;
    uint64_t address;
    uint64_t bytes;
    uint64_t timestamp;
    uint64_t PC;
    uint32_t processId;
    uint32_t deviceId;
    uint32_t contextId;
    uint32_t streamId;
    const char *name;
    uint32_t isAsync;
    uint64_t memoryPoolConfig[5];
    void *source;
} fake_memory;

typedef struct {
    uint32_t kind;
    uint32_t flags;
    uint64_t globalMemoryBandwidth;
    uint64_t globalMemorySize;
    uint32_t constantMemorySize;
    uint32_t l2CacheSize;
    uint32_t numThreadsPerWarp;
    uint32_t coreClockRate;
    uint32_t numMemcpyEngines;
    uint32_t numMultiprocessors;
    uint32_t maxIPC;
    uint32_t maxWarpsPerMultiprocessor;
    uint32_t maxBlocksPerMultiprocessor;
    uint32_t maxSharedMemoryPerMultiprocessor;
    uint32_t maxRegistersPerMultiprocessor;
    uint32_t maxRegistersPerBlock;
    uint32_t maxSharedMemoryPerBlock;
    uint32_t maxThreadsPerBlock;
    uint32_t maxBlockDimX;
    uint32_t maxBlockDimY;
    uint32_t maxBlockDimZ;
    uint32_t maxGridDimX;
    uint32_t maxGridDimY;
    uint32_t maxGridDimZ;
    uint32_t computeCapabilityMajor;
    uint32_t computeCapabilityMinor;
    uint32_t id;
    uint32_t eccEnabled;
    uint64_t uuid[2];
    const char *name;
    uint8_t isCudaVisible;
    uint8_t isMigEnabled;
    uint16_t reserved;
    uint32_t unused;
    uint32_t gpuInstanceId;
    uint32_t computeInstanceId;
    uint64_t migUuid[2];
    uint32_t isNumaNode;
    uint32_t numaId;
    uint32_t numTpcs;
    uint32_t reserved0;
} fake_device;

typedef struct {
    uint32_t kind;
    uint32_t contextId;
    uint32_t deviceId;
    uint16_t computeApiKind;
    uint16_t nullStreamId;
    uint64_t appended[3];
} fake_context;

typedef struct {
    uint32_t kind;
    uint32_t correlationId;
    uint64_t start;
    uint64_t end;
    uint32_t deviceId;
    uint32_t graphId;
    uint32_t contextId;
    uint32_t streamId;
    void *reserved;
    uint32_t endDeviceId;
    uint32_t endContextId;
} fake_graph;

/* cuptiGetVersion by release, then the record sizes that release emits. */
typedef struct {
    int release;
    uint32_t version;
    uint16_t memcpy, memset, kernel, device, context, overhead, sync, memory, graph;
} layout;

static const layout SIZES[] = {
    {1107, 17,     88,  88, 176, 176, 16, 40, 40, 120, 48},
    {1108, 18,     88,  88, 200, 176, 16, 40, 40, 120, 48},
    {1200, 18,     88,  88, 208, 176, 16, 40, 40, 120, 48},
    {1201, 18,     88,  88, 208, 176, 16, 40, 40, 120, 48},
    {1202, 20,     88,  88, 208, 184, 16, 40, 40, 120, 48},
    {1203, 21,     88,  88, 208, 184, 16, 48, 40, 120, 56},
    {1204, 22,     88,  88, 208, 184, 24, 56, 40, 120, 56},
    {1205, 23,     88,  88, 208, 184, 32, 56, 40, 120, 56},
    {1206, 24,     88,  88, 208, 184, 32, 56, 40, 128, 56},
    {1208, 26,     96,  88, 208, 184, 32, 56, 56, 128, 56},
    {1209, 28,     96,  88, 208, 184, 32, 56, 56, 128, 56},
    {1300, 130000, 96,  88, 216, 184, 32, 56, 56, 128, 56},
    {1301, 130100, 96,  88, 224, 184, 40, 56, 56, 128, 56},
    {1302, 130200, 96,  88, 224, 192, 40, 56, 56, 128, 56},
    {1303, 130300, 96,  88, 232, 192, 40, 56, 56, 128, 56},
    {1304, 130400, 112, 104, 248, 192, 40, 56, 56, 128, 56},
    {1305, 130500, 112, 104, 248, 192, 40, 56, 56, 128, 56},
};
