#include "responder.h"

#include <string.h>

#include "token.h"

enum { REQUEST_SIZE = 24 };

void responder_init(struct responder *responder, const struct options *options) {
    *responder = (struct responder){.options = options};
    responder->random = options->seed * UINT64_C(0x9e3779b97f4a7c15) + 1;
}

/* xorshift64*, so that a seed gives the same faults everywhere. Draw one number per fault and request, so that enabling one
 * fault does not shift the others. */
static int happens(struct responder *responder, double percent) {
    uint64_t x = responder->random;
    x ^= x >> 12;
    x ^= x << 25;
    x ^= x >> 27;
    responder->random = x;
    double chance = (double)((x * UINT64_C(2685821657736338717)) >> 11) / 9007199254740992.0;
    return chance * 100 < percent;
}

static int is_dead(const struct options *options, double elapsed) {
    for (size_t i = 0; i < options->dead_count; i++) {
        if (elapsed >= options->dead[i].from && elapsed < options->dead[i].to) return 1;
    }
    return 0;
}

static struct answer regular(struct responder *responder, const uint8_t *request, enum token_verdict verdict) {
    struct answer answer = {.length = 8, .copies = 1};
    int refuse = verdict == TOKEN_OTHER_ADDRESS;
    if (happens(responder, responder->options->force_re01)) refuse = 1;
    if (responder->re01_armed) refuse = 1;
    responder->re01_armed = 0;
    memcpy(answer.bytes, refuse ? "RE01" : "RR01", 4);
    memcpy(answer.bytes + 4, request + 4, 4);
    if (refuse) responder->counters.re01++;
    else responder->counters.ok++;
    return answer;
}

static void spoil(struct responder *responder, struct answer *answer) {
    const struct options *options = responder->options;
    struct counters *counters = &responder->counters;
    if (happens(responder, options->duplicate)) {
        answer->copies = 2;
        counters->duplicates++;
    }
    if (happens(responder, options->wrong_sequence)) {
        answer->bytes[4] ^= 0x80;
        counters->wrong_sequence++;
    }
    if (happens(responder, options->short_reply)) {
        answer->length = 7;
        counters->short_replies++;
    }
    if (happens(responder, options->unknown_magic)) {
        answer->bytes[1] = 'X';
        counters->unknown_magic++;
    }
    if (happens(responder, options->other_port)) {
        answer->other_port = 1;
        counters->other_port++;
    }
}

/* These requests have no token, so they are answered only with --one-way. An answer is never longer than its request. */
static struct answer answer_oneway(struct responder *responder, const struct request *request,
                                   const cping__oneway_key *key) {
    struct answer answer = {.length = request->length, .copies = 1, .is_oneway = 1};
    answer.session = oneway_note(&responder->oneway, key, request->address, request->receive_ns,
                                 request->is_kernel_stamp, &answer.oneway);
    responder->counters.oneway++;
    return answer;
}

/* An echo service that answers another one, or that a forged source points at one, sends for ever. */
static int may_echo(struct responder *responder, const struct request *request) {
    int is_service = request->port < 1024 || request->port == request->local_port;
    if (!is_service && request->length > 0 &&
        echo_limit_admits(&responder->echo_limit, request->address, responder->options->echo_rate, request->elapsed)) {
        return 1;
    }
    responder->counters.echoes_withheld++;
    return 0;
}

static int is_rtr(const struct request *request) {
    return request->length == REQUEST_SIZE && memcmp(request->bytes, "RP01", 4) == 0;
}

/* Whether the token permits an answer. */
static int is_admitted(struct responder *responder, const struct request *request, enum token_verdict *verdict) {
    const struct options *options = responder->options;
    struct counters *counters = &responder->counters;
    if (!is_rtr(request)) {
        counters->malformed++;
        return 0;
    }
    *verdict = token_check(request->bytes + 8, request->address, request->now, options->secrets, options->secret_count);
    if (*verdict == TOKEN_EXPIRED) counters->expired++;
    if (*verdict == TOKEN_UNKNOWN) counters->unknown_token++;
    if (*verdict == TOKEN_OTHER_ADDRESS && options->any_address && options->secret_count) *verdict = TOKEN_VALID;
    return *verdict != TOKEN_EXPIRED && *verdict != TOKEN_UNKNOWN;
}

struct answer responder_answer(struct responder *responder, const struct request *request) {
    const struct options *options = responder->options;
    struct counters *counters = &responder->counters;
    struct answer silence = {0};
    cping__oneway_key key;
    enum token_verdict verdict = TOKEN_VALID;
    counters->requests++;
    int is_oneway = options->one_way && cping__oneway_parse_request(request->bytes, request->length, &key) == 0;
    int is_echo = options->echo && !is_oneway && !is_rtr(request);
    if (is_echo ? !may_echo(responder, request) : !is_oneway && !is_admitted(responder, request, &verdict)) return silence;

    /* A drop imitates a loss behind the server, which has counted the request. */
    struct answer answer = {0};
    if (is_oneway) answer = answer_oneway(responder, request, &key);
    int dropped = happens(responder, options->drop);
    if (is_dead(options, request->elapsed)) {
        counters->dead++;
        return silence;
    }
    if (dropped) {
        counters->dropped++;
        return silence;
    }
    if (is_oneway) return answer;
    if (is_echo) {
        counters->echoes++;
        return (struct answer){.length = request->length, .copies = 1, .is_echo = 1};
    }
    answer = regular(responder, request->bytes, verdict);
    spoil(responder, &answer);
    return answer;
}
