#define _GNU_SOURCE
#include "mailbox.h"

#include <errno.h>
#include <sys/eventfd.h>
#include <unistd.h>

int cping__mailbox_create(cping__mailbox *mailbox) {
    mailbox->closed = 0;
    STAILQ_INIT(&mailbox->waiting);
    mailbox->wake_fd = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
    if (mailbox->wake_fd < 0) return -errno;
    pthread_mutex_init(&mailbox->lock, NULL);
    pthread_cond_init(&mailbox->answered, NULL);
    return 0;
}

void cping__mailbox_destroy(cping__mailbox *mailbox) {
    close(mailbox->wake_fd);
    pthread_cond_destroy(&mailbox->answered);
    pthread_mutex_destroy(&mailbox->lock);
}

int64_t cping__mailbox_call(cping__mailbox *mailbox, cping__command command) {
    command.done = 0;
    command.result = -ESHUTDOWN;
    pthread_mutex_lock(&mailbox->lock);
    if (!mailbox->closed) {
        STAILQ_INSERT_TAIL(&mailbox->waiting, &command, link);
        eventfd_write(mailbox->wake_fd, 1);
        while (!command.done) pthread_cond_wait(&mailbox->answered, &mailbox->lock);
    }
    pthread_mutex_unlock(&mailbox->lock);
    return command.result;
}

static void finish(cping__mailbox *mailbox, cping__command *command, int64_t result) {
    command->result = result;
    command->done = 1;
    pthread_cond_broadcast(&mailbox->answered);
}

void cping__mailbox_run(cping__mailbox *mailbox, cping *pinger) {
    eventfd_t ignored;
    eventfd_read(mailbox->wake_fd, &ignored);
    pthread_mutex_lock(&mailbox->lock);
    for (cping__command *command; (command = STAILQ_FIRST(&mailbox->waiting));) {
        STAILQ_REMOVE_HEAD(&mailbox->waiting, link);
        /* Its caller waits, so the command stays where it is; others may post while it runs. */
        pthread_mutex_unlock(&mailbox->lock);
        int64_t result = command->run(pinger, command);
        pthread_mutex_lock(&mailbox->lock);
        finish(mailbox, command, result);
    }
    pthread_mutex_unlock(&mailbox->lock);
}

void cping__mailbox_close(cping__mailbox *mailbox) {
    pthread_mutex_lock(&mailbox->lock);
    mailbox->closed = 1;
    for (cping__command *command; (command = STAILQ_FIRST(&mailbox->waiting));) {
        STAILQ_REMOVE_HEAD(&mailbox->waiting, link);
        finish(mailbox, command, -ESHUTDOWN);
    }
    pthread_mutex_unlock(&mailbox->lock);
}
