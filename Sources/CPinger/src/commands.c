#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>

#include "address.h"
#include "engine.h"

static size_t find_index(const cping *pinger, int64_t id) {
    size_t low = 0, high = pinger->target_count;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (pinger->targets[middle]->id < id) low = middle + 1;
        else high = middle;
    }
    return low;
}

static cping__target *find(const cping *pinger, int64_t id) {
    size_t index = find_index(pinger, id);
    return index < pinger->target_count && pinger->targets[index]->id == id ? pinger->targets[index] : NULL;
}

static int is_valid(const cping_target *target) {
    if (target->protocol != CPING_RTR && target->protocol != CPING_ICMP) return 0;
    if (target->socket > CPING_SOCKET_RAW) return 0;
    if (target->protocol == CPING_RTR && target->socket == CPING_SOCKET_RAW) return 0;
    if ((target->protocol == CPING_RTR) == (target->destination.port == 0)) return 0;
    if (target->destination.family != 4 && target->destination.family != 6) return 0;
    if (cping__address_is_unspecified(&target->destination)) return 0;
    if (memchr(target->interface_name, 0, sizeof target->interface_name) == NULL) return 0;
    return target->interval_ns >= CPING__MILLISECOND && target->interval_ns <= 86400 * CPING__SECOND &&
           target->timeout_ns <= 86400 * CPING__SECOND;
}

static int get_channel(cping *pinger, const cping_target *config, cping__channel **found) {
    cping__channel *channel;
    LIST_FOREACH(channel, &pinger->channels, link) {
        if (!cping__channel_suits(channel, config)) continue;
        *found = channel;
        return 0;
    }
    int error = cping__channel_open(config, &channel);
    if (error) return error;
    struct epoll_event interest = {.events = EPOLLIN, .data.ptr = channel};
    if (epoll_ctl(pinger->epoll_fd, EPOLL_CTL_ADD, channel->fd, &interest) != 0) {
        error = -errno;
        cping__channel_close(channel);
        return error;
    }
    LIST_INSERT_HEAD(&pinger->channels, channel, link);
    *found = channel;
    return 0;
}

static void release_channel(cping__channel *channel) {
    if (channel->users > 0) return;
    LIST_REMOVE(channel, link);
    cping__channel_close(channel);
}

static int reserve(cping *pinger) {
    if (cping__agenda_reserve(&pinger->agenda, pinger->target_count + 1) != 0) return -ENOMEM;
    if (pinger->target_count < pinger->target_capacity) return 0;
    size_t capacity = pinger->target_capacity ? 2 * pinger->target_capacity : 8;
    cping__target **targets = realloc(pinger->targets, capacity * sizeof(cping__target *));
    if (!targets) return -ENOMEM;
    pinger->targets = targets;
    pinger->target_capacity = capacity;
    return 0;
}

static cping_target with_defaults(const cping_target *config) {
    cping_target target = *config;
    if (target.interval_ns == 0) target.interval_ns = 100 * CPING__MILLISECOND;
    if (target.timeout_ns == 0) target.timeout_ns = CPING__SECOND;
    return target;
}

int64_t cping__command_add(cping *pinger, const cping__command *command) {
    cping_target config = with_defaults(command->config);
    if (!is_valid(&config)) return -EINVAL;
    cping__target *target = calloc(1, sizeof *target);
    int error = target ? reserve(pinger) : -ENOMEM;
    if (error == 0) error = get_channel(pinger, &config, &target->channel);
    if (error) {
        free(target);
        return error;
    }
    target->channel->users++;
    target->id = ++pinger->last_id;
    target->config = config;
    TAILQ_INIT(&target->pings);
    pinger->targets[pinger->target_count++] = target;
    return target->id;
}

int64_t cping__command_start(cping *pinger, const cping__command *command) {
    cping__target *target = find(pinger, command->target);
    if (!target) return -ENOENT;
    if (target->phase != CPING__IDLE) return -EALREADY;
    target->grid.first_ns = command->time_ns ? command->time_ns : cping__now();
    target->grid.interval_ns = target->config.interval_ns;
    target->phase = CPING__RUNNING;
    cping__target_changed(pinger, target);
    return 0;
}

int64_t cping__command_pause(cping *pinger, const cping__command *command) {
    cping__target *target = find(pinger, command->target);
    if (!target) return -ENOENT;
    if (target->phase != CPING__RUNNING) return 0;
    /* Slots before this moment are still dealt with. */
    cping__target_run(pinger, target, cping__now());
    if (target->phase == CPING__RUNNING) target->phase = CPING__PAUSED;
    cping__target_changed(pinger, target);
    return 0;
}

int64_t cping__command_resume(cping *pinger, const cping__command *command) {
    cping__target *target = find(pinger, command->target);
    if (!target) return -ENOENT;
    if (target->phase != CPING__PAUSED) return 0;
    cping__grid_skip(&target->grid, cping__now());
    target->phase = CPING__RUNNING;
    cping__target_changed(pinger, target);
    return 0;
}

int64_t cping__command_stop(cping *pinger, const cping__command *command) {
    cping__target *target = find(pinger, command->target);
    if (!target) return -ENOENT;
    if (target->phase == CPING__FINISHED) return 0;
    target->phase = CPING__STOPPED;
    cping__target_changed(pinger, target);
    return 0;
}

static void give_last_verdicts(cping *pinger, cping__target *target) {
    cping__ping *ping;
    while ((ping = TAILQ_FIRST(&target->pings))) {
        if (ping->state == CPING__REPLIED) cping__stop_waiting(pinger, ping);
        if (ping->state == CPING__OPEN) cping__cancel(pinger, ping);
        cping__forget(pinger, ping);
    }
}

static void remove_target(cping *pinger, cping__target *target) {
    target->phase = CPING__FINISHED;
    cping__read_notices(pinger, target->channel);
    cping__read_datagrams(pinger, target->channel);
    give_last_verdicts(pinger, target);
    cping_event event = cping__event(target, NULL, CPING_REMOVED);
    cping__emit(pinger, &event);

    cping__agenda_set(&pinger->agenda, &target->entry, CPING__NEVER);
    size_t index = find_index(pinger, target->id);
    pinger->target_count--;
    memmove(&pinger->targets[index], &pinger->targets[index + 1],
            (pinger->target_count - index) * sizeof(cping__target *));
    target->channel->users--;
    release_channel(target->channel);
    free(target);
}

int64_t cping__command_remove(cping *pinger, const cping__command *command) {
    cping__target *target = find(pinger, command->target);
    if (!target) return -ENOENT;
    remove_target(pinger, target);
    return 0;
}

int64_t cping__command_inspect(cping *pinger, const cping__command *command) {
    cping__target *target = find(pinger, command->target);
    if (!target) return -ENOENT;
    *command->info = (cping_target_info){.socket = target->channel->kind,
                                         .local_port = target->channel->local_port,
                                         .slots = target->slots,
                                         .pending = target->open};
    return 0;
}

int64_t cping__command_shutdown(cping *pinger, const cping__command *command) {
    (void)command;
    while (pinger->target_count) remove_target(pinger, pinger->targets[pinger->target_count - 1]);
    pinger->stopping = 1;
    return 0;
}
