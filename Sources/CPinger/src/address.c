#define _GNU_SOURCE
#include "address.h"

#include <arpa/inet.h>
#include <errno.h>
#include <net/if.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>

socklen_t cping__address_to_socket(const cping_address *address, struct sockaddr_in6 *to) {
    if (address->family == 4) {
        struct sockaddr_in in = {.sin_family = AF_INET, .sin_port = htons(address->port)};
        memcpy(&in.sin_addr, address->bytes, 4);
        memcpy(to, &in, sizeof in);
        return sizeof in;
    }
    *to = (struct sockaddr_in6){.sin6_family = AF_INET6, .sin6_port = htons(address->port), .sin6_scope_id = address->scope_id};
    memcpy(&to->sin6_addr, address->bytes, 16);
    return sizeof *to;
}

cping_address cping__address_from_socket(const struct sockaddr *socket_address) {
    cping_address address = {0};
    if (socket_address->sa_family == AF_INET) {
        const struct sockaddr_in *in = (const struct sockaddr_in *)socket_address;
        address.family = 4;
        address.port = ntohs(in->sin_port);
        memcpy(address.bytes, &in->sin_addr, 4);
    } else if (socket_address->sa_family == AF_INET6) {
        const struct sockaddr_in6 *in6 = (const struct sockaddr_in6 *)socket_address;
        address.family = 6;
        address.port = ntohs(in6->sin6_port);
        address.scope_id = in6->sin6_scope_id;
        memcpy(address.bytes, &in6->sin6_addr, 16);
    }
    return address;
}

int cping__address_matches(const cping_address *expected, const cping_address *source) {
    return expected->family == source->family && memcmp(expected->bytes, source->bytes, 16) == 0 &&
           (expected->port == 0 || expected->port == source->port) &&
           (expected->scope_id == 0 || expected->scope_id == source->scope_id);
}

int cping__address_is_unspecified(const cping_address *address) {
    static const uint8_t zero[16];
    return memcmp(address->bytes, zero, 16) == 0;
}

static int parse_scope(const char *text, uint32_t *scope) {
    *scope = if_nametoindex(text);
    if (*scope) return 0;
    /* Digits only: strtoul would also accept signs, spaces and numbers out of range. */
    uint64_t number = 0;
    for (const char *c = text; *c; c++) {
        if (*c < '0' || *c > '9' || number > UINT32_MAX) return -EINVAL;
        number = 10 * number + (uint64_t)(*c - '0');
    }
    if (number == 0 || number > UINT32_MAX) return -EINVAL;
    *scope = (uint32_t)number;
    return 0;
}

int cping_address_parse(cping_address *address, const char *text, uint16_t port) {
    *address = (cping_address){.port = port};
    if (inet_pton(AF_INET, text, address->bytes) == 1) {
        address->family = 4;
        return 0;
    }
    char numeric[INET6_ADDRSTRLEN + IF_NAMESIZE];
    if (strlen(text) >= sizeof numeric) return -EINVAL;
    strcpy(numeric, text);
    char *percent = strchr(numeric, '%');
    if (percent) *percent = 0;
    if (inet_pton(AF_INET6, numeric, address->bytes) != 1) return -EINVAL;
    address->family = 6;
    return percent ? parse_scope(percent + 1, &address->scope_id) : 0;
}

const char *cping_address_format(const cping_address *address, char *text, size_t size) {
    char numeric[INET6_ADDRSTRLEN] = "";
    char name[IF_NAMESIZE];
    if (address->family) inet_ntop(address->family == 4 ? AF_INET : AF_INET6, address->bytes, numeric, sizeof numeric);
    if (address->scope_id == 0) {
        snprintf(text, size, "%s", numeric);
    } else if (if_indextoname(address->scope_id, name)) {
        snprintf(text, size, "%s%%%s", numeric, name);
    } else {
        snprintf(text, size, "%s%%%u", numeric, address->scope_id);
    }
    return text;
}
