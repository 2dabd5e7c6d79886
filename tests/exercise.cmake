# Runs the program of a starter or a solution: a starter must not pass, a solution must.
execute_process(COMMAND "${PROGRAM}" RESULT_VARIABLE code OUTPUT_VARIABLE out ERROR_VARIABLE err)
message("${out}${err}")
if(code EQUAL 3 AND out MATCHES "RIGHT;")  # on the CPU backend, which has no times to judge by
  if(KIND STREQUAL "starter")
    message("SKIPPED: right, and too slow: only a GPU can tell")
  endif()
elseif(code EQUAL 3)
  string(REGEX MATCH ": ([^\n]*)" ignored "${err}")  # "01_vector_add: no NVIDIA driver found"
  message("SKIPPED: ${CMAKE_MATCH_1}")
elseif(KIND STREQUAL "starter" AND NOT out MATCHES "NOT YET")
  message(FATAL_ERROR "the starter is already solved, or it broke")
elseif(KIND STREQUAL "solution" AND NOT code EQUAL 0)
  message(FATAL_ERROR "the solution does not pass")
endif()
