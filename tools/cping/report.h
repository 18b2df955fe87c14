/* What is printed. */
#ifndef REPORT_H
#define REPORT_H

#include "cpinger.h"
#include "options.h"
#include "subject.h"

void report_event(const options *o, const subject *s, const cping_event *event);

/* The target was silent at the address `before`, and is pinged at `to` from now on; or could not be, for `error`. */
void report_move(const options *o, const subject *s, const char *before, const cping_address *to, int error);

/* What the host granted the pinger. */
void report_environment(const cping *pinger);

/* `pinger` to ask what is under way; NULL: the run is over. */
void report_summary(const options *o, const subject *s, cping *pinger);

#endif
