/* Runs the buffer callbacks of one machine without Python: `harness code.bin request complete
 * drain release` maps the code as the package does, lets four threads fill buffers while the main
 * thread drains, and prints what was counted. Any buffer lost, doubled or miscounted shows. At the
 * end malloc fails, with room left and without. */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum { STATE = 0x10000, THREADS = 4, EACH = 5000, RECORD = 48, KIND = 10 };
enum { MALLOC, FREE, HEAD, SIZE, SMALL, LIMIT, HELD, REQUESTED, COMPLETED, REFUSED, LOST };

static void (*request)(uint8_t **, size_t *, size_t *);
static void (*complete)(void *, uint32_t, uint8_t *, size_t, size_t);
static uint64_t *(*drain)(void);
static void (*release)(void *);
static int running = THREADS;

static void *fill(void *unused)
{
    for (int i = 0; i < EACH; i++) {
        uint8_t *buffer = NULL;
        size_t size = 0, most = 7;
        request(&buffer, &size, &most);
        if (!buffer || most != 0 || size < 3 * RECORD) abort();
        memset(buffer, 0, size);
        for (int r = 0; r < 3; r++) *(uint32_t *)(buffer + r * RECORD) = KIND;
        complete((void *)0x1234, 9, buffer, size, 3 * RECORD);
    }
    __atomic_sub_fetch(&running, 1, __ATOMIC_SEQ_CST);
    return unused;
}

static void *nothing(size_t unused)
{
    (void)unused;
    return NULL;
}

static void ask_in_vain(void)
{
    uint8_t *buffer = (uint8_t *)1;
    size_t size = 1, most = 1;
    request(&buffer, &size, &most);
    if (buffer || size || most) abort();
    complete(NULL, 0, buffer, size, 0); /* as some versions may */
}

int main(int count, char **words)
{
    if (count != 6) return 2;
    uint8_t *base = mmap(NULL, 2 * STATE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    FILE *file = fopen(words[1], "rb");
    if (!file || !fread(base, 1, STATE, file)) return 3;
    uint64_t *state = (uint64_t *)(base + STATE);
    state[MALLOC] = (uint64_t)(uintptr_t)malloc;
    state[FREE] = (uint64_t)(uintptr_t)free;
    state[SIZE] = 4096;
    state[SMALL] = 256;
    state[LIMIT] = 20 * 4096;
    base[STATE + 128 + KIND] = RECORD / 8;
    if (mprotect(base, STATE, PROT_READ | PROT_EXEC)) return 4;
    __builtin___clear_cache((char *)base, (char *)base + 4096);
    request = (void *)(base + strtoul(words[2], NULL, 0));
    complete = (void *)(base + strtoul(words[3], NULL, 0));
    drain = (void *)(base + strtoul(words[4], NULL, 0));
    release = (void *)(base + strtoul(words[5], NULL, 0));

    pthread_t threads[THREADS];
    for (int i = 0; i < THREADS; i++) pthread_create(&threads[i], NULL, fill, NULL);
    uint64_t records = 0, over = 0;
    for (int last = 0; !last;) {
        last = !__atomic_load_n(&running, __ATOMIC_SEQ_CST);
        if (state[HELD] > state[LIMIT] + THREADS * 4096) over++; /* a request adds before it checks */
        for (uint64_t *node = drain(), *next; node; node = next) {
            next = (uint64_t *)(uintptr_t)node[0];
            records += node[1] / RECORD;
            release(node);
        }
    }
    for (int i = 0; i < THREADS; i++) pthread_join(threads[i], NULL);
    uint64_t before = state[REFUSED];
    state[MALLOC] = (uint64_t)(uintptr_t)nothing;
    ask_in_vain();
    state[LIMIT] = 0;
    ask_in_vain();
    printf("{\"records\": %lu, \"lost\": %lu, \"held\": %lu, \"requested\": %lu, \"completed\": %lu, "
           "\"refused\": %lu, \"in_vain\": %lu, \"over\": %lu}\n",
           (unsigned long)records, (unsigned long)state[LOST], (unsigned long)state[HELD],
           (unsigned long)state[REQUESTED], (unsigned long)state[COMPLETED],
           (unsigned long)before, (unsigned long)(state[REFUSED] - before), (unsigned long)over);
    return 0;
}
