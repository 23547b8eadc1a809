/* A load generator with little CPU of its own: librdkafka, paced, in C.
 *
 *   load produce BOOTSTRAP TOPIC RECORD_BYTES BATCH_BYTES MB_PER_SECOND SECONDS [key=value ...]
 *   load consume BOOTSTRAP TOPIC PARTITIONS RECORDS [key=value ...]
 *   load latency BOOTSTRAP TOPIC RECORD_BYTES RECORDS_PER_SECOND SECONDS [key=value ...]
 *   load mock    BROKERS PARTITIONS TOPIC     (librdkafka's mock cluster; prints its address, ends with its input)
 *
 * `produce` offers a fixed load: every millisecond it hands over what is due, and it reports what was delivered, the latency
 * from the moment a record was due to its acknowledgement, and how many requests librdkafka sent. `consume` reads all
 * partitions from offset 0 until it has RECORDS. `latency` writes to partition 0 without linger and reads it in another
 * thread: the time from the moment a record was due to the moment the application has it.
 * The result is one line of JSON. The library is the one inside the confluent-kafka wheel; the few declarations
 * needed of it are below.
 */
#include <inttypes.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

typedef struct rd_kafka_s rd_kafka_t;
typedef struct rd_kafka_conf_s rd_kafka_conf_t;
typedef struct rd_kafka_topic_s rd_kafka_topic_t;
typedef struct rd_kafka_topic_conf_s rd_kafka_topic_conf_t;
typedef struct rd_kafka_queue_s rd_kafka_queue_t;
typedef struct rd_kafka_mock_cluster_s rd_kafka_mock_cluster_t;
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

enum { PRODUCER = 0, CONSUMER = 1 };

rd_kafka_conf_t *rd_kafka_conf_new(void);
int rd_kafka_conf_set(rd_kafka_conf_t *, const char *, const char *, char *, size_t);
void rd_kafka_conf_set_dr_msg_cb(rd_kafka_conf_t *, void (*)(rd_kafka_t *, const rd_kafka_message_t *, void *));
void rd_kafka_conf_set_stats_cb(rd_kafka_conf_t *, int (*)(rd_kafka_t *, char *, size_t, void *));
rd_kafka_t *rd_kafka_new(int, rd_kafka_conf_t *, char *, size_t);
rd_kafka_topic_t *rd_kafka_topic_new(rd_kafka_t *, const char *, rd_kafka_topic_conf_t *);
int rd_kafka_produce(rd_kafka_topic_t *, int32_t, int, void *, size_t, const void *, size_t, void *);
int rd_kafka_poll(rd_kafka_t *, int);
int rd_kafka_flush(rd_kafka_t *, int);
rd_kafka_queue_t *rd_kafka_queue_new(rd_kafka_t *);
int rd_kafka_consume_start_queue(rd_kafka_topic_t *, int32_t, int64_t, rd_kafka_queue_t *);
ssize_t rd_kafka_consume_batch_queue(rd_kafka_queue_t *, int, rd_kafka_message_t **, size_t);
void rd_kafka_message_destroy(rd_kafka_message_t *);
const char *rd_kafka_err2str(int);
rd_kafka_mock_cluster_t *rd_kafka_mock_cluster_new(rd_kafka_t *, int);
const char *rd_kafka_mock_cluster_bootstraps(const rd_kafka_mock_cluster_t *);
int rd_kafka_mock_topic_create(rd_kafka_mock_cluster_t *, const char *, int, int);

static double now_s(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec + t.tv_nsec / 1e9;
}

static uint64_t delivered, failed;
static int last_error;
static long produce_requests, fetch_requests;
/* Latencies in 10 us steps up to 10 s; the tail bucket takes the rest. */
enum { BUCKETS = 1000000 };
static uint32_t latencies[BUCKETS];

static void on_delivery(rd_kafka_t *rk, const rd_kafka_message_t *m, void *opaque) {
    (void)rk, (void)opaque;
    if (m->err) {
        failed++;
        last_error = m->err;
        return;
    }
    delivered++;
    if (!m->_private) return; /* as fast as it goes: nothing was due, and a clock per record would cost the client */
    uint64_t took_us = (uint64_t)(now_s() * 1e6) - (uint64_t)(uintptr_t)m->_private;
    uint64_t bucket = took_us / 10;
    latencies[bucket < BUCKETS ? bucket : BUCKETS - 1]++;
}

/* The statistics' request counts of all brokers: "req":{"Produce":n,...,"Fetch":n}. */
static long count_of(const char *json, const char *name) {
    long sum = 0;
    char wanted[32];
    snprintf(wanted, sizeof wanted, "\"%s\":", name);
    for (const char *at = json; (at = strstr(at, "\"req\":")); at++) {
        const char *end = strchr(at, '}');
        const char *found = strstr(at, wanted);
        if (found && end && found < end) sum += atol(found + strlen(wanted));
    }
    return sum;
}

static int on_stats(rd_kafka_t *rk, char *json, size_t len, void *opaque) {
    (void)rk, (void)len, (void)opaque;
    produce_requests = count_of(json, "Produce");
    fetch_requests = count_of(json, "Fetch");
    return 0;
}

static void set(rd_kafka_conf_t *conf, const char *key, const char *value) {
    char error[512];
    if (rd_kafka_conf_set(conf, key, value, error, sizeof error)) {
        fprintf(stderr, "load: %s=%s: %s\n", key, value, error);
        exit(2);
    }
}

static rd_kafka_t *client(int type, const char *bootstrap, char **extra, int extras, rd_kafka_conf_t *conf) {
    char error[512];
    set(conf, "bootstrap.servers", bootstrap);
    set(conf, "statistics.interval.ms", "200");
    rd_kafka_conf_set_stats_cb(conf, on_stats);
    for (int i = 0; i < extras; i++) {
        char pair[256];
        snprintf(pair, sizeof pair, "%s", extra[i]);
        char *equals = strchr(pair, '=');
        if (!equals) {
            fprintf(stderr, "load: %s is not key=value\n", pair);
            exit(2);
        }
        *equals = 0;
        set(conf, pair, equals + 1);
    }
    rd_kafka_t *rk = rd_kafka_new(type, conf, error, sizeof error);
    if (!rk) {
        fprintf(stderr, "load: %s\n", error);
        exit(1);
    }
    return rk;
}

/* Records that differ and that a compressor can do something with: words, as in logs and events, and numbers. */
enum { RECORDS_IN_POOL = 1024, WORDS = 512 };
static char *record_pool(size_t record_bytes) {
    static char words[WORDS][10];
    char *pool = malloc(record_bytes * RECORDS_IN_POOL + 64), *at = pool, *end = pool + record_bytes * RECORDS_IN_POOL;
    srand(7);
    for (int i = 0; i < WORDS; i++)
        for (int j = 0, length = 3 + rand() % 6; j < length; j++) words[i][j] = (char)('a' + rand() % 26);
    while (at < end) at += rand() % 3 ? sprintf(at, "%s ", words[rand() % WORDS]) : sprintf(at, "%08x ", rand());
    return pool;
}

static double percentile_ms(double share) {
    uint64_t seen = 0, wanted = (uint64_t)(delivered * share);
    for (int i = 0; i < BUCKETS; i++)
        if ((seen += latencies[i]) > wanted) return i / 100.0;
    return -1;
}

static double own_cpu_s(void) {
    struct rusage used;
    getrusage(RUSAGE_SELF, &used);
    return used.ru_utime.tv_sec + used.ru_utime.tv_usec / 1e6 + used.ru_stime.tv_sec + used.ru_stime.tv_usec / 1e6;
}

static volatile sig_atomic_t enough;

static void on_term(int number) {
    (void)number;
    enough = 1; /* the run ends as if its time were over */
}

static int produce(int argc, char **argv) {
    if (argc < 8) return 2;
    signal(SIGTERM, on_term);
    size_t record_bytes = strtoul(argv[4], 0, 10);
    double rate = atof(argv[6]) * 1e6, seconds = atof(argv[7]);
    int paced = rate < 1e10; /* nobody carries 10 GB/s: more than that means as fast as it goes */
    rd_kafka_conf_t *conf = rd_kafka_conf_new();
    set(conf, "batch.size", argv[5]);
    set(conf, "batch.num.messages", "1000000");
    set(conf, "queue.buffering.max.kbytes", "1048576");
    set(conf, "queue.buffering.max.messages", "10000000");
    set(conf, "linger.ms", "100"); /* batches fill to batch.size, so that request sizes are what they say */
    rd_kafka_conf_set_dr_msg_cb(conf, on_delivery);
    rd_kafka_t *rk = client(PRODUCER, argv[2], argv + 8, argc - 8, conf);
    rd_kafka_topic_t *topic = rd_kafka_topic_new(rk, argv[3], NULL);
    char *pool = record_pool(record_bytes);
    double began = now_s(), ended = began + seconds;
    uint64_t sent = 0;
    for (double now = began; now < ended && !enough; now = now_s()) {
        uint64_t due = (uint64_t)((now - began) * rate / record_bytes);
        while (sent < due) {
            /* From when it was due, not from when its turn came: a stalled system must not hide its stall. */
            double was_due = began + sent * record_bytes / rate;
            void *stamp = paced ? (void *)(uintptr_t)(uint64_t)(was_due * 1e6) : NULL;
            /* Not blocking: a full queue empties only while somebody polls. */
            char *payload = pool + sent % RECORDS_IN_POOL * record_bytes;
            if (rd_kafka_produce(topic, -1, 0, payload, record_bytes, NULL, 0, stamp)) break;
            sent++;
        }
        rd_kafka_poll(rk, 0);
        usleep(1000);
    }
    rd_kafka_flush(rk, 60000);
    double took = now_s() - began;
    for (int i = 0; i < 4; i++) rd_kafka_poll(rk, 100); /* the last statistics */
    printf("{\"sent\": %" PRIu64 ", \"delivered\": %" PRIu64 ", \"failed\": %" PRIu64
           ", \"seconds\": %.3f, \"mb\": %.3f, \"requests\": %ld, \"p50_ms\": %.2f, \"p99_ms\": %.2f, "
           "\"p999_ms\": %.2f, \"client_cpu_s\": %.2f, \"error\": \"%s\"}\n",
           sent, delivered, failed, took, delivered * record_bytes / 1e6, produce_requests, percentile_ms(0.5),
           percentile_ms(0.99), percentile_ms(0.999), own_cpu_s(), last_error ? rd_kafka_err2str(last_error) : "");
    return failed || delivered != sent;
}

static int consume(int argc, char **argv) {
    if (argc < 6) return 2;
    int partitions = atoi(argv[4]);
    uint64_t wanted = strtoull(argv[5], 0, 10), got = 0, bytes = 0;
    rd_kafka_conf_t *conf = rd_kafka_conf_new();
    set(conf, "queued.max.messages.kbytes", "262144");
    set(conf, "queued.min.messages", "1000000");
    rd_kafka_t *rk = client(CONSUMER, argv[2], argv + 6, argc - 6, conf);
    rd_kafka_topic_t *topic = rd_kafka_topic_new(rk, argv[3], NULL);
    rd_kafka_queue_t *queue = rd_kafka_queue_new(rk);
    enum { MANY = 20000 };
    rd_kafka_message_t **messages = malloc(MANY * sizeof *messages);
    double began = now_s(), silent_since = began;
    for (int p = 0; p < partitions; p++)
        if (rd_kafka_consume_start_queue(topic, p, 0, queue)) return 1;
    while (got < wanted && now_s() - silent_since < 30) {
        ssize_t n = rd_kafka_consume_batch_queue(queue, 200, messages, MANY);
        for (ssize_t i = 0; i < n; i++) {
            if (!messages[i]->err) got++, bytes += messages[i]->len;
            rd_kafka_message_destroy(messages[i]);
        }
        if (n > 0) silent_since = now_s();
        rd_kafka_poll(rk, 0);
    }
    double took = now_s() - began;
    for (int i = 0; i < 4; i++) rd_kafka_poll(rk, 100);
    printf("{\"received\": %" PRIu64 ", \"mb\": %.3f, \"seconds\": %.3f, \"requests\": %ld, \"client_cpu_s\": %.2f}\n",
           got, bytes / 1e6, took, fetch_requests, own_cpu_s());
    fflush(stdout);
    _exit(got != wanted); /* a clean close would send more requests */
}

/* What the reading thread of `latency` shares with the writing one: when measured records begin, and how many came. */
static struct {
    const char *bootstrap, *name;
    volatile uint64_t received, measured;
    volatile double measured_from;
    volatile int stop;
} reading;

static void *read_latencies(void *unused) {
    (void)unused;
    rd_kafka_t *rk = client(CONSUMER, reading.bootstrap, NULL, 0, rd_kafka_conf_new());
    rd_kafka_topic_t *topic = rd_kafka_topic_new(rk, reading.name, NULL);
    rd_kafka_queue_t *queue = rd_kafka_queue_new(rk);
    enum { MANY = 1000 };
    rd_kafka_message_t *messages[MANY];
    if (rd_kafka_consume_start_queue(topic, 0, 0, queue)) exit(1);
    while (!reading.stop) {
        /* One at a time while it is quiet: a batch call waits for more. */
        ssize_t n = rd_kafka_consume_batch_queue(queue, 1000, messages, 1);
        if (n > 0) {
            ssize_t more = rd_kafka_consume_batch_queue(queue, 0, messages + 1, MANY - 1);
            if (more > 0) n += more;
        }
        double now = now_s();
        for (ssize_t i = 0; i < n; i++) {
            if (!messages[i]->err) {
                double due;
                memcpy(&due, messages[i]->payload, sizeof due);
                reading.received++;
                if (reading.measured_from && due >= reading.measured_from) {
                    uint64_t bucket = (uint64_t)((now - due) * 1e5);
                    latencies[bucket < BUCKETS ? bucket : BUCKETS - 1]++;
                    reading.measured++;
                }
            }
            rd_kafka_message_destroy(messages[i]);
        }
        rd_kafka_poll(rk, 0);
    }
    return NULL;
}

static void sleep_until(double at) {
    struct timespec t = {.tv_sec = (time_t)at, .tv_nsec = (long)((at - (double)(time_t)at) * 1e9)};
    clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &t, NULL);
}

static int latency(int argc, char **argv) {
    if (argc < 7) return 2;
    size_t record_bytes = strtoul(argv[4], 0, 10);
    double per_s = atof(argv[5]), seconds = atof(argv[6]);
    prctl(PR_SET_TIMERSLACK, 1000UL);
    reading.bootstrap = argv[2], reading.name = argv[3];
    rd_kafka_conf_t *conf = rd_kafka_conf_new();
    set(conf, "linger.ms", "0");
    /* As Java's default. Without a bound every record is a request of its own, and the client drowns in them. */
    set(conf, "max.in.flight", "5");
    rd_kafka_t *rk = client(PRODUCER, argv[2], argv + 7, argc - 7, conf);
    rd_kafka_topic_t *topic = rd_kafka_topic_new(rk, argv[3], NULL);
    pthread_t reader;
    pthread_create(&reader, NULL, read_latencies, NULL);
    char *pool = record_pool(record_bytes);
    uint64_t sent = 0, sent_measured = 0;
    double began = now_s(), cpu_s = 0;
    /* Until the first record has come through, and a second longer, nothing counts. */
    double first_came = 0, end = 0;
    for (uint64_t number = 0;; number++) {
        double due = began + number / per_s;
        if (!first_came && reading.received) first_came = now_s();
        if (!first_came && now_s() - began > 20) return 1;
        if (first_came && !end && due > first_came + 1) {
            reading.measured_from = due;
            end = due + seconds;
            cpu_s = own_cpu_s();
        }
        if (end && due >= end) break;
        sleep_until(due);
        char *payload = pool + number % RECORDS_IN_POOL * record_bytes;
        memcpy(payload, &due, sizeof due);
        enum { COPY = 2 };
        if (rd_kafka_produce(topic, 0, COPY, payload, record_bytes, NULL, 0, NULL)) failed++;
        else sent++, sent_measured += end != 0;
        rd_kafka_poll(rk, 0);
    }
    rd_kafka_flush(rk, 30000);
    for (double until = now_s() + 10; reading.received < sent && now_s() < until;) usleep(1000);
    cpu_s = own_cpu_s() - cpu_s;
    for (int i = 0; i < 4; i++) rd_kafka_poll(rk, 100);
    delivered = reading.measured;
    printf("{\"sent\": %" PRIu64 ", \"all_sent\": %" PRIu64 ", \"received\": %" PRIu64 ", \"failed\": %" PRIu64
           ", \"mb\": %.3f, \"requests\": %ld, \"p50_ms\": %.2f, \"p99_ms\": %.2f, \"p999_ms\": %.2f, "
           "\"client_cpu_s\": %.2f}\n",
           sent_measured, sent, delivered, failed, sent * record_bytes / 1e6, produce_requests, percentile_ms(0.5),
           percentile_ms(0.99), percentile_ms(0.999), own_cpu_s());
    fflush(stdout);
    _exit(failed || delivered != sent_measured);
}

static int mock(int argc, char **argv) {
    if (argc < 5) return 2;
    char error[512];
    rd_kafka_conf_t *conf = rd_kafka_conf_new();
    set(conf, "client.id", "mock");
    rd_kafka_t *rk = rd_kafka_new(PRODUCER, conf, error, sizeof error);
    rd_kafka_mock_cluster_t *cluster = rd_kafka_mock_cluster_new(rk, atoi(argv[2]));
    if (rd_kafka_mock_topic_create(cluster, argv[4], atoi(argv[3]), 1)) return 1;
    printf("%s\n", rd_kafka_mock_cluster_bootstraps(cluster));
    fflush(stdout);
    while (getchar() != EOF) {
    }
    return 0;
}

int main(int argc, char **argv) {
    const char *mode = argc > 1 ? argv[1] : "";
    int code = 2;
    if (!strcmp(mode, "produce")) code = produce(argc, argv);
    else if (!strcmp(mode, "consume")) code = consume(argc, argv);
    else if (!strcmp(mode, "latency")) code = latency(argc, argv);
    else if (!strcmp(mode, "mock")) code = mock(argc, argv);
    if (code == 2) fprintf(stderr, "usage: see the top of benchmarks/load.c\n");
    return code;
}
