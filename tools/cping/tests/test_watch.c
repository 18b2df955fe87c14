#include "watch.h"

#include <string.h>

#include "check.h"

static const uint64_t second = 1000000000, silence = 30000000000;

static cping_address at(const char *text) {
    cping_address address = {0};
    address.family = strchr(text, ':') ? 6 : 4;
    memcpy(address.bytes, text, strlen(text));
    return address;
}

static void silence_is_waited_for(void) {
    watch w = {.quiet_since_ns = 100 * second};
    CHECK(!watch_wants(&w, silence, 130 * second - 1));
    watch_heard(&w, 110 * second);
    CHECK(!watch_wants(&w, silence, 130 * second));
    CHECK(watch_wants(&w, silence, 140 * second));
    CHECK(!watch_wants(&w, silence, 1000 * second));  /* once at a time */
    watch_failed(&w, 145 * second);
    CHECK(!watch_wants(&w, silence, 175 * second - 1));
    CHECK(watch_wants(&w, silence, 175 * second));
    CHECK(!watch_wants(&w, silence, 50 * second));
}

static void the_address_is_left_only_when_the_name_has_it_no_longer(void) {
    watch w = {0};
    cping_address present = at("1.1.1.1");
    cping_address others[] = {at("::2"), at("2.2.2.2"), at("3.3.3.3"), present};
    CHECK(watch_wants(&w, silence, silence));
    CHECK(watch_found(&w, &present, others, 4, 31 * second) == NULL);
    CHECK(!watch_wants(&w, silence, 60 * second));
    CHECK(watch_wants(&w, silence, 61 * second));
    CHECK(watch_found(&w, &present, others, 3, 62 * second) == &others[1]);
    CHECK(watch_wants(&w, silence, 92 * second));
    CHECK(watch_found(&w, &present, others, 1, 93 * second) == NULL);  /* none of its family */
    CHECK(watch_wants(&w, silence, 123 * second));
    CHECK(watch_found(&w, &present, others, 0, 124 * second) == NULL);
}

static void an_answer_in_the_meantime_counts(void) {
    watch w = {0};
    cping_address present = at("1.1.1.1"), other = at("2.2.2.2");
    CHECK(watch_wants(&w, silence, silence));
    watch_heard(&w, 31 * second);
    CHECK(watch_found(&w, &present, &other, 1, 32 * second) == NULL);
    /* The silence counts from the answer, not from the look-up. */
    CHECK(!watch_wants(&w, silence, 61 * second - 1));
    CHECK(watch_wants(&w, silence, 61 * second));
}

int main(void) {
    silence_is_waited_for();
    the_address_is_left_only_when_the_name_has_it_no_longer();
    an_answer_in_the_meantime_counts();
    return 0;
}
