/* The options of a capture, checked. */
#ifndef CPCAPTURE__OPTIONS_H
#define CPCAPTURE__OPTIONS_H

#include "cpcapture.h"

/* Puts "packets cannot be captured: " and `sentence` into `text`; returns `error`. */
int cpcapture__complain(int error, char *text, size_t size, const char *sentence);

int cpcapture__are_flows(const cpcapture_flow *flows, size_t count);
cpcapture_options cpcapture__with_defaults(const cpcapture_options *given);

/* 0, or -EINVAL with a sentence in `text`. */
int cpcapture__check(const cpcapture_options *options, char *text, size_t size);

#endif
