/* Capabilities are dropped in every thread of the process, of any kind and in any state. Each test runs in its own process; /proc
 * is the judge. */
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <sys/stat.h>

#include "namespaces.h"
#include "recovery.h"
#include "zoo.h"

enum { FILES = 1 << CAP_CHOWN | 1 << CAP_DAC_OVERRIDE | 1 << CAP_DAC_READ_SEARCH | 1 << CAP_FOWNER | 1 << CAP_FSETID,
       RECOVERY = 1 << CAP_NET_RAW | 1 << CAP_NET_ADMIN };

enum { INCONCLUSIVE = 3 };

/* ---- Capabilities of threads ---- */

struct has {
    char name[32];
    unsigned long long permitted, effective, inheritable, ambient, bounding;
    int no_new_privileges;
};

static int read_thread(const char *thread, struct has *has) {
    char path[64], line[256];
    memset(has, 0, sizeof *has);
    snprintf(path, sizeof path, "/proc/self/task/%.16s/status", thread);
    FILE *status = fopen(path, "re");
    if (!status) return 0;
    while (fgets(line, sizeof line, status)) {
        sscanf(line, "Name: %31s", has->name);
        sscanf(line, "CapPrm: %llx", &has->permitted);
        sscanf(line, "CapEff: %llx", &has->effective);
        sscanf(line, "CapInh: %llx", &has->inheritable);
        sscanf(line, "CapAmb: %llx", &has->ambient);
        sscanf(line, "CapBnd: %llx", &has->bounding);
        sscanf(line, "NoNewPrivs: %d", &has->no_new_privileges);
    }
    int whole = !ferror(status);
    fclose(status);
    return whole;
}

/* Returns the number of threads. */
static unsigned check_threads(unsigned long long most, unsigned long long pingers, unsigned long long bounding) {
    DIR *threads = opendir("/proc/self/task");
    unsigned count = 0;
    CHECK(threads != NULL);
    for (const struct dirent *entry; (entry = readdir(threads));) {
        struct has has;
        if (entry->d_name[0] == '.' || !read_thread(entry->d_name, &has)) continue;
        unsigned long long kept = strcmp(has.name, "cping") == 0 ? pingers : most;
        if (has.permitted != kept) fprintf(stderr, "thread %s %s has %llx\n", entry->d_name, has.name, has.permitted);
        CHECK(has.permitted == kept && has.effective == kept);
        CHECK(has.inheritable == 0 && has.ambient == 0 && has.no_new_privileges == 1);
        CHECK(has.bounding == bounding);
        count++;
    }
    closedir(threads);
    return count;
}

/* ---- Tests ---- */

static cping_target echo_target(void) {
    cping_target target = {.protocol = CPING_ICMP, .socket = CPING_SOCKET_RAW, .interval_ns = 5000000, .timeout_ns = 500000000};
    CHECK_EQUAL(cping_address_parse(&target.destination, "127.0.0.1", 0), 0);
    return target;
}

static uint64_t answered(cping *pinger, int64_t id) {
    cping_target_info info;
    CHECK_EQUAL(cping_inspect(pinger, id, &info), 0);
    return info.answered;
}

static void wait_for_answers(cping *pinger, int64_t id, uint64_t count) {
    for (int i = 0; i < 1000 && answered(pinger, id) < count; i++) wait_ms(5);
    CHECK(answered(pinger, id) >= count);
}

static void drop(unsigned keep, unsigned long long most, unsigned long long pingers, int may_open) {
    struct zoo zoo;
    cping *pinger;
    cping_target target = echo_target(), other = target, udp = rtr_target("127.0.0.1", 9, 1);
    other.ttl = 3;  /* needs a socket of its own */
    strcpy(udp.interface_name, "lo");
    open_zoo(&zoo);
    CHECK_EQUAL(cping_create(NULL, &pinger), 0);
    int64_t id = cping_add(pinger, &target);
    CHECK(id > 0);
    CHECK_EQUAL(cping_start(pinger, id, 0), 0);
    wait_for_answers(pinger, id, 3);
    CHECK_EQUAL(cping_drop_process_privileges(keep), 0);
    CHECK(check_threads(most, pingers, most & FILES) >= KINDS + 2);
    /* Open sockets continue, and sockets that need no capability can still be opened. */
    wait_for_answers(pinger, id, answered(pinger, id) + 3);
    CHECK(cping_add(pinger, &udp) > 0);
    int64_t more = cping_add(pinger, &other);
    if (may_open) CHECK(more > 0);
    else CHECK_EQUAL(more, -EACCES);
    /* More can be dropped later, except from the bounding set, which needs CAP_SETPCAP. */
    CHECK_EQUAL(cping_drop_process_privileges(0), 0);
    check_threads(0, 0, most & FILES);
    cping_destroy(pinger);
    close_zoo(&zoo);
}

static void everything(void) {
    drop(0, 0, 0, 0);
}

static void everything_but_recovery(void) {
    drop(CPING_KEEP_RECOVERY, 0, RECOVERY, 1);
}

static void everything_but_files(void) {
    drop(CPING_KEEP_FILES, FILES, FILES, 0);
}

static int can_write(const char *folder) {
    char path[64];
    snprintf(path, sizeof path, "%s/file", folder);
    int fd = open(path, O_CREAT | O_WRONLY, 0600);
    if (fd >= 0) close(fd);
    return fd >= 0;
}

static void folders_of_other_users(void) {
    char folder[] = "/tmp/cping-test-XXXXXX";
    CHECK(mkdtemp(folder) != NULL);
    CHECK(chown(folder, 65534, 65534) == 0);
    CHECK_EQUAL(cping_drop_process_privileges(CPING_KEEP_FILES), 0);
    int before = can_write(folder);
    char path[64];
    snprintf(path, sizeof path, "%s/file", folder);
    unlink(path);
    rmdir(folder);
    CHECK(before);
    CHECK(mkdir(folder, 0700) == 0 && chown(folder, 65534, 65534) == 0);
    CHECK_EQUAL(cping_drop_process_privileges(0), 0);
    int after = can_write(folder);
    rmdir(folder);
    CHECK(!after);
}

static atomic_int is_blocking, may_unblock;

static void *blocks_signals_for_a_while(void *unused) {
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, NULL);
    is_blocking = 1;
    while (!may_unblock) sched_yield();
    pthread_sigmask(SIG_UNBLOCK, &all, NULL);
    return sleeps(unused);
}

static void threads_that_block_signals_are_reported(void) {
    pthread_t thread;
    CHECK(pthread_create(&thread, NULL, blocks_signals_for_a_while, NULL) == 0);
    while (!is_blocking) sched_yield();
    CHECK_EQUAL(cping_drop_process_privileges(0), -EBUSY);
    may_unblock = 1;
    CHECK_EQUAL(cping_drop_process_privileges(0), 0);
    CHECK_EQUAL(check_threads(0, 0, 0), 2);
    is_over = 1;
    pthread_join(thread, NULL);
}

static atomic_int others;

static void on_other(int number) {
    others += number == SIGSYS;
}

static void earlier_handlers_are_called(void) {
    signal(SIGSYS, on_other);
    CHECK_EQUAL(cping_drop_process_privileges(0), 0);
    CHECK_EQUAL(others, 0);
    raise(SIGSYS);
    CHECK_EQUAL(others, 1);
}

/* The pinger's thread reopens bound raw sockets, while no other thread has the privilege any more. */
static void recovers(void) {
    pid_t far_side = hold_namespace();
    /* Configure the far side first: a neighbour request that comes too early is repeated only after a second. */
    static const char link[] = "ip link add v0 type veth peer name s0 netns %d && nsenter -t %d -n sh -c "
                               "'ip address add 10.1.0.1/24 dev s0; ip link set s0 up' && "
                               "ip link set v0 up && ip address add 10.1.0.2/24 dev v0";
    cping_target target = echo_target();
    target.interval_ns = 20000000;
    CHECK_EQUAL(cping_address_parse(&target.destination, "10.1.0.1", 0), 0);
    strcpy(target.interface_name, "v0");
    /* Start the helper before the drop: a shell that starts later has no capabilities. */
    int commands[2], done[2];
    CHECK(pipe(commands) == 0 && pipe(done) == 0);
    run_command(link, far_side, far_side);
    pid_t helper = fork();
    if (helper == 0) {
        char byte;
        CHECK(read(commands[0], &byte, 1) == 1);
        run_command("ip link del v0");
        CHECK(write(done[1], "x", 1) == 1);
        CHECK(read(commands[0], &byte, 1) == 1);
        run_command(link, far_side, far_side);
        CHECK(write(done[1], "x", 1) == 1);
        exit(0);
    }
    struct run run = begin_run("bound, no thread but its own may", &target);
    char byte;
    CHECK_EQUAL(cping_drop_process_privileges(CPING_KEEP_RECOVERY), 0);
    CHECK(write(commands[1], "x", 1) == 1 && read(done[0], &byte, 1) == 1);
    AWAIT(inspect(run.pinger, run.id).blocked == ENODEV);
    wait_ms(100);
    heal(&run);
    CHECK(write(commands[1], "x", 1) == 1 && read(done[0], &byte, 1) == 1);
    end(&run);
    waitpid(helper, NULL, 0);
    release_namespace(far_side);
    /* The parent repeats the run: dropped privileges do not come back. */
    if (is_inconclusive) exit(INCONCLUSIVE);
}

static void recovery_works(void) {
    int status = 0;
    for (int i = 0; i < 10 && (i == 0 || status == INCONCLUSIVE); i++) {
        pid_t child = fork();
        CHECK(child >= 0);
        if (child == 0) {
            recovers();
            exit(0);
        }
        CHECK(waitpid(child, &status, 0) == child && WIFEXITED(status));
        status = WEXITSTATUS(status);
    }
    CHECK_EQUAL(status, 0);
}

int main(void) {
    if (HAS_THREAD_SANITIZER) skip("ThreadSanitizer's own threads block all signals");
    enter_new_namespace();
    in_process(everything);
    in_process(everything_but_recovery);
    in_process(everything_but_files);
    in_process(folders_of_other_users);
    in_process(threads_that_block_signals_are_reported);
    in_process(earlier_handlers_are_called);
    in_process(recovery_works);
    return 0;
}
