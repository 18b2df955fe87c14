# find_package(cpinger), then cpinger::cpinger (the shared library) or cpinger::static.
include(CMakeFindDependencyMacro)
find_dependency(Threads)
# The static library was built with it if the target names it.
find_package(PkgConfig QUIET)
if(PkgConfig_FOUND)
  pkg_check_modules(PCAP QUIET IMPORTED_TARGET libpcap)
endif()
include(${CMAKE_CURRENT_LIST_DIR}/cpinger-targets.cmake)
