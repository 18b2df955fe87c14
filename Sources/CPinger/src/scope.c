#include <errno.h>
#include <string.h>

#include "engine.h"

void cping__scope_note(cping__target *target) {
    uint32_t index = target->config.destination.scope_id;
    memset(target->scope_name, 0, sizeof target->scope_name);
    target->blocked = 0;
    if (index) cping__channel_interface_name(target->channel, index, target->scope_name);
}

void cping__scope_refresh(cping__target *target) {
    if (target->scope_name[0] == 0) return;
    uint32_t index = cping__channel_interface_index(target->channel, target->scope_name);
    target->blocked = index ? 0 : -ENODEV;
    /* The directory goes by address and port: the target stays where it is. */
    if (index) target->config.destination.scope_id = index;
}
