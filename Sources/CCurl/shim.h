/* Debian's libcurl: every request over HTTP that this program sends.
   Swift imports no variadic functions: here is one function for each type of value. */
#define CURL_DISABLE_TYPECHECK
#include <curl/curl.h>

static inline CURLcode ccurl_number(CURL *easy, CURLoption option, long value) {
  return curl_easy_setopt(easy, option, value);
}
static inline CURLcode ccurl_size(CURL *easy, CURLoption option, curl_off_t value) {
  return curl_easy_setopt(easy, option, value);
}
/* libcurl copies the text. */
static inline CURLcode ccurl_text(CURL *easy, CURLoption option, const char *value) {
  return curl_easy_setopt(easy, option, value);
}
static inline CURLcode ccurl_pointer(CURL *easy, CURLoption option, void *value) {
  return curl_easy_setopt(easy, option, value);
}
/* PEM certificates, copied. */
static inline CURLcode ccurl_authorities(CURL *easy, const void *bytes, size_t length) {
  struct curl_blob blob = {(void *)bytes, length, CURL_BLOB_COPY};
  return curl_easy_setopt(easy, CURLOPT_CAINFO_BLOB, &blob);
}
static inline CURLcode ccurl_receiver(CURL *easy, CURLoption option, curl_write_callback function) {
  return curl_easy_setopt(easy, option, function);
}
static inline CURLcode ccurl_reader(CURL *easy, curl_read_callback function) {
  return curl_easy_setopt(easy, CURLOPT_READFUNCTION, function);
}
static inline CURLcode ccurl_seeker(CURL *easy, curl_seek_callback function) {
  return curl_easy_setopt(easy, CURLOPT_SEEKFUNCTION, function);
}
static inline CURLcode ccurl_socket_options(CURL *easy, curl_sockopt_callback function) {
  return curl_easy_setopt(easy, CURLOPT_SOCKOPTFUNCTION, function);
}

/* 0 where the transfer has no such figure. */
static inline long ccurl_info(CURL *easy, CURLINFO info) {
  long value = 0;
  return curl_easy_getinfo(easy, info, &value) == CURLE_OK ? value : 0;
}
static inline curl_off_t ccurl_info_size(CURL *easy, CURLINFO info) {
  curl_off_t value = 0;
  return curl_easy_getinfo(easy, info, &value) == CURLE_OK ? value : 0;
}
/* The address of the last connection; it lasts as long as the handle. */
static inline const char *ccurl_address(CURL *easy) {
  char *value = NULL;
  return curl_easy_getinfo(easy, CURLINFO_PRIMARY_IP, &value) == CURLE_OK ? value : NULL;
}
static inline const struct curl_certinfo *ccurl_certificates(CURL *easy) {
  struct curl_certinfo *value = NULL;
  return curl_easy_getinfo(easy, CURLINFO_CERTINFO, &value) == CURLE_OK ? value : NULL;
}
