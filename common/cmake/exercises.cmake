# What course.cmake makes of a chapter's exercises: programs of starters, solutions and learners' files, and their tests.
include_guard(GLOBAL)

# A learner's file my/1_name.cu, copied from the starter exercises/1_name.cu, becomes the program NAME_exercise_1:
# exercises/main.cpp and, beside it, the versions that it is compared with.
function(course_exercises name)
  set(compared "")
  foreach(version ${ARGN})
    if(NOT TARGET ${name}_${version})
      return()  # what they are compared with does not compile
    endif()
    list(APPEND compared ${name}_${version})
  endforeach()
  course_submissions(${name} "${compared}")
  file(GLOB starters "${CMAKE_CURRENT_SOURCE_DIR}/exercises/[0-9]_*.cu")
  foreach(file ${starters})
    get_filename_component(stem "${file}" NAME_WE)
    string(SUBSTRING "${stem}" 0 1 number)
    set(mine "${CMAKE_CURRENT_SOURCE_DIR}/my/${stem}.cu")
    if(EXISTS "${mine}")
      course_exercise(${name} exercise ${number} "${mine}" "${compared}")
      set_target_properties(${name}_exercise_${number} PROPERTIES EXCLUDE_FROM_ALL TRUE)
    endif()
    set(solution "${CMAKE_CURRENT_SOURCE_DIR}/exercises/solution/${stem}.cu")
    course_exercise(${name} starter ${number} "${file}" "${compared}")
    if(NOT EXISTS "${solution}")
      continue()  # a teacher's own
    endif()
    course_exercise(${name} solution ${number} "${solution}" "${compared}")
    course_exercise_test(${name} starter ${number} "${CMAKE_CURRENT_SOURCE_DIR}/exercises/${stem}.md")
    course_exercise_test(${name} solution ${number} "")
  endforeach()
  course_refused(${name} "${compared}")
endfunction()

# The answers of tests/exercises/NN.json: a solution with one text replaced, and how the CPU backend must refuse it.
function(course_refused name compared)
  string(SUBSTRING "${name}" 0 2 chapter)
  set(list "${COURSE_ROOT}/tests/exercises/${chapter}.json")
  if(NOT EXISTS "${list}" OR NOT COURSE_BACKEND STREQUAL "cpu" OR NOT COURSE_CPU_CHECKS)
    return()
  endif()
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${list}")
  file(READ "${list}" json)
  string(JSON count LENGTH "${json}")
  math(EXPR last "${count} - 1")
  foreach(k RANGE ${last})
    string(JSON file GET "${json}" ${k} exercise)
    string(JSON kind GET "${json}" ${k} name)
    string(SUBSTRING "${file}" 0 1 number)
    set(solution "${CMAKE_CURRENT_SOURCE_DIR}/exercises/solution/${file}.cu")
    set(changed "${CMAKE_CURRENT_BINARY_DIR}/refused/${kind}/${file}.cu")
    add_custom_command(OUTPUT "${changed}" COMMAND ${COURSE_MODULE} course.refused "${list}" ${kind} "${solution}" "${changed}"
      DEPENDS "${list}" "${solution}" "${COURSE_ROOT}/common/python/course/refused.py" VERBATIM)
    course_exercise(${name} refused_${kind} ${number} "${changed}" "${compared}")
    course_exercise_test(${name} refused_${kind} ${number} "${changed}")
  endforeach()
endfunction()

# What chapters/run --grade stages below build/grade: NAME_submission_1_s001 of NAME_1/s001.cu. A file NAME_1/tests.cpp
# there takes the place of exercises/main.cpp.
function(course_submissions name compared)
  file(GLOB folders "${COURSE_ROOT}/build/grade/${name}_[0-9]")
  foreach(folder ${folders})
    string(REGEX MATCH "[0-9]$" number "${folder}")
    file(GLOB files "${folder}/s*.cu")
    foreach(file ${files})
      get_filename_component(stem "${file}" NAME_WE)
      course_exercise(${name} submission_${stem} ${number} "${file}" "${compared}" "${folder}/tests.cpp")
      set_target_properties(${name}_submission_${stem}_${number} PROPERTIES EXCLUDE_FROM_ALL TRUE)
    endforeach()
  endforeach()
endfunction()

# The test of NAME_KIND_NUMBER. told: a file that may quote, from "NOT YET:" on, what the CPU backend must answer.
function(course_exercise_test name kind number told)
  string(SUBSTRING "${name}" 0 2 chapter)
  if(NOT COURSE_BACKEND STREQUAL "cpu" OR NOT COURSE_CPU_CHECKS)
    set(told "")  # who checks and counts nothing answers something else
  endif()
  if(TARGET ${name}_test)  # who builds the tests needs these, too
    add_dependencies(${name}_test ${name}_${kind}_${number})
  endif()
  set(test ch${chapter}.exercise_${number}.${kind})
  add_test(NAME ${test}
    COMMAND ${CMAKE_COMMAND} -DPROGRAM=$<TARGET_FILE:${name}_${kind}_${number}> -DKIND=${kind} -DTOLD=${told}
            -P "${COURSE_ROOT}/tests/exercise.cmake")
  set_tests_properties(${test} PROPERTIES
    LABELS "ch${chapter}.${COURSE_BACKEND}" TIMEOUT 300 SKIP_REGULAR_EXPRESSION "SKIPPED")
  if(COURSE_BACKEND STREQUAL "cuda")  # it is timed
    set_tests_properties(${test} PROPERTIES RUN_SERIAL TRUE)
  endif()
endfunction()

# The program NAME_KIND_NUMBER of one file; its number is a file of one line. Its tests are exercises/main.cpp, compiled
# once, or a file exercises/NUMBER_*.cpp of its own, or, if it exists, the file named last.
function(course_exercise name kind number file compared)
  set(main ${name}_exercise_main)
  set(tests exercises/main.cpp)
  file(GLOB own "${CMAKE_CURRENT_SOURCE_DIR}/exercises/${number}_*.cpp")
  if(own)
    set(tests ${own})
    set(main ${name}_exercise_main_${number})
  endif()
  if(ARGC GREATER 5 AND EXISTS "${ARGV5}")
    set(tests "${ARGV5}")
    set(main ${name}_graded_main_${number})
  endif()
  if(NOT TARGET ${main})
    add_library(${main} OBJECT ${tests})
    target_include_directories(${main} PRIVATE "${CMAKE_CURRENT_SOURCE_DIR}")
    target_link_libraries(${main} PRIVATE ${COURSE_LIBRARY})
    set_target_properties(${main} PROPERTIES EXCLUDE_FROM_ALL TRUE)
  endif()
  set(numbered "${CMAKE_CURRENT_BINARY_DIR}/exercise_${number}.cpp")
  file(CONFIGURE OUTPUT "${numbered}" CONTENT
    "namespace course {\nextern const int exercise_number = ${number};\n}\n")
  set(target ${name}_${kind}_${number})
  if(COURSE_DEVICE_LINK MATCHES "(^|;)${number}_")  # a file that was handed in has another name
    get_filename_component(stem "${file}" NAME_WE)
    list(APPEND COURSE_DEVICE_LINK ${stem})
  endif()
  course_object_library(${target}_kernel "${file}")
  target_include_directories(${target}_kernel PRIVATE "${CMAKE_CURRENT_SOURCE_DIR}")
  set_target_properties(${target}_kernel PROPERTIES EXCLUDE_FROM_ALL TRUE)
  add_executable(${target} "${numbered}")
  course_add_code(${target} ${main} ${target}_kernel ${compared})
  target_link_libraries(${target} PRIVATE ${COURSE_LIBRARY})
endfunction()
