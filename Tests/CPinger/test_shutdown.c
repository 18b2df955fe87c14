/* Shutdown beside other threads' commands: no descriptor stays open, in any order. */
#include <dirent.h>
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>

#include "support.h"

enum { ROUNDS = 200, CALLERS = 3 };

struct round {
    cping *pinger;
    _Atomic unsigned begun;
    _Atomic unsigned refused;
};

static unsigned open_descriptors(void) {
    unsigned count = 0;
    DIR *directory = opendir("/proc/self/fd");
    CHECK(directory != NULL);
    while (readdir(directory)) count++;
    closedir(directory);
    return count;
}

/*  callers                          | main
 *  add a target with its own socket |
 *  ... and again                    | shut down
 *  ... until refused                | join, destroy */
static void *add_until_refused(void *argument) {
    struct round *round = argument;
    cping_target target = rtr_target("127.0.0.1", 9, 1);
    for (unsigned i = 0;; i++) {
        target.ttl = (uint8_t)(i % 255 + 1);  /* needs its own socket */
        int64_t id = cping_add(round->pinger, &target);
        atomic_fetch_add(&round->begun, 1);
        if (id > 0) {
            int started = cping_start(round->pinger, id, 0);
            CHECK(started == 0 || started == -ESHUTDOWN);
            continue;
        }
        CHECK_EQUAL(id, -ESHUTDOWN);
        atomic_fetch_add(&round->refused, 1);
        return NULL;
    }
}

static void shut_down_beside_callers(void) {
    pthread_t callers[CALLERS];
    struct round round = {0};
    CHECK_EQUAL(cping_create(&(cping_options){.ring_capacity = 16}, &round.pinger), 0);
    for (int i = 0; i < CALLERS; i++) CHECK_EQUAL(pthread_create(&callers[i], NULL, add_until_refused, &round), 0);
    while (atomic_load(&round.begun) < CALLERS) {}
    cping_shutdown(round.pinger);
    for (int i = 0; i < CALLERS; i++) pthread_join(callers[i], NULL);
    CHECK_EQUAL(round.refused, CALLERS);
    cping_destroy(round.pinger);
}

static void when_targets_are_added_beside_a_shutdown_then_no_descriptor_leaks(void) {
    unsigned before = open_descriptors();
    for (int i = 0; i < ROUNDS; i++) shut_down_beside_callers();
    unsigned after = open_descriptors();
    printf("%d shutdowns beside %d callers: %u descriptors before, %u after\n", ROUNDS, CALLERS, before, after);
    CHECK_EQUAL(after, before);
}

static void *shut_down(void *pinger) {
    cping_shutdown(pinger);
    return NULL;
}

static void when_two_threads_shut_down_then_both_return(void) {
    unsigned before = open_descriptors();
    for (int i = 0; i < ROUNDS; i++) {
        cping *pinger;
        pthread_t other;
        CHECK_EQUAL(cping_create(NULL, &pinger), 0);
        cping_target target = rtr_target("127.0.0.1", 9, 1);
        CHECK(cping_add(pinger, &target) > 0);
        CHECK_EQUAL(pthread_create(&other, NULL, shut_down, pinger), 0);
        cping_shutdown(pinger);
        pthread_join(other, NULL);
        cping_event event;
        while (cping_wait(pinger, -1) == 1) CHECK_EQUAL(cping_read(pinger, &event, 1), 1);
        CHECK_EQUAL(event.kind, CPING_REMOVED);
        cping_destroy(pinger);
    }
    CHECK_EQUAL(open_descriptors(), before);
}

int main(void) {
    when_targets_are_added_beside_a_shutdown_then_no_descriptor_leaks();
    when_two_threads_shut_down_then_both_return();
    return 0;
}
