#pragma once

#include <netinet/in.h>

#include "cpinger.h"

/* An IPv6 one has room for either. */
socklen_t cping__address_to_socket(const cping_address *address, struct sockaddr_in6 *to);
cping_address cping__address_from_socket(const struct sockaddr *socket_address);

/* Whether a datagram from `source` comes from `expected`. Ports count only where `expected` has one; a scope likewise. */
int cping__address_matches(const cping_address *expected, const cping_address *source);

int cping__address_is_unspecified(const cping_address *address);
