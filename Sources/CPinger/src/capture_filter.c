#if CPINGER_CAPTURE

#define _GNU_SOURCE
#include "capture_filter.h"

#include <errno.h>
#include <linux/filter.h>
#include <pcap/pcap.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

/* ---- The expression ---- */

typedef struct flow_text {
    char remote[64];
    unsigned words[4];  /* the remote address, as the filter compares it */
    int is_exact;       /* the remote address is a condition */
} flow_text;

static flow_text describe(const cpcapture_flow *flow, int is_exact) {
    flow_text text = {.is_exact = is_exact || flow->local == 0};
    cping_address plain = flow->remote;
    plain.scope_id = 0;  /* no part of a packet */
    cping_address_format(&plain, text.remote, sizeof text.remote);
    for (int i = 0; i < 4; i++) {
        const uint8_t *b = plain.bytes + 4 * i;
        text.words[i] = (unsigned)b[0] << 24 | (unsigned)b[1] << 16 | (unsigned)b[2] << 8 | b[3];
    }
    return text;
}

/* The condition for ICMP errors and for the quoted packet in them. The probe's packets have neither IP options nor extension headers, so
 * every field of the quote is at a fixed offset. */
static void put_quote(FILE *out, const cpcapture_flow *flow, const flow_text *text) {
    int six = flow->remote.family == 6;
    int is_echo = flow->protocol == CPING_ICMP;
    const char *base = six ? "ip6" : "icmp";
    if (six) fprintf(out, "(icmp6 and ip6[40] < 128 and ip6[54] == %d", is_echo ? 58 : 17);
    else fprintf(out, "(icmp and (icmp[0] == 3 or icmp[0] == 4 or icmp[0] == 5 or icmp[0] == 11 or icmp[0] == 12) and "
                      "icmp[17] == %d", is_echo ? 1 : 17);
    for (int i = 0; text->is_exact && i < (six ? 4 : 1); i++) {
        fprintf(out, " and %s[%d:4] == 0x%08x", base, (six ? 72 : 24) + 4 * i, text->words[i]);
    }
    int transport = six ? 88 : 28;
    if (is_echo) fprintf(out, " and %s[%d] == %d", base, transport, six ? 128 : 8);
    if (flow->local) fprintf(out, " and %s[%d:2] == %u", base, transport + (is_echo ? 4 : 0), flow->local);
    if (!is_echo) fprintf(out, " and %s[%d:2] == %u", base, transport + 2, flow->remote.port);
    fprintf(out, ")");
}

static void put_echo(FILE *out, const cpcapture_flow *flow, const flow_text *text, int is_reply) {
    int six = flow->remote.family == 6;
    int type = six ? 128 + is_reply : is_reply ? 0 : 8;
    if (six) fprintf(out, "(icmp6 and ip6[40] == %d", type);
    else fprintf(out, "(icmp and icmp[0] == %d", type);
    if (flow->local) fprintf(out, " and %s == %u", six ? "ip6[44:2]" : "icmp[4:2]", flow->local);
    if (text->is_exact) fprintf(out, " and %s host %s", is_reply ? "src" : "dst", text->remote);
    fprintf(out, ")");
}

static void put_udp(FILE *out, const cpcapture_flow *flow, const flow_text *text, int is_reply) {
    const char *far = is_reply ? "src" : "dst", *near = is_reply ? "dst" : "src";
    fprintf(out, "(%s and udp %s port %u", flow->remote.family == 6 ? "ip6" : "ip", far, flow->remote.port);
    if (flow->local) fprintf(out, " and udp %s port %u", near, flow->local);
    if (text->is_exact) fprintf(out, " and %s host %s", far, text->remote);
    fprintf(out, ")");
}

static char *flow_expression(const cpcapture_flow *flow, int is_exact) {
    char *expression = NULL;
    size_t length;
    FILE *out = open_memstream(&expression, &length);
    if (!out) return NULL;
    flow_text text = describe(flow, is_exact);
    for (int is_reply = 0; is_reply < 2; is_reply++) {
        if (flow->protocol == CPING_ICMP) put_echo(out, flow, &text, is_reply);
        else put_udp(out, flow, &text, is_reply);
        fprintf(out, " or ");
    }
    put_quote(out, flow, &text);
    if (fclose(out) == 0) return expression;
    free(expression);
    return NULL;
}

/* Adds ` or expression`, unless it is there already. */
static int append(char **text, const char *expression) {
    if (*text && strstr(*text, expression)) return 0;
    char *longer = NULL;
    int length = *text ? asprintf(&longer, "%s or %s", *text, expression) : asprintf(&longer, "%s", expression);
    if (length < 0) return -1;
    free(*text);
    *text = longer;
    return 0;
}

char *cpcapture__filter_text(const cpcapture_flow *flows, size_t count) {
    /* There is no packet of less than a byte. */
    if (count == 0) return strdup("less 1");
    char *text = NULL;
    for (size_t i = 0; i < count; i++) {
        char *expression = flow_expression(&flows[i], count <= CPCAPTURE__EXACT_FLOWS);
        int failed = !expression || append(&text, expression) != 0;
        free(expression);
        if (failed) {
            free(text);
            return NULL;
        }
    }
    return text;
}

/* ---- Its program ---- */

/* A cooked packet socket delivers packets from the network header on; libpcap constructs the link header before it. A load from that
 * header becomes a load of a kernel value, and other offsets move. Returns 0, or -1 for a field without a kernel value. */
static int fix_offset(struct sock_filter *instruction, int link_type) {
    unsigned header = link_type == DLT_LINUX_SLL2 ? 20 : 16;
    unsigned protocol = link_type == DLT_LINUX_SLL2 ? 0 : 14;
    if (instruction->k >= header) instruction->k -= header;
    else if (instruction->k == protocol) instruction->k = (uint32_t)(SKF_AD_OFF + SKF_AD_PROTOCOL);
    else return -1;
    return 0;
}

static int is_packet_load(const struct sock_filter *instruction) {
    unsigned mode = BPF_MODE(instruction->code);
    switch (BPF_CLASS(instruction->code)) {
    case BPF_LD: return mode == BPF_ABS || mode == BPF_IND;
    case BPF_LDX: return mode == BPF_MSH;
    default: return 0;
    }
}

int cpcapture__filter_attach(int fd, int link_type, const struct bpf_program *program) {
    int is_cooked = link_type == DLT_LINUX_SLL || link_type == DLT_LINUX_SLL2;
    struct sock_filter *copy = malloc(program->bf_len * sizeof *copy);
    if (!copy) return -ENOMEM;
    int error = 0;
    for (unsigned i = 0; i < program->bf_len; i++) {
        const struct bpf_insn *from = &program->bf_insns[i];
        copy[i] = (struct sock_filter){from->code, from->jt, from->jf, from->k};
        if (is_cooked && is_packet_load(&copy[i]) && fix_offset(&copy[i], link_type) != 0) error = -EINVAL;
    }
    struct sock_fprog filter = {.len = (unsigned short)program->bf_len, .filter = copy};
    if (!error && program->bf_len > BPF_MAXINSNS) error = -E2BIG;
    if (!error && setsockopt(fd, SOL_SOCKET, SO_ATTACH_FILTER, &filter, sizeof filter) != 0) error = -errno;
    free(copy);
    return error;
}

#endif
