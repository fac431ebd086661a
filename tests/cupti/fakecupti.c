/* A library with libcupti's functions and no GPU behind them, for tests.
 *
 * It keeps CUPTI's bad habits: buffers are requested and completed from a worker thread and from
 * launching threads, always while one internal lock is held; a flush waits for the worker; a
 * second subscriber is refused. The driver functions are here too, so that the file can stand in
 * for libcuda.so.1 under a second name. What it does wrong is said in the environment:
 *
 *   FAKE_RELEASE=1204            behave as that release (major * 100 + minor)
 *   FAKE_FAIL=cuInit=100,...     functions that return a code; kind49=21: only for that kind, and
 *                                dump8=999: after it was enabled
 *   FAKE_SKEW=ns                 its clock runs ahead of the system's
 *   FAKE_HOLD_US=us              hold the lock that long before each buffer request
 *
 *   gcc -shared -fPIC -pthread fakecupti.c -o libcupti.so
 *   -DBROKEN: as 13.2, with the symbol that tells it, and every function aborts. */
#define _GNU_SOURCE
#include "fakecupti.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define API __attribute__((visibility("default")))

enum { OK, INVALID_PARAMETER = 1, INVALID_OPERATION = 7, MAX_LIMIT = 12, QUEUE_EMPTY = 18,
       INVALID_HANDLE = 19, INVALID_KIND = 21, MULTIPLE_SUBSCRIBERS = 39 };
enum { MEMCPY = 1, MEMSET, KERNEL, DRIVER, RUNTIME, DEVICE = 8, CONTEXT, CONCURRENT, MARKER = 12,
       OVERHEAD = 17, PEER = 22, SYNC = 38, EXTERNAL, MEMORY = 49, GRAPH = 51, KINDS = 64 };

static const char *const NAMES[] = {"_Z6kernelILi0EEvPfi", "_ZN2at6native4gemmEPKfS2_Pf", "plain"};
static int name_index(uint32_t correlation) { return correlation % 3; }

static const layout *now = &SIZES[sizeof SIZES / sizeof *SIZES - 1];
static char failing[512];
static int calls, failing_call; /* of CUPTI and the driver together; 0: none fails */
static const char *failed = "";
static int64_t skew;
static int hold_us;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t moved = PTHREAD_COND_INITIALIZER;
static void (*request)(uint8_t **, size_t *, size_t *);
static void (*complete)(void *, uint32_t, uint8_t *, size_t, size_t);
static int enabled[KINDS], subscribed;
static size_t dropped;
static uint64_t emitted;
static uint32_t next_correlation;

typedef struct { uint8_t *at; size_t size, used; } buffer;
static buffer host, device; /* filled by launching threads, and by the worker */

typedef struct { uint32_t correlation; uint64_t start; } work;
#define QUEUE 65536
static work queue[QUEUE];
static uint64_t queued, done;

static __thread uint64_t pushed[8][64];
static __thread int depth[8];

API void fake_set_release(int release)
{
    for (size_t i = 0; i < sizeof SIZES / sizeof *SIZES; i++)
        if (SIZES[i].release == release) now = &SIZES[i];
}

/* Call number `call` from now on returns 999, whatever it is. */
API void fake_fail_call(int call)
{
    calls = 0;
    failing_call = call;
    failed = "";
}

API const char *fake_failed(void) { return failed; } /* the function that did, or "" */

API void fake_fail(const char *functions) { snprintf(failing, sizeof failing, "%s", functions); }

__attribute__((constructor)) static void configure(void)
{
    const char *text;
    if ((text = getenv("FAKE_RELEASE"))) fake_set_release(atoi(text));
    if ((text = getenv("FAKE_FAIL"))) fake_fail(text);
    if ((text = getenv("FAKE_SKEW"))) skew = atoll(text);
    if ((text = getenv("FAKE_HOLD_US"))) hold_us = atoi(text);
}

static int failure(const char *function)
{
#ifdef BROKEN
    if (!strncmp(function, "cupti", 5)) abort();
#endif
    size_t length = strlen(function);
    for (const char *at = failing; (at = strstr(at, function)); at += length)
        if (at[length] == '=') return atoi(at + length + 1);
    return 0;
}

static int counted(const char *function)
{
    if (__atomic_add_fetch(&calls, 1, __ATOMIC_SEQ_CST) != failing_call) return 0;
    failed = function;
    return 999;
}
#define MAY_FAIL \
    { \
        int code = failure(__func__); \
        if (!code) code = counted(__func__); \
        if (code) return code; \
    }

static uint64_t clock_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_REALTIME, &t);
    return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec + (uint64_t)skew;
}

static size_t size_of(uint32_t kind)
{
    switch (kind) {
    case MEMCPY: return now->memcpy;
    case MEMSET: return now->memset;
    case KERNEL: case CONCURRENT: return now->kernel;
    case DRIVER: case RUNTIME: return sizeof(fake_api);
    case DEVICE: return now->device;
    case CONTEXT: return now->context;
    case MARKER: return sizeof(fake_marker);
    case OVERHEAD: return now->overhead;
    case PEER: return sizeof(fake_peer_record);
    case SYNC: return now->sync;
    case EXTERNAL: return sizeof(fake_external);
    case MEMORY: return now->memory;
    case GRAPH: return now->graph;
    }
    return 0;
}

/* --- records, all under the lock ------------------------------------------------------------ */

static void hand_over(buffer *b)
{
    if (b->at && complete) complete(NULL, 0, b->at, b->size, b->used);
    memset(b, 0, sizeof *b);
}

static void emit(buffer *b, uint32_t kind, const void *record)
{
    size_t size = size_of(kind), most;
    if (!enabled[kind] || !request) return;
    emitted++;
    if (b->at && b->used + size > b->size) hand_over(b);
    if (!b->at) {
        if (hold_us) usleep((useconds_t)hold_us);
        request(&b->at, &b->size, &most);
        b->used = 0;
    }
    if (!b->at || b->size < size) {
        dropped++;
        return;
    }
    memcpy(b->at + b->used, record, size);
    b->used += size;
}

static void emit_kernel(work w)
{
    fake_kernel k = {.kind = CONCURRENT, .registersPerThread = 32, .deviceId = 0, .contextId = 1,
                     .streamId = 7, .gridX = 128, .gridY = 2, .gridZ = 1, .blockX = 256, .blockY = 1,
                     .blockZ = 4, .staticSharedMemory = 1024, .dynamicSharedMemory = 2048,
                     .localMemoryPerThread = 16, .correlationId = w.correlation, .gridId = -1,
                     .name = NAMES[name_index(w.correlation)], .graphNodeId = 5, .graphId = 6,
                     .sourceGraphNodeId = ~0ull};
    k.start = w.start;
    k.end = w.start + 500 + w.correlation % 7;
    emit(&device, CONCURRENT, &k);
}

static void *worker(void *unused)
{
    pthread_mutex_lock(&lock);
    for (;;) {
        while (done == queued) pthread_cond_wait(&moved, &lock);
        for (int batch = 0; batch < 64 && done < queued; batch++) emit_kernel(queue[done++ % QUEUE]);
        pthread_cond_broadcast(&moved);
    }
    return unused;
}

static void start_worker(void)
{
    pthread_t thread;
    pthread_create(&thread, NULL, worker, NULL);
    pthread_detach(thread);
}

/* --- what a program does: all of these return how many records they caused in all -------------- */

API uint64_t fake_emitted(void) { return emitted; }

/* 1 if subscribed, plus 2 for every kind still enabled */
API int fake_state(void)
{
    int state = subscribed;
    for (int kind = 0; kind < KINDS; kind++) state += 2 * enabled[kind];
    return state;
}

/* As if nobody had used the library. */
API void fake_reset(void)
{
    pthread_mutex_lock(&lock);
    memset(enabled, 0, sizeof enabled);
    memset(depth, 0, sizeof depth);
    subscribed = 0;
    pthread_mutex_unlock(&lock);
}

API void fake_drop(long records) { dropped += (size_t)records; }

API void fake_launch(long count)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, start_worker);
    for (long i = 0; i < count; i++) {
        pthread_mutex_lock(&lock);
        while (queued - done == QUEUE) pthread_cond_wait(&moved, &lock);
        uint32_t correlation = ++next_correlation;
        uint64_t start = clock_ns();
        for (uint32_t kind = 0; kind < 8; kind++)
            if (depth[kind] > 0) {
                fake_external e = {EXTERNAL, kind, pushed[kind][depth[kind] - 1], correlation, 0};
                emit(&host, EXTERNAL, &e);
            }
        fake_api a = {RUNTIME, 211, start, start + 200, (uint32_t)getpid(),
                      (uint32_t)(uintptr_t)pthread_self(), correlation, 0};
        emit(&host, RUNTIME, &a);
        a.kind = DRIVER;
        a.cbid = 307;
        emit(&host, DRIVER, &a);
        queue[queued++ % QUEUE] = (work){correlation, start + 1000};
        if (queued - done == 1) pthread_cond_broadcast(&moved);
        pthread_mutex_unlock(&lock);
    }
}

static void *launcher(void *count)
{
    fake_launch((long)(intptr_t)count);
    return NULL;
}

/* threads that know nothing of Python */
API void fake_launch_threads(int threads, long each)
{
    pthread_t made[64];
    for (int i = 0; i < threads; i++) pthread_create(&made[i], NULL, launcher, (void *)(intptr_t)each);
    for (int i = 0; i < threads; i++) pthread_join(made[i], NULL);
}

static void *launch_for_ever(void *unused)
{
    for (;;) fake_launch(1);
    return unused;
}

API void fake_never_stop(int threads)
{
    pthread_t thread;
    for (int i = 0; i < threads; i++) pthread_create(&thread, NULL, launch_for_ever, NULL);
}

/* one record of every kind that fake_launch does not make, with values a test knows */
API void fake_emit_each(uint64_t t)
{
    fake_memcpy_record c = {.kind = MEMCPY, .copyKind = 1, .srcKind = 1, .dstKind = 3, .flags = 1,
                            .bytes = 4096, .start = t + 10, .end = t + 20, .deviceId = 1,
                            .contextId = 2, .streamId = 3, .correlationId = 4, .runtimeCorrelationId = 9,
                            .graphNodeId = 5, .graphId = 6, .copyCount = 99};
    fake_memset_record s = {.kind = MEMSET, .value = 0xAB, .bytes = 64, .start = t + 30, .end = t + 41,
                            .deviceId = 1, .contextId = 2, .streamId = 3, .correlationId = 5,
                            .flags = 1, .memoryKind = 3, .graphNodeId = 7, .graphId = 8};
    fake_peer_record p = {.kind = PEER, .copyKind = 10, .srcKind = 3, .dstKind = 3, .bytes = 8192,
                          .start = t + 50, .end = t + 62, .deviceId = 0, .contextId = 2, .streamId = 3,
                          .srcDeviceId = 0, .srcContextId = 2, .dstDeviceId = 1, .dstContextId = 4,
                          .correlationId = 6, .graphNodeId = 9, .graphId = 10};
    fake_marker m = {.kind = MARKER, .flags = 2, .timestamp = t + 70, .id = 11, .objectKind = 2,
                     .objectId = {12, 13, 0}, .name = "step", .domain = "mine"};
    fake_overhead o = {.kind = OVERHEAD, .overheadKind = 5 << 16, .objectKind = 2,
                       .objectId = {14, 15, 0}, .start = t + 80, .end = t + 93};
    fake_sync y = {.kind = SYNC, .type = 3, .start = t + 100, .end = t + 114, .correlationId = 16,
                   .contextId = 2, .streamId = 3, .cudaEventId = 17};
    fake_memory a = {.kind = MEMORY, .memoryOperationType = 1, .memoryKind = 3, .correlationId = 18,
                     .address = 0x7f0000001000, .bytes = 1 << 20, .timestamp = t + 120, .PC = 1,
                     .processId = 19, .deviceId = 1, .contextId = 2, .streamId = 3, .name = "weights"};
    fake_graph g = {.kind = GRAPH, .correlationId = 20, .start = t + 130, .end = t + 145,
                    .deviceId = 1, .graphId = 21, .contextId = 2, .streamId = 3};
    pthread_mutex_lock(&lock);
    emit(&device, MEMCPY, &c);
    emit(&device, MEMSET, &s);
    emit(&device, PEER, &p);
    emit(&host, MARKER, &m);
    emit(&host, OVERHEAD, &o);
    emit(&host, SYNC, &y);
    emit(&host, MEMORY, &a);
    emit(&device, GRAPH, &g);
    pthread_mutex_unlock(&lock);
}

/* --- CUPTI -------------------------------------------------------------------------------------- */

API int cuptiGetVersion(uint32_t *version)
{
    MAY_FAIL
    *version = now->version;
    return OK;
}

API int cuptiGetTimestamp(uint64_t *stamp)
{
    MAY_FAIL
    *stamp = clock_ns();
    return OK;
}

API int cuptiGetCallbackName(uint32_t domain, uint32_t cbid, const char **name)
{
    MAY_FAIL
    if (domain == 2 && cbid == 211) *name = "cudaLaunchKernel_v7000";
    else if (domain == 1 && cbid == 307) *name = "cuLaunchKernel";
    else return INVALID_PARAMETER;
    return OK;
}

API int cuptiSubscribe(void **handle, void *callback, void *data)
{
    MAY_FAIL
    (void)data;
    if (!handle || !callback) return INVALID_PARAMETER;
    pthread_mutex_lock(&lock);
    int taken = subscribed;
    subscribed = 1;
    pthread_mutex_unlock(&lock);
    *handle = &subscribed; /* the other's where it is taken: after an error it means nothing */
    return taken ? MULTIPLE_SUBSCRIBERS : OK;
}

API int cuptiUnsubscribe(void *handle)
{
    MAY_FAIL
    if (handle != &subscribed || !subscribed) return INVALID_HANDLE;
    subscribed = 0;
    return OK;
}

API int cuptiActivityRegisterCallbacks(void *requested, void *completed)
{
    MAY_FAIL
    if (!requested || !completed) return INVALID_PARAMETER;
    pthread_mutex_lock(&lock);
    request = (void (*)(uint8_t **, size_t *, size_t *))requested;
    complete = (void (*)(void *, uint32_t, uint8_t *, size_t, size_t))completed;
    pthread_mutex_unlock(&lock);
    return OK;
}

static int set_enabled(uint32_t kind, int to)
{
    if (!size_of(kind)) return INVALID_KIND;
    pthread_mutex_lock(&lock);
    enabled[kind] = to;
    pthread_mutex_unlock(&lock);
    return OK;
}

static int kind_failure(const char *what, uint32_t kind)
{
    char name[16];
    snprintf(name, sizeof name, "%s%u", what, kind);
    return failure(name);
}

API int cuptiActivityEnable(uint32_t kind)
{
    MAY_FAIL
    int code = kind_failure("kind", kind);
    return code ? code : set_enabled(kind, 1);
}

API int cuptiActivityEnableAndDump(uint32_t kind)
{
    MAY_FAIL
    fake_device d = {.kind = DEVICE, .globalMemoryBandwidth = 3352320000ull,
                     .globalMemorySize = 85520809984ull, .coreClockRate = 1980000,
                     .numMultiprocessors = 132, .computeCapabilityMajor = 9,
                     .computeCapabilityMinor = 1, .id = 3, .name = "Fake H100"};
    fake_context c = {.kind = CONTEXT, .contextId = 1, .deviceId = 3, .nullStreamId = 7};
    int code = kind_failure("kind", kind);
    if (!code) code = set_enabled(kind, 1);
    if (!code) code = kind_failure("dump", kind);
    if (code) return code;
    pthread_mutex_lock(&lock);
    if (kind == DEVICE) emit(&host, DEVICE, &d);
    if (kind == CONTEXT) emit(&host, CONTEXT, &c);
    pthread_mutex_unlock(&lock);
    return OK;
}

API int cuptiActivityDisable(uint32_t kind)
{
    MAY_FAIL
    return set_enabled(kind, 0);
}

API int cuptiActivityFlushAll(uint32_t flags)
{
    MAY_FAIL
    if (!complete) return INVALID_OPERATION;
    (void)flags;
    pthread_mutex_lock(&lock);
    uint64_t until = queued;
    while (done < until) pthread_cond_wait(&moved, &lock);
    hand_over(&host);
    hand_over(&device);
    pthread_mutex_unlock(&lock);
    return OK;
}

API int cuptiActivityGetNextRecord(uint8_t *records, size_t valid, uint8_t **record)
{
    MAY_FAIL
    uint8_t *next = records;
    if (*record) next = *record + size_of(*(uint32_t *)*record);
    if (next + 8 > records + valid) return MAX_LIMIT;
    size_t size = size_of(*(uint32_t *)next);
    if (!size) return INVALID_KIND;
    if (next + size > records + valid) return MAX_LIMIT;
    *record = next;
    return OK;
}

API int cuptiActivityGetNumDroppedRecords(void *context, uint32_t stream, size_t *count)
{
    MAY_FAIL
    (void)context, (void)stream;
    *count = dropped;
    dropped = 0;
    return OK;
}

API int cuptiActivityPushExternalCorrelationId(uint32_t kind, uint64_t id)
{
    MAY_FAIL
    if (kind == 0 || kind > 5) return INVALID_PARAMETER;
    if (depth[kind] == 64) return MAX_LIMIT;
    pushed[kind][depth[kind]++] = id;
    return OK;
}

API int cuptiActivityPopExternalCorrelationId(uint32_t kind, uint64_t *last)
{
    MAY_FAIL
    if (kind == 0 || kind > 5) return INVALID_PARAMETER;
    if (!depth[kind]) return QUEUE_EMPTY;
    depth[kind]--;
    if (last) *last = pushed[kind][depth[kind]];
    return OK;
}

#ifdef BROKEN
API int cuptiActivityGetStructSize(void) { abort(); }
#endif

/* --- the driver ----------------------------------------------------------------------------------- */

static int current;

API int cuInit(unsigned flags) { MAY_FAIL (void)flags; return OK; }
API int cuDeviceGetCount(int *count) { MAY_FAIL *count = 2; return OK; }
API int cuDeviceGet(int *handle, int ordinal) { MAY_FAIL *handle = ordinal; return OK; }
API int cuDevicePrimaryCtxRetain(void **context, int of) { MAY_FAIL *context = &current; return of; }
API int cuDevicePrimaryCtxRelease_v2(int of) { MAY_FAIL return of; }
API int cuCtxGetCurrent(void **context) { MAY_FAIL *context = NULL; return OK; }
API int cuCtxPushCurrent_v2(void *context) { MAY_FAIL return context ? OK : 201; }
API int cuCtxPopCurrent_v2(void **context) { MAY_FAIL *context = &current; return OK; }

API int cuDevicePrimaryCtxGetState(int of, unsigned *flags, int *active)
{
    MAY_FAIL
    *flags = 0;
    *active = of == 0; /* retaining the second would make a context, and returns an error here */
    return OK;
}

API int cuCtxSynchronize(void)
{
    MAY_FAIL
    pthread_mutex_lock(&lock);
    uint64_t until = queued;
    while (done < until) pthread_cond_wait(&moved, &lock);
    pthread_mutex_unlock(&lock);
    return OK;
}
