# Debian's cross compiler for ${triplet}, with the tests under ${emulator} of qemu-user. Packages: gcc-TRIPLET,
# libc6-dev-ARCHITECTURE-cross, qemu-user. The reflector and most tests need libssl-dev of that architecture, capture needs its
# libpcap0.8-dev (dpkg --add-architecture): installed, or unpacked at FOREIGN_ROOT, as tools/test-architectures does. Without
# them these parts are left out.
set(CMAKE_TRY_COMPILE_PLATFORM_VARIABLES FOREIGN_ROOT)
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_C_COMPILER ${triplet}-gcc)
set(CMAKE_LIBRARY_ARCHITECTURE ${triplet})

set(CMAKE_FIND_ROOT_PATH /usr/${triplet} /usr/lib/${triplet})
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
# pkg-config must not answer for the machine that builds.
set(ENV{PKG_CONFIG_LIBDIR} /usr/lib/${triplet}/pkgconfig)

find_program(EMULATOR_${emulator} ${emulator})
if(EMULATOR_${emulator})
  set(CMAKE_CROSSCOMPILING_EMULATOR ${EMULATOR_${emulator}};-L;/usr/${triplet})
endif()

if(FOREIGN_ROOT)
  set(libraries ${FOREIGN_ROOT}/usr/lib/${triplet})
  list(PREPEND CMAKE_FIND_ROOT_PATH ${FOREIGN_ROOT} ${FOREIGN_ROOT}/usr)
  set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
  set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE ONLY)
  set(ENV{PKG_CONFIG_LIBDIR} ${libraries}/pkgconfig)
  set(ENV{PKG_CONFIG_SYSROOT_DIR} ${FOREIGN_ROOT})
  # opensslconf.h lies in the architecture's folder. The libraries' own dependencies are found when a program starts.
  set(CMAKE_C_FLAGS_INIT "-isystem ${FOREIGN_ROOT}/usr/include/${triplet}")
  set(CMAKE_EXE_LINKER_FLAGS_INIT "-Wl,--allow-shlib-undefined")
  if(CMAKE_CROSSCOMPILING_EMULATOR)
    list(APPEND CMAKE_CROSSCOMPILING_EMULATOR -E LD_LIBRARY_PATH=${libraries}:${FOREIGN_ROOT}/lib/${triplet})
  endif()
endif()
