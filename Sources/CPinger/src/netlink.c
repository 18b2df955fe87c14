/* Questions to the kernel about routes and links, and its answers. By hand: five kinds of messages do not justify libmnl, a
 * dependency of every device. */
#define _GNU_SOURCE
#include <errno.h>
#include <linux/genetlink.h>
#include <linux/if.h>
#include <linux/netlink.h>
#include <linux/nl80211.h>
#include <linux/rtnetlink.h>
#include <stddef.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include "cpnetwork.h"

/* ---- Changes ---- */

int cpnetwork_open(void) {
    struct sockaddr_nl address = {.nl_family = AF_NETLINK,
                                  .nl_groups = RTMGRP_LINK | RTMGRP_IPV4_IFADDR | RTMGRP_IPV6_IFADDR |
                                               RTMGRP_IPV4_ROUTE | RTMGRP_IPV6_ROUTE};
    int fd = socket(AF_NETLINK, SOCK_RAW | SOCK_NONBLOCK | SOCK_CLOEXEC, NETLINK_ROUTE);
    if (fd < 0) return -errno;
    if (bind(fd, (struct sockaddr *)&address, sizeof address) != 0) {
        int error = -errno;
        close(fd);
        return error;
    }
    return fd;
}

/* The contents do not matter: the caller reads the present state. A full buffer (ENOBUFS) is a change, too. */
int cpnetwork_drain(int changes) {
    char buffer[8192];
    int changed = 0;
    for (int i = 0; i < 256; i++) {
        ssize_t length = recv(changes, buffer, sizeof buffer, MSG_DONTWAIT);
        if (length < 0 && errno == EINTR) continue;
        if (length < 0 && errno != ENOBUFS) return errno == EAGAIN || changed ? changed : -errno;
        changed = 1;
    }
    return changed;
}

/* ---- Asking ---- */

/* A question with room for the attributes behind it. */
typedef struct question {
    struct nlmsghdr header;
    union {
        struct rtmsg route;
        struct ifinfomsg link;
        struct genlmsghdr generic;
    } body;
    char attributes[64];
} question;

/* A link with all its figures takes some 2 KiB. */
typedef union answer {
    struct nlmsghdr header;
    char bytes[16384];
} answer;

static void begin(question *question, uint16_t type, size_t body) {
    memset(question, 0, sizeof *question);
    question->header = (struct nlmsghdr){
        .nlmsg_len = (uint32_t)NLMSG_LENGTH(body), .nlmsg_type = type, .nlmsg_flags = NLM_F_REQUEST, .nlmsg_seq = 1};
}

static void add(question *question, uint16_t type, const void *value, size_t size) {
    struct rtattr *attribute = (struct rtattr *)(void *)((char *)question + NLMSG_ALIGN(question->header.nlmsg_len));
    attribute->rta_type = type;
    attribute->rta_len = (uint16_t)RTA_LENGTH(size);
    memcpy(RTA_DATA(attribute), value, size);
    question->header.nlmsg_len = (uint32_t)(NLMSG_ALIGN(question->header.nlmsg_len) + RTA_ALIGN(attribute->rta_len));
}

static int check(const answer *answer, size_t length, uint16_t expected, size_t body) {
    const struct nlmsghdr *header = &answer->header;
    if (length > sizeof *answer || !NLMSG_OK(header, length)) return -EBADMSG;
    if (header->nlmsg_type == NLMSG_ERROR) {
        const struct nlmsgerr *report = NLMSG_DATA(header);
        int is_whole = header->nlmsg_len >= NLMSG_LENGTH(sizeof *report);
        return is_whole && report->error < 0 ? report->error : -EBADMSG;
    }
    return header->nlmsg_type == expected && header->nlmsg_len >= NLMSG_LENGTH(body) ? 0 : -EBADMSG;
}

/* The kernel answers before `send` returns; the time limit is for a kernel that does not. */
static int ask(int protocol, const question *question, uint16_t expected, size_t body, answer *answer) {
    struct sockaddr_nl kernel = {.nl_family = AF_NETLINK};
    struct timeval limit = {.tv_sec = 1};
    int fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, protocol);
    if (fd < 0) return -errno;
    setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
    int error = 0;
    /* A connected socket receives from the kernel only. */
    if (connect(fd, (struct sockaddr *)&kernel, sizeof kernel) != 0) error = -errno;
    if (error == 0 && send(fd, question, question->header.nlmsg_len, 0) < 0) error = -errno;
    ssize_t length = error == 0 ? recv(fd, answer, sizeof *answer, MSG_TRUNC) : 0;
    if (length < 0) error = -errno;
    close(fd);
    return error ? error : check(answer, (size_t)length, expected, body);
}

/* The attribute of that type among those of `length` bytes; NULL if there is none, or not `least` bytes of it. The length is
 * signed: the last attribute may lack its padding, which makes the rest negative. */
static const struct rtattr *find(const struct rtattr *attribute, int length, uint16_t type, size_t least) {
    for (; RTA_OK(attribute, length); attribute = RTA_NEXT(attribute, length)) {
        if ((attribute->rta_type & NLA_TYPE_MASK) == type && RTA_PAYLOAD(attribute) >= least) return attribute;
    }
    return NULL;
}

static const struct rtattr *find_in(const answer *answer, size_t body, uint16_t type, size_t least) {
    const char *attributes = answer->bytes + NLMSG_HDRLEN + NLMSG_ALIGN(body);
    if (answer->header.nlmsg_len < NLMSG_SPACE(body)) return NULL;
    int length = (int)(answer->header.nlmsg_len - NLMSG_SPACE(body));
    return find((const struct rtattr *)(const void *)attributes, length, type, least);
}

/* ---- Links and routes ---- */

static void copy_text(char text[16], const struct rtattr *attribute) {
    size_t size = attribute ? RTA_PAYLOAD(attribute) : 0;
    memset(text, 0, 16);
    if (attribute) memcpy(text, RTA_DATA(attribute), strnlen(RTA_DATA(attribute), size < 15 ? size : 15));
}

static void read_link(const answer *answer, cpnetwork_link *link) {
    const struct ifinfomsg *body = NLMSG_DATA(&answer->header);
    *link = (cpnetwork_link){.index = (uint32_t)body->ifi_index, .hardware = body->ifi_type};
    link->is_running = (body->ifi_flags & (IFF_UP | IFF_RUNNING)) == (IFF_UP | IFF_RUNNING);
    copy_text(link->name, find_in(answer, sizeof *body, IFLA_IFNAME, 1));
    const struct rtattr *info = find_in(answer, sizeof *body, IFLA_LINKINFO, 0);
    copy_text(link->kind, info ? find(RTA_DATA(info), (int)RTA_PAYLOAD(info), IFLA_INFO_KIND, 1) : NULL);
}

/* By `index`, or by `name` where that is 0. */
static int find_link(uint32_t index, const char *name, cpnetwork_link *link) {
    question question;
    answer answer;
    size_t length = name ? strlen(name) : 0;
    if (length >= sizeof link->name) return -ENODEV;
    begin(&question, RTM_GETLINK, sizeof question.body.link);
    question.body.link.ifi_index = (int)index;
    if (index == 0) add(&question, IFLA_IFNAME, name, length + 1);
    int error = ask(NETLINK_ROUTE, &question, RTM_NEWLINK, sizeof question.body.link, &answer);
    if (error == 0) read_link(&answer, link);
    return error;
}

static void read_source(const answer *answer, uint8_t family, cping_address *source) {
    size_t size = family == 4 ? 4 : 16;
    const struct rtattr *address = find_in(answer, sizeof(struct rtmsg), RTA_PREFSRC, size);
    *source = (cping_address){.family = address ? family : 0};
    if (address) memcpy(source->bytes, RTA_DATA(address), size);
}

static int find_route(const cping_address *destination, uint32_t bound_to, uint32_t *leaving_by, cping_address *source) {
    question question;
    answer answer;
    size_t size = destination->family == 4 ? 4 : 16;
    begin(&question, RTM_GETROUTE, sizeof question.body.route);
    question.body.route.rtm_family = destination->family == 4 ? AF_INET : AF_INET6;
    question.body.route.rtm_dst_len = (unsigned char)(8 * size);
    add(&question, RTA_DST, destination->bytes, size);
    if (bound_to) add(&question, RTA_OIF, &bound_to, sizeof bound_to);
    int error = ask(NETLINK_ROUTE, &question, RTM_NEWROUTE, sizeof question.body.route, &answer);
    if (error) return error;
    const struct rtattr *interface = find_in(&answer, sizeof question.body.route, RTA_OIF, sizeof *leaving_by);
    if (!interface) return -ENETUNREACH;
    memcpy(leaving_by, RTA_DATA(interface), sizeof *leaving_by);
    read_source(&answer, destination->family, source);
    return 0;
}

int cpnetwork_route(const cping_address *destination, const char *interface_name, cpnetwork_link *link) {
    uint32_t bound_to = destination->scope_id, leaving_by = 0;
    if (destination->family != 4 && destination->family != 6) return -EINVAL;
    if (interface_name && interface_name[0]) {
        int error = find_link(0, interface_name, link);
        if (error) return error;
        bound_to = link->index;
    }
    cping_address source;
    int error = find_route(destination, bound_to, &leaving_by, &source);
    if (error == 0) error = find_link(leaving_by, NULL, link);
    if (error == 0) link->source = source;
    return error;
}

/* ---- Wi-Fi ---- */

/* Asks a family of generic netlink; `type` is its number in this kernel. */
static int ask_family(uint16_t type, uint8_t command, uint16_t attribute, const void *value, size_t size, answer *answer) {
    question question;
    begin(&question, type, sizeof question.body.generic);
    question.body.generic = (struct genlmsghdr){.cmd = command, .version = 1};
    add(&question, attribute, value, size);
    return ask(NETLINK_GENERIC, &question, type, sizeof question.body.generic, answer);
}

int cpnetwork_ssid(uint32_t index, uint8_t ssid[CPNETWORK_SSID_SIZE]) {
    answer answer;
    uint16_t type;
    int error = ask_family(GENL_ID_CTRL, CTRL_CMD_GETFAMILY, CTRL_ATTR_FAMILY_NAME, NL80211_GENL_NAME,
                           sizeof NL80211_GENL_NAME, &answer);
    if (error) return error;
    const struct rtattr *found = find_in(&answer, sizeof(struct genlmsghdr), CTRL_ATTR_FAMILY_ID, sizeof type);
    if (!found) return -EBADMSG;
    memcpy(&type, RTA_DATA(found), sizeof type);
    error = ask_family(type, NL80211_CMD_GET_INTERFACE, NL80211_ATTR_IFINDEX, &index, sizeof index, &answer);
    if (error) return error;
    found = find_in(&answer, sizeof(struct genlmsghdr), NL80211_ATTR_SSID, 1);
    if (!found) return 0;
    if (RTA_PAYLOAD(found) > CPNETWORK_SSID_SIZE) return -EBADMSG;
    memcpy(ssid, RTA_DATA(found), RTA_PAYLOAD(found));
    return (int)RTA_PAYLOAD(found);
}
