#pragma once

#include <stdint.h>

/* Lets through a raw ICMP socket only echo replies to an identifier of its own: the one that is wanted, or else a random one.
 * Without this each ping of the host would wake us. Returns 0 or a negative errno. */
int cping__filter_echo_replies(int socket, uint8_t family, uint16_t *identifier, int wanted);
