#define _GNU_SOURCE
#include "report.h"

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

static void print_head(const subject *s) {
    print_string("target", s->name);
    putchar(',');
    print_string("address", s->address);
}

static const char *stamp_name(uint8_t stamp) {
    return stamp == CPING_STAMP_KERNEL ? "kernel" : stamp == CPING_STAMP_CLOCK ? "clock" : "none";
}

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
    putchar(',');
    print_string("error", name ? name : "");
    if (e->kind != CPING_ICMP_ERROR) return;
    printf(",\"icmp_type\":%u,\"icmp_code\":%u", e->icmp_type, e->icmp_code);
}

static void print_json_event(const subject *s, const cping_event *e) {
    char from[64];
    putchar('{');
    print_head(s);
    /* A damaged reply can belong to no known ping. */
    int is_of_ping = e->kind != CPING_CORRUPT || e->sent_ns;
    if (is_of_ping) printf(",\"slot\":%" PRIu64 ",\"sequence\":%" PRIu32, e->slot, e->sequence);
    printf(",\"verdict\":\"%s\"", cping_kind_name(e->kind));
    if (is_of_ping) printf(",\"slot_ns\":%" PRIu64, e->slot_ns);
    printf(",\"event_ns\":%" PRIu64, e->event_ns);
    if (e->sent_ns) printf(",\"sent_ns\":%" PRIu64, e->sent_ns);
    if (e->rtt_ns >= 0) {
        printf(",\"rtt_ns\":%" PRId64 ",\"rtt_bound_ns\":%" PRId64 ",\"send_stamp\":\"%s\",\"receive_stamp\":\"%s\"",
               e->rtt_ns, e->rtt_bound_ns, stamp_name(e->send_stamp), stamp_name(e->receive_stamp));
    }
    if (e->error) print_json_error(e);
    if (e->count > 1) printf(",\"count\":%" PRIu64, e->count);
    if (e->flags) print_json_flags(e->flags);
    if (e->from.family) printf(",\"from\":\"%s\"", cping_address_format(&e->from, from, sizeof from));
    if (e->far_stamp) {
        printf(",\"up_ns\":%" PRId64 ",\"down_ns\":%" PRId64 ",\"far_stamp\":\"%s\",\"far_restarted\":%s,"
               "\"far_received\":%" PRIu32 ",\"far_sent\":%" PRIu32 ",\"far_duplicates\":%" PRIu32,
               e->up_ns, e->down_ns, stamp_name(e->far_stamp), e->far_restarted ? "true" : "false", e->far_received,
               e->far_sent, e->far_duplicates);
    }
    puts("}");
}

static void print_json_figures(const char *key, const histogram *h) {
    printf(",\"%s\":{\"count\":%" PRIu64, key, h->count);
    if (h->count) {
        printf(",\"min\":%" PRId64 ",\"mean\":%" PRId64 ",\"p50\":%" PRId64 ",\"p95\":%" PRId64 ",\"p99\":%" PRId64
               ",\"max\":%" PRId64, h->min, histogram_mean(h), histogram_percentile(h, 50), histogram_percentile(h, 95),
               histogram_percentile(h, 99), h->max);
    }
    putchar('}');
}

static void print_json_outage(const outage *o, const char *separator) {
    printf("%s{\"start_ns\":%" PRIu64 ",\"length_ns\":%" PRIu64 ",\"pings\":%" PRIu64 "%s}", separator, o->start_ns,
           o->length_ns, o->pings, o->is_open ? ",\"open\":true" : "");
}

static void print_json_outages(const timeline *t) {
    outage open = timeline_open_outage(t, cping_now());
    printf(",\"outage_count\":%" PRIu64 ",\"outages\":[", t->count + (uint64_t)open.is_open);
    for (size_t i = 0; i < t->listed; i++) print_json_outage(&t->outages[i], i ? "," : "");
    if (open.is_open) print_json_outage(&open, t->listed ? "," : "");
    putchar(']');
}

static void print_json_summary(const subject *s, uint64_t pending, int is_interim) {
    printf("{\"summary\":{");
    print_head(s);
    printf(",\"interim\":%s,\"sent\":%" PRIu64 ",\"in_flight\":%" PRIu64 ",\"answered\":%" PRIu64 ",\"lost\":%" PRIu64
           ",\"refused\":%" PRIu64 ",\"icmp_errors\":%" PRIu64 ",\"not_sent\":%" PRIu64 ",\"cancelled\":%" PRIu64,
           is_interim ? "true" : "false", s->sent + pending, pending, s->answered, s->lost, s->refused, s->icmp_errors,
           s->not_sent, s->cancelled);
    printf(",\"late\":%" PRIu64 ",\"duplicates\":%" PRIu64 ",\"reordered\":%" PRIu64 ",\"corrupt\":%" PRIu64
           ",\"loss_percent\":%.4f", s->late, s->duplicates, s->reordered, s->corrupt, subject_loss_percent(s));
    if (s->target.protocol == CPING_ONEWAY) {
        printf(",\"lost_up\":%" PRIu64 ",\"lost_down\":%" PRIu64, s->lost_up, s->lost_down);
    }
    print_json_figures("rtt_ns", &s->rtt);
    print_json_figures("ipdv_ns", &s->order.variation);
    if (s->target.protocol == CPING_ONEWAY) {
        print_json_figures("ipdv_up_ns", &s->order.up);
        print_json_figures("ipdv_down_ns", &s->order.down);
    }
    print_json_outages(&s->order);
    puts("}}");
}

/* ---- Words ---- */

static void print_event(const subject *s, const cping_event *e) {
    char from[64];
    printf("%s: slot %" PRIu64 " sequence %" PRIu32 " %s", s->name, e->slot, e->sequence, cping_kind_name(e->kind));
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

static void print_figures(const char *name, const histogram *h) {
    if (h->count == 0) return;
    printf("  %s min %.3f  mean %.3f  p50 %.3f  p95 %.3f  p99 %.3f  max %.3f ms\n", name, (double)h->min / 1e6,
           (double)histogram_mean(h) / 1e6, (double)histogram_percentile(h, 50) / 1e6,
           (double)histogram_percentile(h, 95) / 1e6, (double)histogram_percentile(h, 99) / 1e6, (double)h->max / 1e6);
}

static void print_outage(const outage *o, uint64_t now_ns) {
    printf("  outage  began %.1f s ago, %s %.3f s, %" PRIu64 " slots\n", (double)(now_ns - o->start_ns) / 1e9,
           o->is_open ? "goes on for" : "lasted", (double)o->length_ns / 1e9, o->pings);
}

static void print_rare(const char *name, uint64_t count) {
    if (count) printf(", %" PRIu64 " %s", count, name);
}

static void print_counts(const subject *s, uint64_t pending) {
    printf("  %" PRIu64 " sent, %" PRIu64 " answered, %" PRIu64 " lost, %.2f %% loss", s->sent + pending, s->answered, s->lost,
           subject_loss_percent(s));
    print_rare("under way", pending);
    print_rare("lost on the way up", s->lost_up);
    print_rare("lost on the way down", s->lost_down);
    print_rare("refused", s->refused);
    print_rare("ICMP errors", s->icmp_errors);
    print_rare("not sent", s->not_sent);
    print_rare("cancelled", s->cancelled);
    print_rare("late", s->late);
    print_rare("duplicates", s->duplicates);
    print_rare("reordered", s->reordered);
    print_rare("corrupt", s->corrupt);
    putchar('\n');
}

static void print_summary(const subject *s, uint64_t pending, int is_interim) {
    uint64_t now_ns = cping_now();
    outage open = timeline_open_outage(&s->order, now_ns);
    printf("%s%s (%s)\n", is_interim ? "so far: " : "", s->name, s->address);
    print_counts(s, pending);
    print_figures("rtt ", &s->rtt);
    print_figures("ipdv", &s->order.variation);
    print_figures("ipdv up  ", &s->order.up);
    print_figures("ipdv down", &s->order.down);
    for (size_t i = 0; i < s->order.listed; i++) print_outage(&s->order.outages[i], now_ns);
    if (s->order.count > s->order.listed) printf("  and %" PRIu64 " outages more\n", s->order.count - s->order.listed);
    if (open.is_open) print_outage(&open, now_ns);
}

/* ---- Either ---- */

void report_event(const options *o, const subject *s, const cping_event *event) {
    if (o->quiet || event->kind >= CPING_FINISHED) return;
    flockfile(stdout);
    if (o->json) print_json_event(s, event);
    else print_event(s, event);
    funlockfile(stdout);
}

static void print_json_move(const subject *s, const char *before) {
    putchar('{');
    print_head(s);
    putchar(',');
    print_string("moved_from", before);
    printf(",\"event_ns\":%" PRIu64 "}\n", cping_now());
}

void report_move(const options *o, const subject *s, const char *before, const cping_address *to, int error) {
    char there[64];
    cping_address_format(to, there, sizeof there);
    if (error) {
        fprintf(stderr, "cping: %s was silent at %s and cannot be pinged at %s: %s\n", s->name, before, there, cping_explain(error));
    } else if (o->json) {
        flockfile(stdout);
        print_json_move(s, before);
        funlockfile(stdout);
    } else {
        fprintf(stderr, "cping: %s was silent at %s and is at %s now; pinging there\n", s->name, before, there);
    }
}

void report_environment(const cping *pinger) {
    cping_environment granted;
    cping_get_environment(pinger, &granted);
    const char *schedule = granted.realtime == 1 ? "SCHED_FIFO" : granted.realtime == 0 ? "the usual, as asked for" : "the usual";
    fprintf(stderr, "cping: scheduling: %s", schedule);
    if (granted.realtime < 0) fprintf(stderr, " (SCHED_FIFO: %s)", strerror(-granted.realtime));
    fprintf(stderr, "; timer slack: %" PRIu64 " ns; changes of the network: %s\n", granted.timer_slack_ns,
            granted.network_watch == 1 ? "told by the kernel" : strerror(-granted.network_watch));
}

void report_summary(const options *o, const subject *s, cping *pinger) {
    cping_target_info info = {0};
    if (pinger) cping_inspect(pinger, s->id, &info);
    if (o->json) print_json_summary(s, info.pending, pinger != NULL);
    else print_summary(s, info.pending, pinger != NULL);
}
