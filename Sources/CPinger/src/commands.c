#include <errno.h>
#include <stdlib.h>
#include <string.h>

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

static int get_channel(cping *pinger, const cping_target *config, cping__channel **found) {
    cping__channel *channel;
    cping__channel_key key = cping__channel_key_of(config);
    LIST_FOREACH(channel, &pinger->channels, link) {
        if (!cping__channel_suits(channel, &key)) continue;
        *found = channel;
        return 0;
    }
    int error = cping__channel_open(config, &channel);
    if (error) return error;
    error = cping__watch(pinger, channel);
    if (error) {
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
    if (!pinger->outbox) pinger->outbox = calloc(1, sizeof *pinger->outbox);
    if (!pinger->batch) pinger->batch = cping__batch_create();
    if (!pinger->outbox || !pinger->batch) return -ENOMEM;
    if (cping__agenda_reserve(&pinger->agenda, pinger->target_count + 1) != 0) return -ENOMEM;
    if (cping__directory_reserve(&pinger->directory) != 0) return -ENOMEM;
    if (pinger->target_count < pinger->target_capacity) return 0;
    size_t capacity = pinger->target_capacity ? 2 * pinger->target_capacity : 8;
    cping__target **targets = realloc(pinger->targets, capacity * sizeof(cping__target *));
    if (!targets) return -ENOMEM;
    pinger->targets = targets;
    pinger->target_capacity = capacity;
    return 0;
}

static void use_channel(cping__target *target, cping__channel *channel) {
    target->channel = channel;
    channel->users++;
    cping__channel_expect(channel, (size_t)target->config.size + 128);
}

int64_t cping__command_add(cping *pinger, const cping__command *command) {
    cping_target config = cping__target_defaults(command->config);
    if (!cping__target_is_valid(&config)) return -EINVAL;
    cping__target *target = calloc(1, sizeof *target);
    cping__channel *channel = NULL;
    int error = target ? reserve(pinger) : -ENOMEM;
    if (error == 0) error = get_channel(pinger, &config, &channel);
    if (error) {
        free(target);
        return error;
    }
    target->id = ++pinger->last_id;
    target->config = config;
    target->session = cping__random(pinger);
    TAILQ_INIT(&target->open_pings);
    cping__places_create(&target->places);
    use_channel(target, channel);
    cping__scope_note(target);
    cping__directory_add(&pinger->directory, target);
    pinger->targets[pinger->target_count++] = target;
    return target->id;
}

int64_t cping__command_start(cping *pinger, const cping__command *command) {
    cping__target *target = find(pinger, command->target);
    if (!target) return -ENOENT;
    if (target->phase != CPING__IDLE) return -EALREADY;
    target->grid.first_ns = command->time_ns ? command->time_ns : cping__now();
    target->grid.interval_ns = target->config.interval_ns;
    target->flood_ns = target->grid.first_ns;
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
    for (cping__ping *ping = TAILQ_FIRST(&pinger->stamp_waiters), *next; ping; ping = next) {
        next = TAILQ_NEXT(ping, link);
        if (ping->target == target) cping__stop_waiting(pinger, ping);
    }
    for (cping__ping *ping; (ping = TAILQ_FIRST(&target->open_pings));) cping__cancel(pinger, ping);
    for (cping__ping *ping = TAILQ_FIRST(&pinger->finished), *next; ping && target->remembered; ping = next) {
        next = TAILQ_NEXT(ping, link);
        if (ping->target == target) cping__forget(pinger, ping);
    }
}

static void remove_target(cping *pinger, cping__target *target) {
    target->phase = CPING__FINISHED;
    cping__target_changed(pinger, target);
    cping__read_arrived(pinger, target->channel, cping__now());
    give_last_verdicts(pinger, target);
    cping_event event = cping__event(target, NULL, CPING_REMOVED);
    cping__emit(pinger, &event);

    cping__agenda_set(&pinger->agenda, &target->entry, CPING__NEVER);
    size_t index = find_index(pinger, target->id);
    pinger->target_count--;
    cping__directory_remove(&pinger->directory, target);
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
    const cping__channel *channel = target->channel;
    *command->info = target->totals;
    command->info->socket = channel->kind;
    command->info->local_port = channel->local_port;
    command->info->slots = target->slots;
    command->info->pending = target->open;
    command->info->send_stamps = channel->stamps;
    command->info->blocked = channel->blocked ? -channel->blocked : -target->blocked;
    return 0;
}

int64_t cping__command_redirect(cping *pinger, const cping__command *command) {
    cping__target *target = find(pinger, command->target);
    if (!target) return -ENOENT;
    cping_target config = target->config;
    config.destination = *command->address;
    if (config.destination.family != target->config.destination.family) return -EAFNOSUPPORT;
    if (!cping__target_is_valid(&config)) return -EINVAL;
    cping__directory_remove(&pinger->directory, target);
    int error = cping__places_move(pinger, target, &config.destination);
    if (error == 0) cping__scope_note(target);
    cping__directory_add(&pinger->directory, target);
    return error;
}

int64_t cping__command_drop(cping *pinger, const cping__command *command) {
    (void)pinger;
    return cping__capabilities_drop(command->time_ns);
}

int64_t cping__command_shutdown(cping *pinger, const cping__command *command) {
    (void)command;
    cping__channel *channel;
    pinger->stopping = 1;
    LIST_FOREACH(channel, &pinger->channels, link) cping__read_arrived(pinger, channel, cping__now());
    /* So that the targets need not look for theirs. */
    for (cping__ping *ping; (ping = TAILQ_FIRST(&pinger->finished));) cping__forget(pinger, ping);
    while (pinger->target_count) remove_target(pinger, pinger->targets[pinger->target_count - 1]);
    /* Commands that waited meanwhile must fail: they would open sockets that are never closed. */
    if (!pinger->threadless) cping__mailbox_close(&pinger->mailbox);
    return 0;
}
