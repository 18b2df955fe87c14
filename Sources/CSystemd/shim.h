/* Debian's libsystemd: sd-bus, for D-Bus. */
#include <systemd/sd-bus.h>
