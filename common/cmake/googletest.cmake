# course_use_googletest(out): GTest::gtest from the system, from Debian's sources, or, with
# -DCOURSE_NO_DOWNLOAD=OFF (tests/run sets it), downloaded (from GitHub, else from Debian), in that
# order. Sets `out` to FALSE, with a message, where none of them is to be had; tests are then left
# out of the build.
include(GoogleTest)
option(COURSE_NO_DOWNLOAD "never download GoogleTest" ON)

function(course_use_googletest out)
  if(NOT TARGET GTest::gtest)
    find_package(GTest QUIET)
  endif()
  if(NOT TARGET GTest::gtest AND EXISTS /usr/src/googletest/CMakeLists.txt)
    set(INSTALL_GTEST OFF CACHE INTERNAL "")
    set(BUILD_GMOCK OFF CACHE INTERNAL "")
    add_subdirectory(/usr/src/googletest "${CMAKE_BINARY_DIR}/googletest" EXCLUDE_FROM_ALL)
  endif()
  if(NOT TARGET GTest::gtest AND NOT COURSE_NO_DOWNLOAD)
    include(FetchContent)
    FetchContent_Declare(googletest
      URL https://github.com/google/googletest/archive/refs/tags/v1.17.0.tar.gz
        https://deb.debian.org/debian/pool/main/g/googletest/googletest_1.17.0.orig.tar.gz
      INACTIVITY_TIMEOUT 20
      DOWNLOAD_EXTRACT_TIMESTAMP TRUE)
    set(INSTALL_GTEST OFF CACHE INTERNAL "")
    set(BUILD_GMOCK OFF CACHE INTERNAL "")
    FetchContent_MakeAvailable(googletest)
  endif()
  if(NOT TARGET GTest::gtest)
    message(STATUS "GoogleTest not found: tests are not built. Debian, Ubuntu: apt-get install libgtest-dev")
    set(${out} FALSE PARENT_SCOPE)
    return()
  endif()
  set(${out} TRUE PARENT_SCOPE)
endfunction()
