/* Debian's libpcap: reads capture files. CPinger writes them. */
#include <pcap/pcap.h>
