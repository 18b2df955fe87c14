#include "record.h"

#include <inttypes.h>

static const char *const directions[] = {"up", "down"};

static void write_identity(FILE *file, const struct parcel *parcel) {
    const struct packet_id *id = &parcel->id;
    fprintf(file, "{\"direction\":\"%s\",\"number\":%" PRIu64 ",\"copy\":%d,\"family\":%d,\"protocol\":%d,\"kind\":\"%s\"",
            directions[parcel->direction], parcel->number, parcel->copy, id->family, id->protocol, id->kind);
    if (id->source_port) fprintf(file, ",\"ports\":[%d,%d]", id->source_port, id->destination_port);
    else fprintf(file, ",\"id\":%d", id->identifier);
    fprintf(file, ",\"sequence\":%" PRIu32 ",\"length\":%zu,\"head\":\"", id->sequence, parcel->length);
    for (size_t i = 0; i < id->head_length; i++) fprintf(file, "%02x", id->head[i]);
    fprintf(file, "\",\"hash_in\":\"%016" PRIx64 "\",\"hash_out\":\"%016" PRIx64 "\"", parcel->hash_in,
            packet_hash(parcel->bytes, id));
}

static void write_done(FILE *file, const struct parcel *parcel, const char *fate) {
    const struct fate *f = &parcel->fate;
    fprintf(file, ",\"fate\":\"%s\",\"duplicated\":%s,\"reordered\":%s,\"held\":%s,\"corrupt\":%s", fate,
            f->duplicated ? "true" : "false", f->reordered ? "true" : "false", f->held ? "true" : "false",
            parcel->bit < 0 ? "null" : f->corrupt ? "\"detectable\"" : "\"fixed\"");
    if (parcel->bit >= 0) fprintf(file, ",\"bit\":%d", parcel->bit);
    fprintf(file, ",\"in_realtime_ns\":%" PRId64 ",\"in_monotonic_ns\":%" PRId64, parcel->in.realtime_ns, parcel->in.monotonic_ns);
}

void record_lost(struct record *record, const struct parcel *parcel) {
    record->counts[parcel->direction].lost++;
    if (!record->log) return;
    write_identity(record->log, parcel);
    write_done(record->log, parcel, "lost");
    fputs("}\n", record->log);
}

static void count_error(struct record *record, int64_t error_ns) {
    int64_t bucket = error_ns / 1000;
    if (bucket < 0) bucket = 0;
    if (bucket >= ERROR_BUCKETS) bucket = ERROR_BUCKETS - 1;
    record->errors[bucket]++;
    record->error_count++;
    if (error_ns > record->error_max_ns) record->error_max_ns = error_ns;
}

static void count_out(struct direction_counts *counts, const struct parcel *parcel) {
    counts->out++;
    if (parcel->copy) return;
    counts->duplicated += parcel->fate.duplicated;
    counts->reordered += parcel->fate.reordered;
    counts->held += parcel->fate.held;
    if (parcel->bit >= 0) *(parcel->fate.corrupt ? &counts->corrupt : &counts->corrupt_fixed) += 1;
}

void record_out(struct record *record, const struct parcel *parcel, struct times out, int error) {
    struct direction_counts *counts = &record->counts[parcel->direction];
    int64_t error_ns = out.monotonic_ns - parcel->due_ns;
    if (error) counts->refused++;
    else count_out(counts, parcel);
    count_error(record, error_ns);
    if (!record->log) return;
    write_identity(record->log, parcel);
    write_done(record->log, parcel, error ? "refused" : "passed");
    fprintf(record->log,
            ",\"delay_ns\":%" PRId64 ",\"out_realtime_ns\":%" PRId64 ",\"out_monotonic_ns\":%" PRId64 ",\"pacing_error_ns\":%" PRId64,
            parcel->due_ns - parcel->in.monotonic_ns, out.realtime_ns, out.monotonic_ns, error_ns);
    if (error) fprintf(record->log, ",\"error\":%d", error);
    fputs("}\n", record->log);
}

/* The upper end of the bucket, in microseconds. */
static int percentile(const struct record *record, double fraction) {
    uint64_t seen = 0, wanted = (uint64_t)((double)record->error_count * fraction);
    for (int i = 0; i < ERROR_BUCKETS; i++) {
        seen += record->errors[i];
        if (seen > wanted) return i + 1;
    }
    return 0;
}

static void write_counts(const struct direction_counts *c, FILE *file) {
    fprintf(file,
            "{\"in\":%" PRIu64 ",\"out\":%" PRIu64 ",\"lost\":%" PRIu64 ",\"duplicated\":%" PRIu64
            ",\"reordered\":%" PRIu64 ",\"held\":%" PRIu64 ",\"corrupt\":%" PRIu64 ",\"corrupt_fixed\":%" PRIu64
            ",\"refused\":%" PRIu64 ",\"queue_full\":%" PRIu64 "}",
            c->in, c->out, c->lost, c->duplicated, c->reordered, c->held, c->corrupt, c->corrupt_fixed,
            c->refused, c->queue_full);
}

void record_summary(struct record *record, FILE *file) {
    for (int i = 0; i < 2; i++) {
        fprintf(file, "%s\"%s\":", i ? "," : "{\"summary\":{", directions[i]);
        write_counts(&record->counts[i], file);
    }
    fprintf(file,
            ",\"pacing_error\":{\"packets\":%" PRIu64 ",\"p50_us\":%d,\"p99_us\":%d,\"p999_us\":%d,\"max_ns\":%" PRId64 "}}}\n",
            record->error_count, percentile(record, 0.5), percentile(record, 0.99), percentile(record, 0.999),
            record->error_max_ns);
}
