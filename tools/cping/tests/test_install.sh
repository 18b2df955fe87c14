#!/bin/sh
# The installed library, under a prefix that is named only when it is installed: cpinger.pc and find_package lead to it.
# Usage: test_install.sh BUILD
set -e
build=$1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cmake --install "$build" --prefix "$work/there" >"$work/log" || { cat "$work/log"; exit 1; }
mkdir "$work/user"
cat >"$work/user/user.c" <<'C'
#include <cpinger.h>
#include <stdio.h>
int main(void) {
    puts(cping_explain(-2));
    return 0;
}
C
cat >"$work/user/CMakeLists.txt" <<'C'
cmake_minimum_required(VERSION 3.20)
project(user LANGUAGES C)
find_package(cpinger 0.1 REQUIRED)
foreach(kind cpinger static)
  add_executable(user_${kind} user.c)
  target_link_libraries(user_${kind} PRIVATE cpinger::${kind})
endforeach()
C
says() { words=$("$@") && [ -n "$words" ] || { echo "failed: $*" >&2; exit 1; }; }

pc=$(find "$work/there" -name cpinger.pc)
found=$(PKG_CONFIG_PATH=${pc%/*} pkg-config --variable=prefix cpinger)
[ "$found" = "$work/there" ] || { echo "cpinger.pc names $found, not $work/there" >&2; exit 1; }
# shellcheck disable=SC2046  # a word an option
cc "$work/user/user.c" -o "$work/by-pc" $(PKG_CONFIG_PATH=${pc%/*} pkg-config --cflags --libs cpinger)
LD_LIBRARY_PATH=$(PKG_CONFIG_PATH=${pc%/*} pkg-config --variable=libdir cpinger)
export LD_LIBRARY_PATH
says "$work/by-pc"

cmake -S "$work/user" -B "$work/made" -DCMAKE_PREFIX_PATH="$work/there" >"$work/log" 2>&1 && cmake --build "$work/made" >>"$work/log" 2>&1 ||
  { cat "$work/log"; exit 1; }
says "$work/made/user_cpinger"
says "$work/made/user_static"
echo "installed at another prefix, and found there by pkg-config and by CMake"
