#include "icmp.h"
#include "rtr.h"
#include "support.h"
#include "token.h"

enum { PACKET = CPING__ICMP_HEADER + CPING__ICMP_PAYLOAD };

static void encodes_captured_request(void) {
    uint8_t expected[24], packet[CPING__RTR_REQUEST], token[16];
    /*                    RP01     sequence token: time, HMAC of time, HMAC of time and address */
    CHECK_EQUAL(from_hex("52503031 49e8964b 67ac5975 c44138a21867e72c 07f4136c", expected, 24), 24);
    from_hex("67ac5975 c44138a21867e72c 07f4136c", token, 16);
    cping__rtr_encode(packet, 0x49e8964b, token);
    CHECK(memcmp(packet, expected, 24) == 0);
    uint32_t sequence;
    CHECK_EQUAL(cping__rtr_parse_quote(expected, 24, &sequence), 0);
    CHECK_EQUAL(sequence, 0x49e8964b);
    CHECK_EQUAL(cping__rtr_parse_quote(expected, 7, &sequence), -1);
}

static enum cping__rtr_reply parse(const char *hex, uint32_t *sequence) {
    uint8_t bytes[64];
    size_t length = from_hex(hex, bytes, sizeof bytes);
    return cping__rtr_parse(bytes, length, sequence);
}

static void parses_rtr_replies(void) {
    uint32_t sequence = 0;
    /*                 RR01     sequence */
    CHECK_EQUAL(parse("52523031 49e8964b", &sequence), CPING__RTR_ANSWER);
    CHECK_EQUAL(sequence, 0x49e8964b);
    CHECK_EQUAL(parse("52453031 00000001", &sequence), CPING__RTR_REFUSAL);
    CHECK_EQUAL(sequence, 1);
    CHECK_EQUAL(parse("52523031 fffffffe aabbcc", &sequence), CPING__RTR_ANSWER);  /* longer is allowed */
    CHECK_EQUAL(sequence, 0xfffffffe);
    CHECK_EQUAL(parse("52523031 49e896", &sequence), CPING__RTR_SHORT);
    CHECK_EQUAL(parse("", &sequence), CPING__RTR_SHORT);
    CHECK_EQUAL(parse("52503031 49e8964b", &sequence), CPING__RTR_UNKNOWN);  /* our own request */
    CHECK_EQUAL(parse("52523032 49e8964b", &sequence), CPING__RTR_UNKNOWN);
}

static void checks_token(const char *address_hex, const char *token_hex) {
    static const char *const secrets[] = {"other", "demo-secret"};
    uint8_t address[16], expected[16], token[16];
    CHECK_EQUAL(from_hex(address_hex, address, 16), 16);
    CHECK_EQUAL(from_hex(token_hex, expected, 16), 16);
    token_mint(token, address, 1760000000, "demo-secret");
    CHECK(memcmp(token, expected, 16) == 0);
    CHECK_EQUAL(token_check(token, address, 1760000000, secrets, 2), TOKEN_VALID);
    CHECK_EQUAL(token_check(token, address, 1760000000, secrets, 1), TOKEN_UNKNOWN);
    CHECK_EQUAL(token_check(token, address, 1760000000, secrets, 0), TOKEN_OTHER_ADDRESS);
    CHECK_EQUAL(token_check(token, address, 1760000000 + 14400, secrets, 2), TOKEN_VALID);
    CHECK_EQUAL(token_check(token, address, 1760000000 + 14401, secrets, 2), TOKEN_EXPIRED);
    CHECK_EQUAL(token_check(token, address, 1760000000 - 30, secrets, 2), TOKEN_VALID);
    CHECK_EQUAL(token_check(token, address, 1760000000 - 31, secrets, 2), TOKEN_EXPIRED);
    address[15] ^= 1;
    CHECK_EQUAL(token_check(token, address, 1760000000, secrets, 2), TOKEN_OTHER_ADDRESS);
}

static void make_reply(uint8_t *packet, uint8_t family) {
    cping__icmp_encode(packet, CPING__ICMP_PAYLOAD, family, 0x1234, 0x00a1ffff, UINT64_C(0x1122334455667788));
    /* Eight less in the type of an IPv4 message is eight more in its checksum (RFC 1624). */
    packet[0] = family == 4 ? 0 : 129;
    if (family == 4) {
        uint32_t sum = (uint32_t)(packet[2] << 8 | packet[3]) + 0x0800;
        sum = (sum & 0xffff) + (sum >> 16);
        packet[2] = (uint8_t)(sum >> 8);
        packet[3] = (uint8_t)sum;
    }
}

static void parses_echo_replies(uint8_t family) {
    uint8_t packet[PACKET];
    cping__echo echo;
    make_reply(packet, family);
    CHECK_EQUAL(cping__icmp_parse(packet, sizeof packet, family, &echo), CPING__ICMP_ECHO_REPLY);
    CHECK_EQUAL(echo.identifier, 0x1234);
    CHECK_EQUAL(echo.wire_sequence, 0xffff);
    CHECK_EQUAL(echo.sequence, 0x00a1ffff);
    CHECK(echo.token == UINT64_C(0x1122334455667788));
    for (size_t length = 0; length < sizeof packet; length++) {
        enum cping__icmp_reply cut = cping__icmp_parse(packet, length, family, &echo);
        /* Only the matching can check an ICMPv6 reply's length: the kernel has verified the checksum. */
        if (length < CPING__ICMP_HEADER + CPING__ICMP_KEY) CHECK_EQUAL(cut, CPING__ICMP_SHORT);
        else CHECK_EQUAL(cut, family == 4 ? CPING__ICMP_CORRUPT : CPING__ICMP_ECHO_REPLY);
    }
    for (size_t i = 8; i < sizeof packet; i++) {
        packet[i] ^= 0x10;
        CHECK_EQUAL(cping__icmp_parse(packet, sizeof packet, family, &echo), CPING__ICMP_CORRUPT);
        packet[i] ^= 0x10;
    }
    packet[7] ^= 1;
    CHECK_EQUAL(cping__icmp_parse(packet, sizeof packet, family, &echo), CPING__ICMP_CORRUPT);
    packet[0] = 3;
    CHECK_EQUAL(cping__icmp_parse(packet, sizeof packet, family, &echo), CPING__ICMP_OTHER);
}

static void parses_quotes(void) {
    uint8_t packet[PACKET];
    cping__echo echo;
    cping__icmp_encode(packet, CPING__ICMP_PAYLOAD, 4, 7, 0x10002, 99);
    CHECK_EQUAL(cping__icmp_parse_quote(packet, 64, 4, &echo), 0);
    CHECK(echo.has_key && echo.token == 99 && echo.sequence == 0x10002);
    CHECK_EQUAL(cping__icmp_parse_quote(packet, 8, 4, &echo), 0);
    CHECK(!echo.has_key && echo.wire_sequence == 2);
    CHECK_EQUAL(cping__icmp_parse_quote(packet, 7, 4, &echo), -1);
    CHECK_EQUAL(cping__icmp_parse_quote(packet, 64, 6, &echo), -1);
}

static void measures_ip_headers(void) {
    uint8_t bytes[64] = {0x45};
    CHECK_EQUAL(cping__icmp_ip_header(bytes, 64), 20);
    CHECK_EQUAL(cping__icmp_ip_header(bytes, 19), -1);
    bytes[0] = 0x4f;
    CHECK_EQUAL(cping__icmp_ip_header(bytes, 64), 60);
    CHECK_EQUAL(cping__icmp_ip_header(bytes, 59), -1);
    bytes[0] = 0x44;
    CHECK_EQUAL(cping__icmp_ip_header(bytes, 64), -1);
    bytes[0] = 0x65;
    CHECK_EQUAL(cping__icmp_ip_header(bytes, 64), -1);
}

int main(void) {
    encodes_captured_request();
    parses_rtr_replies();
    checks_token("00000000000000000000ffffc000020a", "68e77800 b3365013a5fcb39a a115bd50");  /* 192.0.2.10 */
    checks_token("20010db8000000000000000000000010", "68e77800 b3365013a5fcb39a d5cbb818");  /* 2001:db8::10 */
    checks_token("00000000000000000000ffff7f000001", "68e77800 b3365013a5fcb39a 291e878b");  /* 127.0.0.1 */
    parses_echo_replies(4);
    parses_echo_replies(6);
    parses_quotes();
    measures_ip_headers();
    return 0;
}
