#define _GNU_SOURCE
#include "cping.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* ---- JSON ---- */

static void print_string(const char *key, const char *text) {
    printf("\"%s\":\"", key);
    for (; *text; text++) {
        unsigned char c = (unsigned char)*text;
        if (c == '"' || c == '\\') printf("\\%c", c);
        else if (c < 0x20 || c >= 0x7f) printf("\\u%04x", c);
        else putchar(c);
    }
    putchar('"');
}

static void print_head(const host *h) {
    print_string("target", h->name);
    printf(",\"address\":\"%s\"", h->address);
}

static const char *stamp_name(uint8_t stamp) {
    return stamp == CPING_STAMP_KERNEL ? "kernel" : stamp == CPING_STAMP_CLOCK ? "clock" : "none";
}

/* By bit of enum cping_flag. */
static const char *const flag_names[] = {"clock-step", "no-send-stamp", "no-receive-stamp", "stamps-absurd",
                                         "reordered",  "refused",       "lost-up",          "lost-down"};
enum { FLAG_NAMES = sizeof flag_names / sizeof flag_names[0] };

static void print_json_flags(uint32_t flags) {
    const char *separator = "";
    printf(",\"flags\":[");
    for (int i = 0; i < FLAG_NAMES; i++) {
        if (!(flags >> i & 1)) continue;
        printf("%s\"%s\"", separator, flag_names[i]);
        separator = ",";
    }
    putchar(']');
}

static void print_json_error(const cping_event *e) {
    const char *name = strerrorname_np(e->error);
    printf(",\"error\":\"%s\"", name ? name : "");
    if (e->kind == CPING_ICMP_ERROR) printf(",\"icmp_type\":%u,\"icmp_code\":%u", e->icmp_type, e->icmp_code);
    if (e->mtu) printf(",\"mtu\":%" PRIu32, e->mtu);
}

static void print_json_event(const host *h, const cping_event *e) {
    char from[64];
    /* A damaged reply can belong to no known ping. */
    int is_of_ping = e->kind != CPING_CORRUPT || e->sent_ns;
    putchar('{');
    print_head(h);
    if (is_of_ping) printf(",\"slot\":%" PRIu64 ",\"sequence\":%" PRIu32, e->slot, e->sequence);
    printf(",\"verdict\":\"%s\"", cping_kind_name(e->kind));
    if (is_of_ping) printf(",\"slot_ns\":%" PRIu64, e->slot_ns);
    printf(",\"event_ns\":%" PRIu64, e->event_ns);
    if (e->sent_ns) printf(",\"sent_ns\":%" PRIu64, e->sent_ns);
    if (e->rtt_ns >= 0) {
        printf(",\"rtt_ns\":%" PRId64 ",\"rtt_bound_ns\":%" PRId64 ",\"send_stamp\":\"%s\",\"receive_stamp\":\"%s\"", e->rtt_ns,
               e->rtt_bound_ns, stamp_name(e->send_stamp), stamp_name(e->receive_stamp));
    }
    if (e->error) print_json_error(e);
    if (e->count > 1) printf(",\"count\":%" PRIu64, e->count);
    if (e->flags) print_json_flags(e->flags);
    if (e->from.family) printf(",\"from\":\"%s\"", cping_address_format(&e->from, from, sizeof from));
    if (e->far_stamp) printf(",\"up_ns\":%" PRId64 ",\"down_ns\":%" PRId64, e->up_ns, e->down_ns);
    puts("}");
}

/* ---- Words ---- */

static void print_event(const host *h, const cping_event *e) {
    char from[64];
    printf("%s: slot %" PRIu64 " %s", h->name, e->slot, cping_kind_name(e->kind));
    if (e->rtt_ns >= 0) printf(" %.3f ms", (double)e->rtt_ns / 1e6);
    if (e->count > 1) printf(" %" PRIu64 " slots", e->count);
    if (e->kind == CPING_ICMP_ERROR) {
        printf(" type %u code %u from %s", e->icmp_type, e->icmp_code, cping_address_format(&e->from, from, sizeof from));
    }
    if (e->error) printf(" (%s)", strerrordesc_np(e->error));
    for (int i = 0; i < FLAG_NAMES; i++) {
        if (e->flags >> i & 1) printf(" %s", flag_names[i]);
    }
    putchar('\n');
}

void report_event(const options *o, const host *h, const cping_event *event) {
    if (o->is_quiet) return;
    if (o->is_json) print_json_event(h, event);
    else print_event(h, event);
}

void report_summary(const options *o, const host *h, const cping_target_info *info) {
    const struct { const char *key, *word; uint64_t value; } counts[] = {
        {"sent", "sent", info->sent},
        {"answered", "answered", info->answered},
        {"lost", "lost", info->lost},
        {"in_flight", "under way", info->pending},
        {"lost_up", "lost on the way up", info->lost_up},
        {"lost_down", "lost on the way down", info->lost_down},
        {"refused", "refused", info->refused},
        {"icmp_errors", "ICMP errors", info->icmp_errors},
        {"not_sent", "not sent", info->not_sent},
        {"late", "late", info->late},
        {"duplicates", "duplicates", info->duplicates},
        {"reordered", "reordered", info->reordered},
        {"corrupt", "corrupt", info->corrupt},
    };
    enum { ALWAYS = 3 };  /* The words leave out later counts that are 0. */
    uint64_t gone = info->lost + info->icmp_errors, all = gone + info->answered + info->refused;
    double loss_percent = all ? 100.0 * (double)gone / (double)all : 0;
    int64_t mean_ns = info->answered ? h->rtt_sum_ns / (int64_t)info->answered : 0;
    if (o->is_json) printf("{\"summary\":{");
    if (o->is_json) print_head(h);
    else printf("%s (%s)\n", h->name, h->address);
    for (size_t i = 0; i < sizeof counts / sizeof counts[0]; i++) {
        if (o->is_json) printf(",\"%s\":%" PRIu64, counts[i].key, counts[i].value);
        else if (i < ALWAYS || counts[i].value) printf("%s%" PRIu64 " %s", i ? ", " : "  ", counts[i].value, counts[i].word);
    }
    printf(o->is_json ? ",\"loss_percent\":%.4f" : ", %.2f %% loss", loss_percent);
    if (info->answered && o->is_json) {
        printf(",\"rtt_ns\":{\"min\":%" PRId64 ",\"mean\":%" PRId64 ",\"max\":%" PRId64 "}", h->rtt_min_ns, mean_ns, h->rtt_max_ns);
    } else if (info->answered) {
        printf("\n  rtt  min %.3f  mean %.3f  max %.3f ms", (double)h->rtt_min_ns / 1e6, (double)mean_ns / 1e6, (double)h->rtt_max_ns / 1e6);
    }
    puts(o->is_json ? "}}" : "");
}
