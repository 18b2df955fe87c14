/* A target of the program: its name, and the statistics of its pings. */
#ifndef SUBJECT_H
#define SUBJECT_H

#include "cpinger.h"
#include "histogram.h"
#include "timeline.h"
#include "watch.h"

typedef struct subject {
    char *name;
    char address[64];  /* of `target`, as it is printed */
    int is_named;      /* the name is not an address, so it is resolved again */
    watch watch;
    cping_target target;
    int64_t id;
    int is_done;
    /* By event. `sent`: pings with a verdict that left. */
    uint64_t sent, answered, lost, lost_up, lost_down, refused, icmp_errors, not_sent, cancelled;
    uint64_t late, duplicates, reordered, corrupt;
    histogram rtt;
    timeline order;
} subject;

void subject_note(subject *s, const cping_event *event);

/* Pings go to this address from now on. */
void subject_move(subject *s, const cping_address *to);
void subject_clear(subject *s);

/* Of the pings that were sent and have a verdict, those without a reply in time. */
double subject_loss_percent(const subject *s);

#endif
