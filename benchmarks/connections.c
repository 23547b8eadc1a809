/* Many connections with next to no client: requests made beforehand, sent at a fixed total rate, by one epoll loop.
 *
 *   connections HOST PORT FRAMES CONNECTIONS REQUESTS_PER_SECOND SECONDS ERROR_AT
 *
 * FRAMES is a file of whole request frames (length, header, body), sent in turn; the correlation id, at byte 8 of
 * each, is made here. Connections take turns, too, so that the total is the same however many there are. A
 * connection may have several requests under way: the next is sent when it is due, not when the last was answered.
 * However long it takes, REQUESTS_PER_SECOND times SECONDS requests are sent. ERROR_AT is where in a response (after its length) the 16-bit error code lies, which has to be 0. Latency counts
 * from the moment a request was due. A hundred instances of a client library would measure themselves on a small machine.
 * The result is one line of JSON.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <netdb.h>
#include <netinet/tcp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

enum { PIPELINE = 256, RESPONSE = 4096, BUCKETS = 1000000 };

typedef struct {
    int fd;
    /* Moments at which the requests under way were due, oldest first. */
    double due[PIPELINE];
    unsigned first, count;
    /* The frame being sent, and a response being received. */
    char *out;
    size_t out_size, out_done;
    int full; /* the socket took no more; epoll tells when it does */
    unsigned char in[RESPONSE];
    size_t in_got;
} Connection;

static uint32_t latencies[BUCKETS];
static uint64_t sent, answered, failed, held_back;
static int error_at;

static double now_s(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec + t.tv_nsec / 1e9;
}

static void die(const char *what) {
    fprintf(stderr, "connections: %s: %s\n", what, strerror(errno));
    exit(1);
}

static double percentile_ms(double share) {
    uint64_t seen = 0, wanted = (uint64_t)(answered * share);
    for (int i = 0; i < BUCKETS; i++)
        if ((seen += latencies[i]) > wanted) return i / 100.0;
    return -1;
}

static void watch(int epoll, Connection *c, int how) {
    struct epoll_event event = {.events = EPOLLIN | (c->full ? EPOLLOUT : 0), .data.ptr = c};
    if (epoll_ctl(epoll, how, c->fd, &event)) die("epoll_ctl");
}

static void push(int epoll, Connection *c) {
    while (c->out_done < c->out_size) {
        ssize_t n = send(c->fd, c->out + c->out_done, c->out_size - c->out_done, MSG_NOSIGNAL);
        if (n < 0 && (errno == EAGAIN || errno == EINTR)) {
            if (!c->full) c->full = 1, watch(epoll, c, EPOLL_CTL_MOD);
            return;
        }
        if (n < 0) die("send");
        c->out_done += (size_t)n;
    }
    free(c->out);
    c->out = NULL;
    if (c->full) c->full = 0, watch(epoll, c, EPOLL_CTL_MOD);
}

static void pull(Connection *c) {
    for (;;) {
        ssize_t n = recv(c->fd, c->in + c->in_got, sizeof c->in - c->in_got, 0);
        if (n == 0) {
            fprintf(stderr, "connections: the broker closed a connection\n");
            exit(1);
        }
        if (n < 0 && (errno == EAGAIN || errno == EINTR)) return;
        if (n < 0) die("recv");
        c->in_got += (size_t)n;
        for (;;) {
            uint32_t size;
            if (c->in_got < 4) break;
            memcpy(&size, c->in, 4);
            size = ntohl(size);
            if (size > RESPONSE - 4) {
                fprintf(stderr, "connections: a response of %u bytes\n", size);
                exit(1);
            }
            if (c->in_got < 4 + size) break;
            double took = now_s() - c->due[c->first];
            uint64_t bucket = took > 0 ? (uint64_t)(took * 1e5) : 0;
            latencies[bucket < BUCKETS ? bucket : BUCKETS - 1]++;
            c->first = (c->first + 1) % PIPELINE, c->count--;
            answered++;
            if (c->in[4 + error_at] || c->in[5 + error_at]) failed++;
            memmove(c->in, c->in + 4 + size, c->in_got -= 4 + size);
        }
    }
}

int main(int argc, char **argv) {
    if (argc != 8) {
        fprintf(stderr, "usage: see the top of benchmarks/connections.c\n");
        return 2;
    }
    int many = atoi(argv[4]);
    double per_s = atof(argv[5]), seconds = atof(argv[6]);
    error_at = atoi(argv[7]);
    prctl(PR_SET_TIMERSLACK, 1000UL);
    FILE *file = fopen(argv[3], "rb");
    if (!file) die(argv[3]);
    char *frames[20000];
    size_t sizes[20000], count = 0;
    uint32_t size;
    while (count < 20000 && fread(&size, 4, 1, file) == 1) {
        sizes[count] = ntohl(size) + 4;
        frames[count] = malloc(sizes[count]);
        memcpy(frames[count], &size, 4);
        if (fread(frames[count] + 4, 1, sizes[count] - 4, file) != sizes[count] - 4) die("a frame ends early");
        count++;
    }
    struct addrinfo hints = {.ai_socktype = SOCK_STREAM}, *address;
    if (getaddrinfo(argv[1], argv[2], &hints, &address)) die("address");
    int epoll = epoll_create1(0), one = 1;
    Connection *all = calloc((size_t)many, sizeof *all);
    for (int i = 0; i < many; i++) {
        struct addrinfo *at = address;
        for (; at; at = at->ai_next) {
            all[i].fd = socket(at->ai_family, SOCK_STREAM, 0);
            if (!connect(all[i].fd, at->ai_addr, at->ai_addrlen)) break;
            close(all[i].fd);
        }
        if (!at) die("connect");
        setsockopt(all[i].fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
        fcntl(all[i].fd, F_SETFL, O_NONBLOCK);
        watch(epoll, &all[i], EPOLL_CTL_ADD);
    }
    /* A timer among the sockets: epoll's own timeout counts whole milliseconds. */
    int timer = timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK);
    struct itimerspec every = {{0, 200000}, {0, 200000}};
    timerfd_settime(timer, 0, &every, NULL);
    struct epoll_event tick = {.events = EPOLLIN, .data.ptr = NULL}, events[256];
    epoll_ctl(epoll, EPOLL_CTL_ADD, timer, &tick);
    double began = now_s(), give_up = began + seconds + 30;
    uint64_t number = 0, bytes = 0, total = (uint64_t)(per_s * seconds + 0.5);
    while (answered < total && now_s() < give_up) {
        int n = epoll_wait(epoll, events, 256, 100);
        for (int i = 0; i < n; i++) {
            Connection *c = events[i].data.ptr;
            if (!c) {
                uint64_t ticks;
                if (read(timer, &ticks, sizeof ticks) < 0 && errno != EAGAIN) die("timer");
                continue;
            }
            if (events[i].events & EPOLLOUT && c->out) push(epoll, c);
            if (events[i].events & (EPOLLIN | EPOLLHUP | EPOLLERR)) pull(c);
        }
        double now = now_s();
        while (number < total && began + number / per_s <= now) {
            Connection *c = &all[number % (uint64_t)many];
            if (c->out || c->count == PIPELINE) {
                held_back++; /* its turn stays due: nothing is skipped */
                break;
            }
            size_t which = number % count;
            c->due[(c->first + c->count++) % PIPELINE] = began + number / per_s;
            c->out = malloc(sizes[which]), c->out_size = sizes[which], c->out_done = 0;
            memcpy(c->out, frames[which], sizes[which]);
            uint32_t correlation_id = htonl((uint32_t)number);
            memcpy(c->out + 8, &correlation_id, 4);
            bytes += sizes[which];
            number++, sent++;
            push(epoll, c);
        }
    }
    double took = now_s() - began;
    struct rusage used;
    getrusage(RUSAGE_SELF, &used);
    printf("{\"sent\": %" PRIu64 ", \"answered\": %" PRIu64 ", \"failed\": %" PRIu64 ", \"held_back\": %" PRIu64
           ", \"mb\": %.3f, \"seconds\": %.3f, \"p50_ms\": %.2f, \"p99_ms\": %.2f, \"p999_ms\": %.2f, "
           "\"client_cpu_s\": %.3f}\n",
           sent, answered, failed, held_back, bytes / 1e6, took, percentile_ms(0.5), percentile_ms(0.99),
           percentile_ms(0.999),
           used.ru_utime.tv_sec + used.ru_utime.tv_usec / 1e6 + used.ru_stime.tv_sec + used.ru_stime.tv_usec / 1e6);
    return failed || answered != total;
}
