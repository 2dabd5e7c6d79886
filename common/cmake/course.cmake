# What every CMakeLists.txt of the course includes: the backend, the architecture, and the functions that declare a
# chapter. Safe to include more than once; a chapter configures alone or as part of the whole.
include_guard(GLOBAL)

get_filename_component(COURSE_ROOT "${CMAKE_CURRENT_LIST_DIR}/../.." ABSOLUTE)
list(APPEND CMAKE_MODULE_PATH "${CMAKE_CURRENT_LIST_DIR}")
set(COURSE_ROOT "${COURSE_ROOT}" CACHE INTERNAL "root of the course")

if(NOT CMAKE_BUILD_TYPE AND NOT CMAKE_CONFIGURATION_TYPES)
  set(CMAKE_BUILD_TYPE Release CACHE STRING "Release measures; Debug is for debuggers" FORCE)
endif()
set(CMAKE_CXX_STANDARD 17)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
set(CMAKE_RUNTIME_OUTPUT_DIRECTORY "${CMAKE_BINARY_DIR}/bin")
set(COURSE_BROKEN "" CACHE STRING "versions to leave out of the link, because they do not compile")

include(backend)       # COURSE_BACKEND: cuda or host; enables CUDA and chooses the architecture
include(googletest)    # course_use_googletest()

add_compile_options($<$<COMPILE_LANGUAGE:CXX>:-Wall> $<$<COMPILE_LANGUAGE:CXX>:-Wextra>)
if(COURSE_BACKEND STREQUAL "cuda")
  add_compile_options(
    "$<$<COMPILE_LANGUAGE:CUDA>:-lineinfo>" "$<$<COMPILE_LANGUAGE:CUDA>:-Xcompiler=-Wall,-Wextra>")
endif()
find_package(Threads REQUIRED)
enable_testing()

if(NOT TARGET course_host)
  add_subdirectory("${COURSE_ROOT}/common" "${CMAKE_BINARY_DIR}/common")
endif()

# Adds .cu files, one object library each, so that one that does not compile stops nothing else from compiling. The
# objects are appended to the list variable named by `out`.
function(course_objects out prefix hopper)
  set(objects ${${out}})
  foreach(file ${ARGN})
    get_filename_component(stem "${file}" NAME)
    if(stem IN_LIST COURSE_BROKEN)
      continue()
    endif()
    set(target "${prefix}_${stem}")
    add_library(${target} OBJECT "${file}.cu")
    if(hopper)
      set_target_properties(${target} PROPERTIES CUDA_ARCHITECTURES 90a-real)
    endif()
    list(APPEND objects $<TARGET_OBJECTS:${target}>)
  endforeach()
  set(${out} "${objects}" PARENT_SCOPE)
endfunction()

# course_chapter(NAME 01_vector_add VERSIONS ... [HOPPER ...])
#
# VERSIONS: .cu files without suffix, built for the chosen architectures. HOPPER: files that need compute capability
# 9.0, built for 90a alone, and only if the chosen architectures include it. Makes the targets
#   NAME            the chapter's program
#   NAME_reference  the reference on the CPU, which needs no CUDA
#   NAME_test       its tests, if GoogleTest is there and tests/NAME_test.cpp exists
#   NAME_exercise_K for each my/K_*.cu
function(course_chapter)
  cmake_parse_arguments(PARSE_ARGV 0 ARG "" "NAME" "VERSIONS;HOPPER")
  set(folder "${CMAKE_CURRENT_SOURCE_DIR}")
  if(EXISTS "${folder}/reference.cpp")
    add_executable(${ARG_NAME}_reference reference.cpp)
    target_link_libraries(${ARG_NAME}_reference PRIVATE course_host)
    add_test(NAME ${ARG_NAME}.reference COMMAND ${ARG_NAME}_reference)
    string(SUBSTRING "${ARG_NAME}" 0 2 number)
    set_tests_properties(${ARG_NAME}.reference PROPERTIES LABELS "ch${number}.host")
  endif()
  if(NOT COURSE_BACKEND STREQUAL "cuda")
    return()
  endif()
  course_objects(objects ${ARG_NAME} FALSE ${ARG_VERSIONS})
  if(COURSE_HAS_HOPPER)
    course_objects(objects ${ARG_NAME} TRUE ${ARG_HOPPER})
  endif()

  add_library(${ARG_NAME}_versions OBJECT versions.cpp)
  target_link_libraries(${ARG_NAME}_versions PUBLIC course_cuda)
  list(APPEND objects $<TARGET_OBJECTS:${ARG_NAME}_versions>)
  add_executable(${ARG_NAME} main.cpp ${objects})
  target_link_libraries(${ARG_NAME} PRIVATE course_cuda)

  if(EXISTS "${COURSE_ROOT}/tests/${ARG_NAME}_test.cpp")
    course_chapter_test(${ARG_NAME} "${objects}")
  endif()
  course_exercises(${ARG_NAME})
endfunction()

# The GoogleTest of a chapter: one ctest entry, so one process, for each version of each study.
function(course_chapter_test name objects)
  course_use_googletest(found)
  if(NOT found)
    return()
  endif()
  string(SUBSTRING "${name}" 0 2 number)
  add_executable(${name}_test "${COURSE_ROOT}/tests/${name}_test.cpp" ${objects})
  target_link_libraries(${name}_test PRIVATE course_cuda GTest::gtest)
  target_include_directories(${name}_test PRIVATE "${CMAKE_CURRENT_SOURCE_DIR}" "${COURSE_ROOT}/tests")
  gtest_discover_tests(${name}_test DISCOVERY_MODE PRE_TEST DISCOVERY_TIMEOUT 60 TEST_PREFIX "ch${number}."
    PROPERTIES LABELS "ch${number}.cuda" RESOURCE_LOCK gpu TIMEOUT 600)
endfunction()

# A learner's file my/1_name.cu becomes the program NAME_exercise_1: exercises/main.cpp and the versions it names
# beside it. Solutions and starters build with -DCOURSE_EXERCISES=ON for the tests.
function(course_exercises name)
  file(GLOB mine "${CMAKE_CURRENT_SOURCE_DIR}/my/[0-9]_*.cu")
  foreach(file ${mine})
    get_filename_component(stem "${file}" NAME_WE)
    string(SUBSTRING "${stem}" 0 1 number)
    course_exercise(${name}_exercise_${number} ${name} ${number} "${file}")
    set_target_properties(${name}_exercise_${number} PROPERTIES EXCLUDE_FROM_ALL TRUE)
  endforeach()
  file(GLOB starters "${CMAKE_CURRENT_SOURCE_DIR}/exercises/[0-9]_*.cu")
  foreach(file ${starters})
    get_filename_component(stem "${file}" NAME_WE)
    string(SUBSTRING "${stem}" 0 1 number)
    set(solution "${CMAKE_CURRENT_SOURCE_DIR}/exercises/solution/${stem}.cu")
    course_exercise(${name}_starter_${number} ${name} ${number} "${file}")
    course_exercise(${name}_solution_${number} ${name} ${number} "${solution}")
    string(SUBSTRING "${name}" 0 2 chapter)
    if(TARGET ${name}_test)  # who builds the tests needs these, too
      add_dependencies(${name}_test ${name}_starter_${number} ${name}_solution_${number})
    endif()
    foreach(kind starter solution)
      add_test(NAME ch${chapter}.exercise_${number}.${kind}
        COMMAND ${CMAKE_COMMAND} -DPROGRAM=$<TARGET_FILE:${name}_${kind}_${number}> -DKIND=${kind}
                -P "${COURSE_ROOT}/tests/exercise.cmake")
      set_tests_properties(ch${chapter}.exercise_${number}.${kind} PROPERTIES
        LABELS "ch${chapter}.cuda" RESOURCE_LOCK gpu TIMEOUT 300 SKIP_REGULAR_EXPRESSION "SKIPPED")
    endforeach()
  endforeach()
endfunction()

function(course_exercise target chapter number file)
  add_executable(${target} "${file}" exercises/main.cpp $<TARGET_OBJECTS:${chapter}_02_one_thread_per_element>)
  target_compile_definitions(${target} PRIVATE EXERCISE=${number})
  target_include_directories(${target} PRIVATE "${CMAKE_CURRENT_SOURCE_DIR}")
  target_link_libraries(${target} PRIVATE course_cuda)
endfunction()

# course_programs(NAME 00_first_steps PROGRAMS 01_hello ...): single files, an executable each, into bin/NAME/.
function(course_programs)
  cmake_parse_arguments(PARSE_ARGV 0 ARG "" "NAME" "PROGRAMS")
  add_custom_target(${ARG_NAME})
  if(NOT COURSE_BACKEND STREQUAL "cuda")
    return()
  endif()
  foreach(program ${ARG_PROGRAMS})
    if(program IN_LIST COURSE_BROKEN)
      continue()
    endif()
    add_executable(${ARG_NAME}_${program} ${program}.cu)
    set_target_properties(${ARG_NAME}_${program} PROPERTIES
      OUTPUT_NAME ${program} RUNTIME_OUTPUT_DIRECTORY "${CMAKE_BINARY_DIR}/bin/${ARG_NAME}")
    add_dependencies(${ARG_NAME} ${ARG_NAME}_${program})
  endforeach()
endfunction()
