/* A bystander: one producer and one consumer at a fixed load, and a probe, while something else happens to the broker.
 *
 *   steady ADDRESS TOPIC RECORD_BYTES MB_PER_SECOND [key=value ...]
 *
 * It runs until its input ends. Every line on its input ends a period: it prints one line of JSON with what happened
 * since the last one. Three latencies, all counted from the moment something was due, so that a stall is not hidden:
 *   ack    a record's acknowledgement (librdkafka, its defaults: linger 5 ms, acks=all)
 *   e2e    the same record's arrival at the consumer, which reads the topic's only partition at its end
 *   probe  the answer to an ApiVersions request on a socket of its own, every 10 ms: how late the broker is for anybody
 * The library is the one inside the confluent-kafka wheel; the few declarations needed of it are below.
 */
#include <inttypes.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

typedef struct rd_kafka_s rd_kafka_t;
typedef struct rd_kafka_conf_s rd_kafka_conf_t;
typedef struct rd_kafka_topic_s rd_kafka_topic_t;
typedef struct rd_kafka_topic_conf_s rd_kafka_topic_conf_t;
typedef struct rd_kafka_queue_s rd_kafka_queue_t;
typedef struct rd_kafka_message_s {
    int err;
    rd_kafka_topic_t *rkt;
    int32_t partition;
    void *payload;
    size_t len;
    void *key;
    size_t key_len;
    int64_t offset;
    void *_private;
} rd_kafka_message_t;

enum { PRODUCER = 0, CONSUMER = 1, COPY = 2, END_OF_LOG = -1 };

rd_kafka_conf_t *rd_kafka_conf_new(void);
int rd_kafka_conf_set(rd_kafka_conf_t *, const char *, const char *, char *, size_t);
void rd_kafka_conf_set_dr_msg_cb(rd_kafka_conf_t *, void (*)(rd_kafka_t *, const rd_kafka_message_t *, void *));
rd_kafka_t *rd_kafka_new(int, rd_kafka_conf_t *, char *, size_t);
rd_kafka_topic_t *rd_kafka_topic_new(rd_kafka_t *, const char *, rd_kafka_topic_conf_t *);
int rd_kafka_produce(rd_kafka_topic_t *, int32_t, int, void *, size_t, const void *, size_t, void *);
int rd_kafka_poll(rd_kafka_t *, int);
rd_kafka_queue_t *rd_kafka_queue_new(rd_kafka_t *);
int rd_kafka_consume_start_queue(rd_kafka_topic_t *, int32_t, int64_t, rd_kafka_queue_t *);
ssize_t rd_kafka_consume_batch_queue(rd_kafka_queue_t *, int, rd_kafka_message_t **, size_t);
void rd_kafka_message_destroy(rd_kafka_message_t *);

/* Latencies in 10 us steps up to 10 s; the last bucket takes the rest. Each has one writer. Two sets: one is written
 * while the other is read. */
enum { BUCKETS = 1000000, ACK = 0, E2E, PROBE, KINDS };
static const char *const names[KINDS] = {"ack", "e2e", "probe"};
static uint32_t latencies[2][KINDS][BUCKETS];
static atomic_int writing;
static atomic_ulong sent, delivered, failed, received;

static uint64_t now_us(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000 + t.tv_nsec / 1000;
}

static void took(int kind, uint64_t due_us) {
    uint64_t bucket = (now_us() - due_us) / 10;
    latencies[writing][kind][bucket < BUCKETS ? bucket : BUCKETS - 1]++;
}

static void set(rd_kafka_conf_t *conf, const char *key, const char *value) {
    char error[512];
    if (rd_kafka_conf_set(conf, key, value, error, sizeof error)) {
        fprintf(stderr, "steady: %s=%s: %s\n", key, value, error);
        exit(2);
    }
}

static rd_kafka_t *client(int type, const char *address, rd_kafka_conf_t *conf) {
    char error[512];
    set(conf, "bootstrap.servers", address);
    rd_kafka_t *rk = rd_kafka_new(type, conf, error, sizeof error);
    if (!rk) {
        fprintf(stderr, "steady: %s\n", error);
        exit(1);
    }
    return rk;
}

static void on_delivery(rd_kafka_t *rk, const rd_kafka_message_t *m, void *opaque) {
    (void)rk, (void)opaque;
    if (m->err) {
        failed++;
        return;
    }
    delivered++;
    took(ACK, (uint64_t)(uintptr_t)m->_private);
}

static const char *address, *topic_name;
static size_t record_bytes;
static double bytes_per_s;
static char **extra;
static int extras;

static void *produce(void *unused) {
    rd_kafka_conf_t *conf = rd_kafka_conf_new();
    for (int i = 0; i < extras; i++) {
        char *equals = strchr(extra[i], '=');
        if (!equals) exit(2);
        *equals = 0;
        set(conf, extra[i], equals + 1);
    }
    rd_kafka_conf_set_dr_msg_cb(conf, on_delivery);
    rd_kafka_t *rk = client(PRODUCER, address, conf);
    rd_kafka_topic_t *topic = rd_kafka_topic_new(rk, topic_name, NULL);
    char *payload = malloc(record_bytes);
    srand(7);
    for (size_t i = 0; i < record_bytes; i++) payload[i] = (char)rand();
    uint64_t began = now_us(), count = 0;
    for (;;) {
        uint64_t due = (uint64_t)((now_us() - began) / 1e6 * bytes_per_s / record_bytes);
        while (count < due) {
            uint64_t stamp = began + (uint64_t)(count * record_bytes / bytes_per_s * 1e6);
            memcpy(payload, &stamp, sizeof stamp);
            void *opaque = (void *)(uintptr_t)stamp;
            /* Not blocking: a full queue empties only while somebody polls. */
            if (rd_kafka_produce(topic, 0, COPY, payload, record_bytes, NULL, 0, opaque)) break;
            count++;
        }
        sent = count;
        rd_kafka_poll(rk, 0);
        usleep(1000);
    }
    return unused;
}

static void *consume(void *unused) {
    rd_kafka_t *rk = client(CONSUMER, address, rd_kafka_conf_new());
    rd_kafka_topic_t *topic = rd_kafka_topic_new(rk, topic_name, NULL);
    rd_kafka_queue_t *queue = rd_kafka_queue_new(rk);
    if (rd_kafka_consume_start_queue(topic, 0, END_OF_LOG, queue)) exit(1);
    enum { MANY = 5000 };
    static rd_kafka_message_t *messages[MANY];
    for (;;) {
        /* At most a millisecond: waiting for a full batch would be charged to the broker. */
        ssize_t n = rd_kafka_consume_batch_queue(queue, 1, messages, MANY);
        for (ssize_t i = 0; i < n; i++) {
            uint64_t stamp;
            if (!messages[i]->err && messages[i]->len >= sizeof stamp) {
                memcpy(&stamp, messages[i]->payload, sizeof stamp);
                took(E2E, stamp);
                received++;
            }
            rd_kafka_message_destroy(messages[i]);
        }
    }
    return unused;
}

static int connected(void) {
    char host[256];
    snprintf(host, sizeof host, "%s", address);
    char *colon = strrchr(host, ':');
    if (!colon) return -1;
    *colon = 0;
    struct addrinfo hints = {.ai_socktype = SOCK_STREAM}, *found;
    if (getaddrinfo(host, colon + 1, &hints, &found)) return -1;
    int fd = -1, on = 1;
    for (struct addrinfo *each = found; each; each = each->ai_next) {
        fd = socket(each->ai_family, SOCK_STREAM, 0);
        if (!connect(fd, each->ai_addr, each->ai_addrlen)) break;
        close(fd);
        fd = -1;
    }
    freeaddrinfo(found);
    if (fd >= 0) setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    return fd;
}

static int read_all(int fd, char *into, size_t size) {
    for (size_t got = 0; got < size;) {
        ssize_t n = read(fd, into + got, size - got);
        if (n <= 0) return -1;
        got += n;
    }
    return 0;
}

static void *probe(void *unused) {
    /* Size 10, ApiVersions (18) version 0, a correlation id, no client id. */
    static const char request[] = {0, 0, 0, 10, 0, 18, 0, 0, 0, 0, 0, 1, -1, -1};
    static char answer[1 << 16];
    int fd = connected();
    if (fd < 0) {
        fprintf(stderr, "steady: cannot connect to %s\n", address);
        exit(1);
    }
    for (uint64_t due = now_us();; due += 10000) {
        uint64_t now = now_us();
        if (now < due) usleep(due - now);
        uint32_t size;
        if (write(fd, request, sizeof request) != sizeof request || read_all(fd, (char *)&size, 4) ||
            ntohl(size) > sizeof answer || read_all(fd, answer, ntohl(size))) {
            fprintf(stderr, "steady: the probe's connection ended\n");
            exit(1);
        }
        took(PROBE, due);
        /* Probes that fell due while the answer was late would have waited too: count them, do not send them. */
        while (now_us() > due + 10000) took(PROBE, due += 10000);
    }
    return unused;
}

static double percentile_ms(const uint32_t *counts, uint64_t total, double share) {
    uint64_t seen = 0, wanted = (uint64_t)(total * share);
    if (!total) return -1;
    for (int i = 0; i < BUCKETS; i++)
        if ((seen += counts[i]) > wanted) return i / 100.0;
    return -1;
}

static void period(void) {
    static uint64_t last[4];
    static double last_cpu_s;
    int reading = atomic_exchange(&writing, !writing);
    usleep(2000); /* whoever had read the old index has written by now */
    uint64_t counts[4] = {sent, delivered, failed, received};
    const char *const what[4] = {"sent", "delivered", "failed", "received"};
    printf("{");
    for (int i = 0; i < 4; i++) {
        printf("\"%s\": %" PRIu64 ", ", what[i], counts[i] - last[i]);
        last[i] = counts[i];
    }
    for (int kind = 0; kind < KINDS; kind++) {
        uint32_t *of = latencies[reading][kind];
        uint64_t total = 0;
        for (int i = 0; i < BUCKETS; i++) total += of[i];
        const double shares[] = {0.5, 0.99, 0.999};
        const char *const suffixes[] = {"p50", "p99", "p999"};
        for (int i = 0; i < 3; i++)
            printf("\"%s_%s_ms\": %.2f, ", names[kind], suffixes[i], percentile_ms(of, total, shares[i]));
        int top = BUCKETS - 1;
        while (top && !of[top]) top--;
        printf("\"%s_max_ms\": %.2f, ", names[kind], top / 100.0);
        memset(of, 0, sizeof latencies[0][0]);
    }
    struct rusage used;
    getrusage(RUSAGE_SELF, &used);
    double cpu_s = used.ru_utime.tv_sec + used.ru_stime.tv_sec + (used.ru_utime.tv_usec + used.ru_stime.tv_usec) / 1e6;
    printf("\"cpu_s\": %.3f}\n", cpu_s - last_cpu_s);
    last_cpu_s = cpu_s;
    fflush(stdout);
}

int main(int argc, char **argv) {
    if (argc < 5) {
        fprintf(stderr, "usage: see the top of benchmarks/groups/steady.c\n");
        return 2;
    }
    address = argv[1], topic_name = argv[2];
    record_bytes = strtoul(argv[3], 0, 10);
    bytes_per_s = atof(argv[4]) * 1e6;
    extra = argv + 5, extras = argc - 5;
    if (record_bytes < sizeof(uint64_t)) return 2;
    pthread_t thread;
    pthread_create(&thread, NULL, consume, NULL);
    pthread_create(&thread, NULL, probe, NULL);
    usleep(300000); /* the consumer is at the log's end before the first record */
    pthread_create(&thread, NULL, produce, NULL);
    for (int c; (c = getchar()) != EOF;)
        if (c == '\n') period();
    _exit(0); /* a clean close would wait for what is under way */
}
