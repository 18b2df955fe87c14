#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/if_tun.h>
#include <net/if.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

#include "options.h"
#include "packet.h"
#include "profile.h"
#include "queue.h"
#include "record.h"

/* The most packets read from one side before due packets are sent: reading must not delay sending. */
enum { READ_AT_ONCE = 16, TRANSMIT_QUEUE = 20000, IDLE_MS = 100 };

struct program {
    struct options options;
    int sides[2];  /* TUN descriptors: left, right */
    int timer, signals;
    struct queue queue;
    struct record record;
    uint64_t order;
    uint64_t packets[2];  /* so far, by direction */
    int64_t last_due_ns[2];
};

static void die(const char *what) {
    fprintf(stderr, "impair: %s: %s\n", what, strerror(errno));
    exit(1);
}

static int64_t clock_ns(clockid_t clock) {
    struct timespec t;
    clock_gettime(clock, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static struct times now(void) {
    return (struct times){.monotonic_ns = clock_ns(CLOCK_MONOTONIC), .realtime_ns = clock_ns(CLOCK_REALTIME)};
}

/* ---- Interfaces --------------------------------------------------------------------------------------------------- */

static void enter(const char *name) {
    char path[128];
    snprintf(path, sizeof path, "/run/netns/%s", name);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0 || setns(fd, CLONE_NEWNET) != 0) die(path);
    close(fd);
}

/* The default queue of 500 packets drops some of a flood before this program sees them. */
static void bring_up(const char *name) {
    int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    struct ifreq request = {0};
    strcpy(request.ifr_name, name);
    request.ifr_qlen = TRANSMIT_QUEUE;
    if (fd < 0 || ioctl(fd, SIOCSIFTXQLEN, &request) != 0) die("transmit queue");
    if (ioctl(fd, SIOCGIFFLAGS, &request) != 0) die("interface flags");
    request.ifr_flags |= IFF_UP;
    if (ioctl(fd, SIOCSIFFLAGS, &request) != 0) die("interface up");
    close(fd);
}

static int open_side(const struct side *side) {
    enter(side->network_namespace);
    int fd = open("/dev/net/tun", O_RDWR | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0) die("/dev/net/tun");
    struct ifreq request = {.ifr_flags = IFF_TUN | IFF_NO_PI};
    strcpy(request.ifr_name, side->interface_name);
    if (ioctl(fd, TUNSETIFF, &request) != 0) die(side->interface_name);
    bring_up(side->interface_name);
    return fd;
}

/* ---- Packets in --------------------------------------------------------------------------------------------------- */

static struct parcel *make_parcel(const uint8_t *bytes, size_t length, const struct parcel *model) {
    struct parcel *parcel = malloc(sizeof *parcel + length);
    if (!parcel) die("memory");
    *parcel = *model;
    parcel->length = length;
    memcpy(parcel->bytes, bytes, length);
    return parcel;
}

static void queue_parcel(struct program *program, struct parcel *parcel, int64_t delay_ns) {
    parcel->due_ns = parcel->in.monotonic_ns + delay_ns;
    parcel->order = program->order++;
    int64_t *last = &program->last_due_ns[parcel->direction];
    bool in_line = program->options.profiles[parcel->direction].keep_order && !parcel->copy && !parcel->fate.reordered && !parcel->fate.held;
    if (in_line && parcel->due_ns < *last) parcel->due_ns = *last;
    if (in_line) *last = parcel->due_ns;
    if (queue_push(&program->queue, parcel) == 0) return;
    program->record.counts[parcel->direction].queue_full++;
    free(parcel);
}

static void corrupt(struct parcel *parcel) {
    parcel->bit = packet_flip(parcel->bytes, &parcel->id, parcel->fate.random);
    if (parcel->bit >= 0 && parcel->fate.corrupt_fixed) packet_fix_checksum(parcel->bytes, &parcel->id);
}

static void take_packet(struct program *program, enum direction direction, const uint8_t *bytes, size_t length) {
    struct parcel model = {.direction = direction, .bit = -1, .in = now(), .id = packet_identify(bytes, length)};
    model.hash_in = packet_hash(bytes, &model.id);
    model.number = program->packets[direction]++;
    model.fate = profile_fate(&program->options.profiles[direction], program->options.seed, direction, model.number);
    program->record.counts[direction].in++;
    struct parcel *parcel = make_parcel(bytes, length, &model);
    if (parcel->fate.lost) {
        record_lost(&program->record, parcel);
        free(parcel);
        return;
    }
    if (parcel->fate.corrupt || parcel->fate.corrupt_fixed) corrupt(parcel);
    queue_parcel(program, parcel, model.fate.delay_ns);
    if (!model.fate.duplicated) return;
    model.copy = 1;
    queue_parcel(program, make_parcel(bytes, length, &model), model.fate.copy_delay_ns);
}

static void read_side(struct program *program, enum direction direction) {
    static uint8_t bytes[65536];
    for (int i = 0; i < READ_AT_ONCE; i++) {
        ssize_t length = read(program->sides[direction == UP ? 0 : 1], bytes, sizeof bytes);
        if (length < 0 && errno != EAGAIN && errno != EINTR && errno != EIO) die("reading an interface");
        if (length <= 0) return;
        take_packet(program, direction, bytes, (size_t)length);
    }
}

/* ---- Packets out -------------------------------------------------------------------------------------------------- */

static void release(struct program *program) {
    struct parcel *parcel;
    while ((parcel = queue_first(&program->queue)) && parcel->due_ns <= clock_ns(CLOCK_MONOTONIC)) {
        queue_pop(&program->queue);
        struct times out = now();
        ssize_t written = write(program->sides[parcel->direction == UP ? 1 : 0], parcel->bytes, parcel->length);
        record_out(&program->record, parcel, out, written < 0 ? errno : 0);
        free(parcel);
    }
}

static void set_timer(struct program *program) {
    const struct parcel *first = queue_first(&program->queue);
    struct itimerspec at = {0};
    if (first) at.it_value = (struct timespec){.tv_sec = first->due_ns / 1000000000, .tv_nsec = first->due_ns % 1000000000};
    if (timerfd_settime(program->timer, TFD_TIMER_ABSTIME, &at, NULL) != 0) die("timer");
}

/* ---- The program -------------------------------------------------------------------------------------------------- */

static void run(struct program *program) {
    int64_t end_ns = program->options.duration_s > 0 ? clock_ns(CLOCK_MONOTONIC) + (int64_t)(program->options.duration_s * 1e9) : INT64_MAX;
    while (clock_ns(CLOCK_MONOTONIC) < end_ns) {
        set_timer(program);
        struct pollfd polled[] = {{program->sides[0], POLLIN, 0}, {program->sides[1], POLLIN, 0}, {program->timer, POLLIN, 0}, {program->signals, POLLIN, 0}};
        int ready = poll(polled, 4, IDLE_MS);
        if (ready < 0 && errno != EINTR) die("poll");
        release(program);
        if (ready > 0 && polled[3].revents) return;
        if (ready > 0 && polled[0].revents) read_side(program, UP);
        release(program);
        if (ready > 0 && polled[1].revents) read_side(program, DOWN);
        if (ready == 0 && program->record.log) fflush(program->record.log);
    }
}

static void open_log(struct program *program) {
    if (!program->options.log) return;
    program->record.log = fopen(program->options.log, "we");
    if (!program->record.log) die(program->options.log);
    setvbuf(program->record.log, NULL, _IOFBF, 1 << 20);
}

static void prepare(struct program *program) {
    sigset_t signals;
    sigemptyset(&signals);
    sigaddset(&signals, SIGINT);
    sigaddset(&signals, SIGTERM);
    sigprocmask(SIG_BLOCK, &signals, NULL);
    program->signals = signalfd(-1, &signals, SFD_CLOEXEC | SFD_NONBLOCK);
    program->timer = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
    program->queue.capacity = program->options.queue;
    program->queue.items = calloc(program->options.queue + 1, sizeof *program->queue.items);
    if (program->signals < 0 || program->timer < 0 || !program->queue.items) die("starting");
}

/* All three improve the pacing, and are optional. */
static void sharpen(const struct options *options) {
    prctl(PR_SET_TIMERSLACK, 1);
    mlockall(MCL_CURRENT | MCL_FUTURE);
    if (options->cpu >= 0) {
        cpu_set_t cores;
        CPU_ZERO(&cores);
        CPU_SET((size_t)options->cpu, &cores);
        if (sched_setaffinity(0, sizeof cores, &cores) != 0) perror("impair: --cpu");
    }
    struct sched_param parameters = {.sched_priority = options->priority};
    if (options->priority && sched_setscheduler(0, SCHED_FIFO, &parameters) != 0) perror("impair: SCHED_FIFO");
}

int main(int argc, char **argv) {
    static struct program program;
    options_read(&program.options, argc, argv);
    open_log(&program);
    prepare(&program);
    program.sides[0] = open_side(&program.options.sides[0]);
    program.sides[1] = open_side(&program.options.sides[1]);
    sharpen(&program.options);
    puts("impair: ready");
    fflush(stdout);
    run(&program);
    if (program.record.log) record_summary(&program.record, program.record.log);
    record_summary(&program.record, stderr);
    return program.record.log && fclose(program.record.log) != 0;
}
