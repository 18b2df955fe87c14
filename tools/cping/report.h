/* What is printed. */
#ifndef REPORT_H
#define REPORT_H

#include "cpinger.h"
#include "options.h"
#include "subject.h"

void report_event(const options *o, const subject *s, const cping_event *event);

/* `pinger` to ask what is under way; NULL: the run is over. */
void report_summary(const options *o, const subject *s, cping *pinger);

#endif
