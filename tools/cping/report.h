/* Prints events and summaries. */
#ifndef REPORT_H
#define REPORT_H

#include "cpinger.h"
#include "options.h"
#include "subject.h"

void report_event(const options *o, const subject *s, const cping_event *event);

/* The target was silent at the address `before`; pings go to `to` from now on, or cannot, because of `error`. */
void report_move(const options *o, const subject *s, const char *before, const cping_address *to, int error);

/* Prints the privileges that the host granted. */
void report_environment(const cping *pinger);

/* `pinger` is for the pings under way; NULL: the run is over. */
void report_summary(const options *o, const subject *s, cping *pinger);

#endif
