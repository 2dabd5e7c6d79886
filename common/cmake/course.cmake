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

include(backend)       # COURSE_BACKEND: cuda or cpu; enables CUDA and chooses the architecture
include(googletest)    # course_use_googletest()
include(exercises)     # course_exercises()

add_compile_options($<$<COMPILE_LANGUAGE:CXX>:-Wall> $<$<COMPILE_LANGUAGE:CXX>:-Wextra>)
if(COURSE_BACKEND STREQUAL "cuda")
  add_compile_options(
    "$<$<COMPILE_LANGUAGE:CUDA>:-lineinfo>" "$<$<COMPILE_LANGUAGE:CUDA>:-Xcompiler=-Wall,-Wextra>")
endif()
# What is about tests alone is compiled in half the time: GoogleTest's macros are long, and nothing of it is measured. The CPU
# backend measures nothing at all: there a chapter's host code, which has the references, is compiled quickly, too.
if(COURSE_BACKEND STREQUAL "cuda")
  set(COURSE_TEST_OPTIONS $<$<AND:$<COMPILE_LANGUAGE:CXX>,$<CONFIG:Release>>:-O1>)
  set(COURSE_HOST_OPTIONS "")
else()
  set(COURSE_TEST_OPTIONS $<$<CONFIG:Release>:-O0>)
  set(COURSE_HOST_OPTIONS $<$<CONFIG:Release>:-O1>)
endif()
find_package(Threads REQUIRED)
find_package(Python3 REQUIRED COMPONENTS Interpreter)
# The interpreter itself: pyenv's `python3` is a script that looks for it, each time.
execute_process(COMMAND "${Python3_EXECUTABLE}" -c "import sys; print(sys.executable)"
  OUTPUT_VARIABLE COURSE_PYTHON OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
enable_testing()

# What programs and tests link: common/ as built for this backend.
set(COURSE_LIBRARY course_${COURSE_BACKEND})
# A module of common/python/course as a command.
set(COURSE_MODULE ${CMAKE_COMMAND} -E env "PYTHONPATH=${COURSE_ROOT}/common/python" PYTHONDONTWRITEBYTECODE=1
  ${COURSE_PYTHON} -S -m)

# A file whose kernels launch kernels, or call code of other files, needs relocatable device code and a device link.
# Whoever declares such files sets COURSE_DEVICE_LINK to their names, without folder and suffix, for what it calls.
# out: whether this file is one. Of an exercise any file is that has its number: a learner's, a teacher's, those handed in.
function(course_is_device_linked out file)
  get_filename_component(stem "${file}" NAME_WE)
  set(${out} FALSE PARENT_SCOPE)
  if(COURSE_BACKEND STREQUAL "cuda" AND "${stem}" IN_LIST COURSE_DEVICE_LINK)
    set(${out} TRUE PARENT_SCOPE)
  endif()
endfunction()

# Stops where DEVICE_LINK has a name that no file has.
function(course_check_device_link chapter)
  foreach(stem ${COURSE_DEVICE_LINK})
    file(GLOB_RECURSE found "${CMAKE_CURRENT_SOURCE_DIR}/${stem}.cu")
    if(NOT found)
      message(FATAL_ERROR "${chapter}: DEVICE_LINK names ${stem}, and there is no ${stem}.cu; give names without suffix")
    endif()
  endforeach()
endfunction()

# An object library of one .cu file. PLAIN: on the CPU backend neither checked nor counted. With a device link its code is
# relocatable, and what takes it (course_add_code) is linked on the device; all other code stays as it is.
function(course_object_library target file)
  if(COURSE_BACKEND STREQUAL "cuda")
    add_library(${target} OBJECT "${file}")
    course_is_device_linked(linked "${file}")
    if(linked)
      set_target_properties(${target} PROPERTIES CUDA_SEPARABLE_COMPILATION ON)
    endif()
  elseif(COURSE_CPU_CHECKS AND NOT "PLAIN" IN_LIST ARGN)
    simt_object_library(${target} "${file}")
  else()
    simt_object_library(${target} "${file}" PLAIN)
  endif()
  if(COURSE_BACKEND STREQUAL "cpu")
    # nvcc's pragmas, such as unroll; and what g++ says of tensor maps as parameters of templates
    target_compile_options(${target} PRIVATE -Wno-unknown-pragmas -Wno-psabi)
  endif()
endfunction()

# Gives a program the code of libraries that course_object_library() has made, or of other object libraries. All of a
# program's relocatable code is linked on the device at once: two device links of one program would both bring the device
# runtime.
function(course_add_code program)
  foreach(library ${ARGN})
    target_sources(${program} PRIVATE $<TARGET_OBJECTS:${library}>)
    get_target_property(relocatable ${library} CUDA_SEPARABLE_COMPILATION)
    if(relocatable)
      set_target_properties(${program} PROPERTIES CUDA_RESOLVE_DEVICE_SYMBOLS ON)
    endif()
  endforeach()
endfunction()

if(COURSE_BACKEND STREQUAL "cpu")
  include("${COURSE_ROOT}/common/simt/simt.cmake")
  simt_add_library()
endif()
if(NOT TARGET course_host)
  add_subdirectory("${COURSE_ROOT}/common" "${CMAKE_BINARY_DIR}/common")
endif()

# Adds .cu files, one object library each, so that one that does not compile stops nothing else from compiling. The
# libraries are appended to the list variable named by `out`, the files to that with the suffix _files. architectures:
# those to build for, or "" for all chosen.
function(course_objects out prefix architectures)
  set(objects ${${out}})
  set(files ${${out}_files})
  foreach(file ${ARGN})
    get_filename_component(stem "${file}" NAME)
    if(stem IN_LIST COURSE_BROKEN)
      continue()
    endif()
    set(target "${prefix}_${stem}")
    course_object_library(${target} "${file}.cu")
    if(architectures AND COURSE_BACKEND STREQUAL "cuda")
      set_target_properties(${target} PROPERTIES CUDA_ARCHITECTURES "${architectures}")
    endif()
    list(APPEND objects ${target})
    list(APPEND files ${file})
  endforeach()
  set(${out} "${objects}" PARENT_SCOPE)
  set(${out}_files "${files}" PARENT_SCOPE)
endfunction()

# course_chapter(NAME 01_vector_add VERSIONS ... [HOPPER ...] [HOPPER_ONLY ...] [COMPARED ...] [PEER_LIBRARIES ...]
#                [DEMOS ...] [PROGRAMS ...] [DEVICE_LINK ...] [NEEDS_HOPPER [BUT_NOT_EXERCISES 1 2]])
#
# VERSIONS: .cu files without suffix, built for the chosen architectures. HOPPER: files that need compute capability 9.0
# or later, built for those of them. HOPPER_ONLY: files with instructions that no other GPU has (wgmma, setmaxnreg),
# built for 90a if 9.0 is chosen; their rows say needs.no_later. The CPU backend leaves out peers, which are numbered
# from 90 on, and those of HOPPER that it cannot rewrite; their rows say so. COMPARED: versions that the
# exercises are compared with. PEER_LIBRARIES: targets that the peers need; without one of them the peers are left out.
# DEMOS: see course_demos(). PROGRAMS: .cu files without suffix that use the versions, each a program with a main() of
# its own; what they must show is up to the chapter's tests. DEVICE_LINK: those of all these files, and of exercises,
# whose kernels launch kernels: names without folder and suffix; the CPU backend needs no such word. NEEDS_HOPPER: demos
# and exercises need 9.0, too, but for the exercises BUT_NOT_EXERCISES; without such an architecture they are left out.
# Makes the targets
#   NAME            the chapter's program
#   NAME_test       its tests, if GoogleTest is there and tests/NAME_test.cpp exists, with tests/NAME_*_test.cpp
#   NAME_exercise_K for each my/K_*.cu
#   NAME_demo_D     for each D of DEMOS; CPU backend: not part of `all`, but of `demos`
#   NAME_P          for each P of PROGRAMS
#   NAME_mutant_M   CPU backend: for each M of tests/mutants/NN.json, a program with that one version, broken; not part
#                   of `all`, but of `mutants`
function(course_chapter)
  cmake_parse_arguments(PARSE_ARGV 0 ARG "NEEDS_HOPPER" "NAME"
    "VERSIONS;HOPPER;HOPPER_ONLY;COMPARED;PEER_LIBRARIES;DEMOS;PROGRAMS;DEVICE_LINK;BUT_NOT_EXERCISES")
  set(COURSE_DEVICE_LINK ${ARG_DEVICE_LINK})
  set(all_architectures "${CMAKE_CUDA_ARCHITECTURES}")  # of VERSIONS
  if(ARG_NEEDS_HOPPER AND COURSE_BACKEND STREQUAL "cuda")
    if(ARG_HOPPER_ONLY AND COURSE_HOPPER_ARCHITECTURES MATCHES "(^|;)90")
      set(CMAKE_CUDA_ARCHITECTURES 90a-real)  # exercises and programs, too, have what no later GPU has
    elseif(COURSE_HOPPER_ARCHITECTURES)
      set(CMAKE_CUDA_ARCHITECTURES "${COURSE_HOPPER_ARCHITECTURES}")
    else()
      set(ARG_DEMOS "")
      set(ARG_PROGRAMS "")
      set(COURSE_ONLY_EXERCISES "0;${ARG_BUT_NOT_EXERCISES}")
    endif()
  endif()
  course_check_device_link(${ARG_NAME})
  set(folder "${CMAKE_CURRENT_SOURCE_DIR}")
  set(listed ${ARG_VERSIONS} ${ARG_HOPPER} ${ARG_HOPPER_ONLY})
  if(COURSE_BACKEND STREQUAL "cpu")
    list(FILTER ARG_VERSIONS EXCLUDE REGEX "(^|/)9[0-9]_")
    course_rewritable(ARG_HOPPER)
    course_rewritable(ARG_HOPPER_ONLY)
    set(ARG_PEER_LIBRARIES "")
  endif()
  foreach(library ${ARG_PEER_LIBRARIES})
    find_package(CUDAToolkit QUIET)
    if(NOT TARGET ${library})
      message(STATUS "${ARG_NAME}: ${library} is not installed; its rows are left out")
      list(FILTER ARG_VERSIONS EXCLUDE REGEX "(^|/)9[0-9]_")
      set(ARG_PEER_LIBRARIES "")
    endif()
  endforeach()
  course_objects(objects ${ARG_NAME} "${all_architectures}" ${ARG_VERSIONS})
  if(COURSE_HOPPER_ARCHITECTURES OR COURSE_BACKEND STREQUAL "cpu")
    course_objects(objects ${ARG_NAME} "${COURSE_HOPPER_ARCHITECTURES}" ${ARG_HOPPER})
  endif()
  if(COURSE_HOPPER_ARCHITECTURES MATCHES "(^|;)90" OR COURSE_BACKEND STREQUAL "cpu")
    course_objects(objects ${ARG_NAME} 90a-real ${ARG_HOPPER_ONLY})
  endif()

  if(ARG_PROGRAMS)  # for the types and declarations of launchers; versions, above, see nothing of common/
    include_directories("${COURSE_ROOT}/common")
  endif()
  foreach(program ${ARG_PROGRAMS})
    course_program(${ARG_NAME}_${program} "${program}.cu")
    course_add_code(${ARG_NAME}_${program} ${objects})
    target_link_libraries(${ARG_NAME}_${program} PRIVATE ${ARG_PEER_LIBRARIES})
  endforeach()
  add_library(${ARG_NAME}_versions OBJECT versions.cpp)
  target_link_libraries(${ARG_NAME}_versions PUBLIC ${COURSE_LIBRARY})
  target_compile_options(${ARG_NAME}_versions PRIVATE ${COURSE_HOST_OPTIONS})
  list(APPEND objects ${ARG_NAME}_versions)
  add_library(${ARG_NAME}_main OBJECT main.cpp)  # once, for the mutants as well
  target_link_libraries(${ARG_NAME}_main PRIVATE ${COURSE_LIBRARY})
  add_executable(${ARG_NAME})
  course_add_code(${ARG_NAME} ${ARG_NAME}_main ${objects})
  target_link_libraries(${ARG_NAME} PRIVATE ${COURSE_LIBRARY} ${ARG_PEER_LIBRARIES})
  if(COURSE_BACKEND STREQUAL "cpu")
    course_recorded(${ARG_NAME})
    course_mutants(${ARG_NAME})
  endif()

  if(EXISTS "${COURSE_ROOT}/tests/${ARG_NAME}_test.cpp")
    course_chapter_test(${ARG_NAME} "${objects}" "${ARG_PEER_LIBRARIES}")
    if(TARGET ${ARG_NAME}_test)  # for the test that no row is absent
      string(REPLACE ";" "," built "${objects_files}")
      string(REPLACE ";" "," listed "${listed}")
      target_compile_definitions(${ARG_NAME}_test PRIVATE "COURSE_BUILT=\"${built}\"" "COURSE_LISTED=\"${listed}\"")
    endif()
    foreach(program ${ARG_PROGRAMS})  # who builds the tests needs these, too
      if(TARGET ${ARG_NAME}_test)
        add_dependencies(${ARG_NAME}_test ${ARG_NAME}_${program})
      endif()
    endforeach()
  endif()
  course_exercises(${ARG_NAME} ${ARG_COMPARED})
  course_demos(${ARG_NAME} ${ARG_DEMOS})
endfunction()

# course_program_chapter(NAME 24_streams SOURCES main.cpp kernels ... [GPU_ONLY] [COMPARED ...] [DEMOS ...]
#                        [DEVICE_LINK ...])
#
# The second kind of chapter: a program with a main() of its own, for what is more than versions of one kernel: several
# streams, several GPUs, a tour of a library. It calls course::run(), with rows that launch and time what they like, so
# that options, table, checks and result file are those of every chapter. SOURCES: .cpp files, and .cu files without
# suffix. GPU_ONLY: the CPU backend does not build it. Makes NAME, a test that `NAME --check` finds everything right, and
# what course_chapter() makes of exercises and demos.
function(course_program_chapter)
  cmake_parse_arguments(PARSE_ARGV 0 ARG "GPU_ONLY" "NAME" "SOURCES;COMPARED;DEMOS;DEVICE_LINK")
  set(COURSE_DEVICE_LINK ${ARG_DEVICE_LINK})
  course_check_device_link(${ARG_NAME})
  if(ARG_GPU_ONLY AND COURSE_BACKEND STREQUAL "cpu")
    return()
  endif()
  set(host ${ARG_SOURCES})
  list(FILTER host INCLUDE REGEX "[.]cpp$")
  list(FILTER ARG_SOURCES EXCLUDE REGEX "[.]cpp$")
  course_objects(objects ${ARG_NAME} "" ${ARG_SOURCES})
  add_executable(${ARG_NAME} ${host})
  course_add_code(${ARG_NAME} ${objects})
  target_link_libraries(${ARG_NAME} PRIVATE ${COURSE_LIBRARY})
  if(COURSE_BACKEND STREQUAL "cpu")
    course_recorded(${ARG_NAME})
  endif()
  string(REGEX REPLACE "^([0-9][0-9])_.*" "ch\\1" label "${ARG_NAME}")
  add_test(NAME ${label}.check COMMAND ${ARG_NAME} --study all --check)
  set_tests_properties(${label}.check PROPERTIES
    LABELS "${label}.${COURSE_BACKEND}" TIMEOUT 600 SKIP_RETURN_CODE 3)  # 3: no GPU
  course_exercises(${ARG_NAME} ${ARG_COMPARED})
  course_demos(${ARG_NAME} ${ARG_DEMOS})
endfunction()

# course_demos(NAME every_thread_atomic in_place_race:race...): a program NAME_demo_D of each demos/D.cu, and a test that
# it shows what it wants to show. Behind a colon: the kinds of findings that the CPU backend must make, no more and no
# less, with + between them.
function(course_demos name)
  string(SUBSTRING "${name}" 0 2 number)
  foreach(entry ${ARGN})
    string(REGEX MATCH "^([^:]*):?(.*)$" ignored "${entry}")
    set(demo "${CMAKE_MATCH_1}")
    set(findings "")
    if(COURSE_BACKEND STREQUAL "cpu" AND COURSE_CPU_CHECKS)
      set(findings "${CMAKE_MATCH_2}")
    endif()
    set(target ${name}_demo_${demo})
    course_program(${target} "demos/${demo}.cu")
    target_include_directories(${target} PRIVATE "${COURSE_ROOT}/common")  # image/pnm.hpp, which links nothing
    set(label ch${number}.${COURSE_BACKEND})
    if(COURSE_BACKEND STREQUAL "cpu")
      if(NOT TARGET demos)
        add_custom_target(demos)
      endif()
      set_target_properties(${target} PROPERTIES EXCLUDE_FROM_ALL TRUE)
      add_dependencies(demos ${target})
      string(APPEND label .demo)
    endif()
    add_test(NAME ch${number}.demo.${demo}
      COMMAND ${CMAKE_COMMAND} -DPROGRAM=$<TARGET_FILE:${target}> -DFINDINGS=${findings} -P "${COURSE_ROOT}/tests/demo.cmake")
    set_tests_properties(ch${number}.demo.${demo} PROPERTIES
      LABELS ${label} RESOURCE_LOCK gpu TIMEOUT 60 SKIP_REGULAR_EXPRESSION "SKIPPED")
  endforeach()
endfunction()

# Keeps the files (without suffix) of a list that the CPU backend can run.
function(course_rewritable list)
  set(kept "")
  foreach(file ${${list}})
    set(source "${CMAKE_CURRENT_SOURCE_DIR}/${file}.cu")
    execute_process(COMMAND ${SIMT_PYTHON} "${COURSE_ROOT}/common/simt/rewrite.py" "${source}"
      -o "${CMAKE_CURRENT_BINARY_DIR}/tried.cpp" RESULT_VARIABLE failed ERROR_VARIABLE why ERROR_STRIP_TRAILING_WHITESPACE)
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${source}")
    if(failed)
      message(STATUS "${file} is left out: ${why}")
    else()
      list(APPEND kept "${file}")
    endif()
  endforeach()
  set(${list} "${kept}" PARENT_SCOPE)
endfunction()

# Adds the rates in results/, for the column "recorded" of the CPU backend's table.
function(course_recorded name)
  set(results "${CMAKE_CURRENT_SOURCE_DIR}/results/h200.json")
  if(EXISTS "${results}")
    set(output "${CMAKE_CURRENT_BINARY_DIR}/recorded.cpp")
    add_custom_command(OUTPUT "${output}" COMMAND ${COURSE_MODULE} course.recorded "${results}" "${output}"
      DEPENDS "${results}" "${COURSE_ROOT}/common/python/course/recorded.py" VERBATIM)
    target_sources(${name} PRIVATE "${output}")
  endif()
endfunction()

# A program for each mutant, and the test that its catchers see it. They are many: only the target `mutants` builds all.
function(course_mutants name)
  if(NOT TARGET mutants)
    add_custom_target(mutants)
  endif()
  string(SUBSTRING "${name}" 0 2 number)
  set(list "${COURSE_ROOT}/tests/mutants/${number}.json")
  if(NOT EXISTS "${list}" OR NOT COURSE_CPU_CHECKS)
    return()
  endif()
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${list}")
  file(READ "${list}" json)
  string(JSON count LENGTH "${json}" mutants)
  math(EXPR last "${count} - 1")
  foreach(k RANGE ${last})
    string(JSON mutant GET "${json}" mutants ${k} name)
    string(JSON file GET "${json}" mutants ${k} file)
    set(target ${name}_mutant_${mutant})
    set(source "${CMAKE_CURRENT_BINARY_DIR}/mutants/${mutant}/${file}")
    set(module "${COURSE_ROOT}/common/python/course/mutants.py")
    add_custom_command(OUTPUT "${source}" COMMAND ${COURSE_MODULE} course.mutants apply ${number} ${mutant} "${source}"
      DEPENDS "${list}" "${CMAKE_CURRENT_SOURCE_DIR}/${file}" "${module}" VERBATIM)
    course_object_library(${target}_kernel "${source}")
    target_include_directories(${target}_kernel PRIVATE "${CMAKE_CURRENT_SOURCE_DIR}")
    add_executable(${target}
      $<TARGET_OBJECTS:${name}_main> $<TARGET_OBJECTS:${target}_kernel> $<TARGET_OBJECTS:${name}_versions>)
    file(STRINGS "${CMAKE_CURRENT_SOURCE_DIR}/${file}" calls REGEX "^// Calls [A-Za-z0-9_]+\\.cu")  # other versions
    foreach(call IN LISTS calls)
      string(REGEX REPLACE "^// Calls ([A-Za-z0-9_]+)\\.cu.*" "\\1" call "${call}")
      target_sources(${target} PRIVATE $<TARGET_OBJECTS:${name}_${call}>)
    endforeach()
    target_link_libraries(${target} PRIVATE ${COURSE_LIBRARY})
    set_target_properties(${target} ${target}_kernel PROPERTIES EXCLUDE_FROM_ALL TRUE SIMT_LINES_ONLY TRUE)
    add_dependencies(mutants ${target})
    add_test(NAME ch${number}.mutant.${mutant}
      COMMAND ${COURSE_MODULE} course.mutants check ${number} ${mutant} $<TARGET_FILE:${target}>)
    set_tests_properties(ch${number}.mutant.${mutant} PROPERTIES LABELS "ch${number}.cpu.mutant" TIMEOUT 120)
  endforeach()
endfunction()

# Adds tests/NAME_stress.cu to a chapter's tests: with STRESS 0 what needs no version, with 1 and, from compute capability
# 9.0 on, 2 what includes versions: left out where one does not compile.
function(course_stress name)
  set(file "${COURSE_ROOT}/tests/${name}_stress.cu")
  if(NOT EXISTS "${file}")
    return()
  endif()
  set(parts 0)
  if(NOT COURSE_BROKEN)
    list(APPEND parts 1)
    if(COURSE_HOPPER_ARCHITECTURES)
      list(APPEND parts 2)
    endif()
  endif()
  foreach(part ${parts})
    add_library(${name}_stress_${part} OBJECT "${file}")
    target_compile_definitions(${name}_stress_${part} PRIVATE STRESS=${part})
    if(part EQUAL 2)
      set_target_properties(${name}_stress_${part} PROPERTIES CUDA_ARCHITECTURES "${COURSE_HOPPER_ARCHITECTURES}")
    endif()
    target_sources(${name}_test PRIVATE $<TARGET_OBJECTS:${name}_stress_${part}>)
  endforeach()
endfunction()

# The GoogleTest of a chapter: one ctest entry, so one process, for each version of each study; on the CPU backend one in
# each order of threads and blocks.
function(course_chapter_test name objects libraries)
  course_use_googletest(found)
  if(NOT found)
    return()
  endif()
  string(SUBSTRING "${name}" 0 2 number)
  file(GLOB more CONFIGURE_DEPENDS "${COURSE_ROOT}/tests/${name}_*_test.cpp")
  add_executable(${name}_test "${COURSE_ROOT}/tests/${name}_test.cpp" ${more})
  course_add_code(${name}_test ${objects})
  target_link_libraries(${name}_test PRIVATE ${COURSE_LIBRARY} ${libraries} GTest::gtest)
  target_include_directories(${name}_test PRIVATE "${CMAKE_CURRENT_SOURCE_DIR}" "${COURSE_ROOT}/tests")
  target_compile_options(${name}_test PRIVATE ${COURSE_TEST_OPTIONS})
  if(COURSE_BACKEND STREQUAL "cuda")
    course_stress(${name})
    # Tests share the GPU, but those named Special have it for themselves: they fill it, or need it undisturbed.
    gtest_discover_tests(${name}_test DISCOVERY_MODE PRE_TEST DISCOVERY_TIMEOUT 60 TEST_PREFIX "ch${number}."
      TEST_FILTER "-Special.*" PROPERTIES LABELS "ch${number}.cuda" TIMEOUT 600)
    gtest_discover_tests(${name}_test DISCOVERY_MODE PRE_TEST DISCOVERY_TIMEOUT 60 TEST_PREFIX "ch${number}."
      TEST_FILTER "Special.*" PROPERTIES LABELS "ch${number}.cuda" RESOURCE_LOCK gpu TIMEOUT 600)
    return()
  endif()
  # The order is an argument: CMake 3.25 drops an ENVIRONMENT of several variables without a word.
  foreach(order forward reverse random)
    gtest_discover_tests(${name}_test DISCOVERY_MODE PRE_TEST DISCOVERY_TIMEOUT 60 TEST_PREFIX "ch${number}.${order}."
      EXTRA_ARGS --order=${order} PROPERTIES LABELS "ch${number}.cpu.${order}" TIMEOUT 600)
  endforeach()
endfunction()

# An executable of one .cu file, which needs nothing of the course.
function(course_program target file)
  if(COURSE_BACKEND STREQUAL "cuda")
    add_executable(${target} "${file}" ${ARGN})
    course_is_device_linked(linked "${file}")
    set_target_properties(${target} PROPERTIES CUDA_SEPARABLE_COMPILATION ${linked})
  elseif(COURSE_CPU_CHECKS)
    simt_add_executable(${target} "${file}" ${ARGN})
  else()
    simt_add_executable(${target} PLAIN "${file}" ${ARGN})
  endif()
endfunction()

# course_programs(NAME 00_first_steps PROGRAMS 01_hello ... [DEVICE_LINK ...]): single files, an executable each, into
# bin/NAME/.
function(course_programs)
  cmake_parse_arguments(PARSE_ARGV 0 ARG "" "NAME" "PROGRAMS;DEVICE_LINK")
  set(COURSE_DEVICE_LINK ${ARG_DEVICE_LINK})
  course_check_device_link(${ARG_NAME})
  add_custom_target(${ARG_NAME})
  foreach(program ${ARG_PROGRAMS})
    if(program IN_LIST COURSE_BROKEN)
      continue()
    endif()
    course_program(${ARG_NAME}_${program} ${program}.cu)
    set_target_properties(${ARG_NAME}_${program} PROPERTIES
      OUTPUT_NAME ${program} RUNTIME_OUTPUT_DIRECTORY "${CMAKE_BINARY_DIR}/bin/${ARG_NAME}")
    add_dependencies(${ARG_NAME} ${ARG_NAME}_${program})
  endforeach()
endfunction()
