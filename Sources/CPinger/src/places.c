#include "places.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "engine.h"

void cping__places_create(cping__places *places) {
    TAILQ_INIT(&places->former);
}

int cping__places_move(cping *pinger, cping__target *target, const cping_address *address) {
    cping__places *places = &target->places;
    if (memcmp(&target->config.destination, address, sizeof *address) == 0) return 0;
    if (places->pings) {
        cping__place *place = malloc(sizeof *place);
        if (!place) return -ENOMEM;
        *place = (cping__place){
            .number = places->number, .pings = places->pings, .address = target->config.destination};
        TAILQ_INSERT_TAIL(&places->former, place, link);
        pinger->former_places++;
        places->number++;
        places->pings = 0;
    }
    target->config.destination = *address;
    return 0;
}

static cping__place *former_place(const cping__ping *ping) {
    const cping__places *places = &ping->target->places;
    if (ping->place == places->number) return NULL;
    cping__place *place = TAILQ_FIRST(&places->former);
    while (place->number != ping->place) place = TAILQ_NEXT(place, link);
    return place;
}

void cping__place_enter(cping__ping *ping) {
    ping->place = ping->target->places.number;
    ping->target->places.pings++;
}

void cping__place_leave(cping *pinger, cping__ping *ping) {
    cping__places *places = &ping->target->places;
    cping__place *place = former_place(ping);
    if (!place) {
        places->pings--;
    } else if (--place->pings == 0) {
        TAILQ_REMOVE(&places->former, place, link);
        pinger->former_places--;
        free(place);
    }
}

const cping_address *cping__place_of(const cping__ping *ping) {
    const cping__place *place = former_place(ping);
    return place ? &place->address : &ping->target->config.destination;
}
