/* Address text. Two simulated interfaces replace the host's, so that a run is the same everywhere. */
#include <net/if.h>

#include "cpinger.h"
#include "fuzz.h"

unsigned __wrap_if_nametoindex(const char *name);
char *__wrap_if_indextoname(unsigned index, char *name);

unsigned __wrap_if_nametoindex(const char *name) {
    return strcmp(name, "lo") == 0 ? 1 : strcmp(name, "eth0.1") == 0 ? 2 : 0;
}

char *__wrap_if_indextoname(unsigned index, char *name) {
    if (index != 1 && index != 2) return NULL;
    return strcpy(name, index == 1 ? "lo" : "eth0.1");
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    char *text = malloc(size + 1), again[64];
    HOLDS(text != NULL);
    memcpy(text, data, size);
    text[size] = 0;
    cping_address address, same;
    if (cping_address_parse(&address, text, 4440) == 0) {
        HOLDS(address.family == 4 || address.family == 6);
        HOLDS(address.port == 4440);
        for (size_t i = 4; i < 16 && address.family == 4; i++) HOLDS(address.bytes[i] == 0);
        cping_address_format(&address, again, sizeof again);
        HOLDS(cping_address_parse(&same, again, 4440) == 0);
        HOLDS(memcmp(&address, &same, sizeof address) == 0);
    }
    free(text);
    return 0;
}
