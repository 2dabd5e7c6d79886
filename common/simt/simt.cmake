# Runs CUDA sources on the CPU. A project of its own needs two lines:
#
#   include(path/to/simt.cmake)
#   simt_add_executable(my_program kernels.cu main.cpp)
#
# Needs CMake 3.21, Python 3.8 and a C++17 compiler; GCC and Clang. See simt_add_library(), simt_rewrite(),
# simt_object_library() and simt_add_executable() for the parts.
include_guard(GLOBAL)
cmake_policy(PUSH)
cmake_policy(VERSION 3.21)  # among others CMP0116: a depfile's paths are relative to the build folder

set(SIMT_SWITCH "" CACHE STRING
  "how to change from one CUDA thread to the next: empty for the fastest, or ucontext")
set_property(CACHE SIMT_SWITCH PROPERTY STRINGS "" ucontext)
set(SIMT_BUILT "" CACHE FILEPATH
  "a libsimt.a that another project has built of the same sources; empty: it is built here")
find_package(Python3 3.8 REQUIRED COMPONENTS Interpreter)
# The interpreter itself, not pyenv's script that looks for it, and without anybody's packages: it starts a thousand times.
execute_process(COMMAND "${Python3_EXECUTABLE}" -S -E -c "import sys; print(sys.executable)"
  OUTPUT_VARIABLE simt_python OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
set(SIMT_PYTHON "${simt_python};-S;-E" CACHE INTERNAL "runs rewrite.py")

# Makes, once, the targets
#   simt                     the engine and the CUDA API, a static library; never instrumented
#   simt_flags_instrumented  how to compile rewritten sources whose accesses are checked and counted; with the property
#                            SIMT_LINES_ONLY a target has lines for the checkers, no variables for a debugger: a third faster
#   simt_flags_plain         how to compile rewritten sources that are to be fast
# The flags are for objects alone: what links them needs the library simt and no -fsanitize.
function(simt_add_library)
  if(TARGET simt)
    return()
  endif()
  set(here "${CMAKE_CURRENT_FUNCTION_LIST_DIR}")
  if(NOT SIMT_SWITCH MATCHES "^(ucontext)?$")
    message(FATAL_ERROR "SIMT_SWITCH is '${SIMT_SWITCH}': it can be empty or ucontext")
  endif()
  find_package(Threads REQUIRED)

  if(SIMT_BUILT)
    add_library(simt STATIC IMPORTED GLOBAL)
    set_target_properties(simt PROPERTIES IMPORTED_LOCATION "${SIMT_BUILT}")
    target_compile_features(simt INTERFACE cxx_std_17)
    target_include_directories(simt INTERFACE "${here}/include" "${here}")
    target_link_libraries(simt INTERFACE ${CMAKE_THREAD_LIBS_INIT} ${CMAKE_DL_LIBS})
    simt_add_flags()
    return()
  endif()

  set(sources "")
  foreach(name engine grid dynamic worker memory async check check_address early_loads order findings count count_table
      trace trace_file hooks source_line host host_memory host_pools host_streams host_kernels device_functions
      device_heap tensor)
    if(EXISTS "${here}/${name}.cpp")
      list(APPEND sources "${here}/${name}.cpp")
    endif()
  endforeach()
  add_library(simt STATIC ${sources})
  target_compile_features(simt PUBLIC cxx_std_17)
  target_compile_options(simt PRIVATE -O2 -fno-sanitize=all)  # no -g: every program would link that, too
  target_include_directories(simt BEFORE PUBLIC "${here}/include" "${here}")
  target_link_libraries(simt PUBLIC ${CMAKE_THREAD_LIBS_INIT} ${CMAKE_DL_LIBS})
  if(SIMT_SWITCH STREQUAL "ucontext")
    target_compile_definitions(simt PRIVATE SIMT_SWITCH_UCONTEXT)
  endif()

  simt_add_flags()
endfunction()

# The targets simt_flags_* of simt_add_library().
function(simt_add_flags)
  # Sibling calls would hide the caller's line from the engine.
  add_library(simt_flags_plain INTERFACE)
  target_compile_options(simt_flags_plain INTERFACE
    -O2 -g -fno-optimize-sibling-calls -fno-strict-aliasing -Wno-unknown-pragmas)
  add_library(simt_flags_instrumented INTERFACE)
  target_compile_definitions(simt_flags_instrumented INTERFACE SIMT_INSTRUMENTED=1)
  target_compile_options(simt_flags_instrumented INTERFACE
    -O1 -gdwarf-4 $<IF:$<BOOL:$<TARGET_PROPERTY:SIMT_LINES_ONLY>>,-g1,-g> -fno-optimize-sibling-calls
    -fno-strict-aliasing -UNDEBUG -Wno-unknown-pragmas
    -fsanitize=thread -fsanitize=return -fsanitize=shift-exponent -fsanitize=float-cast-overflow
    -U_FORTIFY_SOURCE)  # Ubuntu's g++ defines it, and libc's own inline memset() beside ours would be a second one
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    target_compile_options(simt_flags_instrumented INTERFACE
      -fno-reorder-blocks -fno-reorder-blocks-and-partition -fno-guess-branch-probability -fno-thread-jumps
      -finline-small-functions
      "SHELL:--param tsan-instrument-func-entry-exit=1" "SHELL:--param tsan-distinguish-volatile=1"
      -fsanitize-coverage=trace-pc)
  elseif(CMAKE_CXX_COMPILER_ID MATCHES "Clang")
    target_compile_options(simt_flags_instrumented INTERFACE
      -fno-vectorize -fno-slp-vectorize -fno-unroll-loops -fno-finite-loops -fno-builtin-memset -fno-builtin-memcpy
      "SHELL:-mllvm -tsan-distinguish-volatile" "SHELL:-mllvm -tsan-instrument-read-before-write"
      "SHELL:-mllvm -enable-tail-merge=false"
      -fsanitize-coverage=trace-pc,bb,no-prune)
  else()
    message(FATAL_ERROR "CUDA on the CPU needs GCC or Clang, not ${CMAKE_CXX_COMPILER_ID}")
  endif()
  foreach(flags simt_flags_plain simt_flags_instrumented)
    target_compile_features(${flags} INTERFACE cxx_std_17)
    target_include_directories(${flags} BEFORE INTERFACE "${here}/include" "${here}")
  endforeach()
endfunction()

# What every rewritten source includes first, compiled once for all instrumented ones: the target simt_precompiled.
function(simt_precompile)
  if(NOT TARGET simt_precompiled)
    file(CONFIGURE OUTPUT "${CMAKE_BINARY_DIR}/simt_precompiled.cpp" CONTENT "")
    file(CONFIGURE OUTPUT "${CMAKE_BINARY_DIR}/simt_rewritten.hpp" CONTENT "#define SIMT_REWRITTEN\n#include <cuda_runtime.h>\n")
    add_library(simt_precompiled OBJECT "${CMAKE_BINARY_DIR}/simt_precompiled.cpp")
    target_link_libraries(simt_precompiled PRIVATE simt_flags_instrumented)
    target_precompile_headers(simt_precompiled PRIVATE "${CMAKE_BINARY_DIR}/simt_rewritten.hpp")
  endif()
endfunction()

# simt_rewrite(OUT [FOR NAME] [INCLUDES FOLDERS...] FILES a.cu b.cu...)
#
# Sets OUT to the C++ files that .cu files are rewritten to when the project is built. INCLUDES: where their own headers
# are looked for. FOR: a folder's name of its own for these files, if two targets rewrite the same source.
function(simt_rewrite out)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "FOR" "INCLUDES;FILES")
  set(script "${CMAKE_CURRENT_FUNCTION_LIST_DIR}/rewrite.py")
  set(outputs "")
  foreach(file ${arg_FILES})
    get_filename_component(source "${file}" ABSOLUTE)
    get_filename_component(name "${file}" NAME)
    string(MD5 key "${source}")
    string(SUBSTRING "${key}" 0 8 key)
    if(arg_FOR)
      string(MAKE_C_IDENTIFIER "${arg_FOR}" for)
      string(PREPEND key "${for}/")
    endif()
    set(output "${CMAKE_CURRENT_BINARY_DIR}/simt/${key}/${name}.cpp")
    list(APPEND outputs "${output}")
    get_source_file_property(known "${output}" GENERATED)
    if(NOT known)
      add_custom_command(OUTPUT "${output}" DEPFILE "${output}.d" VERBATIM COMMAND_EXPAND_LISTS
        COMMAND ${SIMT_PYTHON} "${script}" "${source}" -o "${output}" --depfile "${output}.d"
          "$<$<BOOL:${arg_INCLUDES}>:-I$<JOIN:${arg_INCLUDES},;-I>>"
        DEPENDS "${source}" "${script}" "${CMAKE_CURRENT_FUNCTION_LIST_DIR}/strict.py"
          "${CMAKE_CURRENT_FUNCTION_LIST_DIR}/structures.py" COMMENT "Rewriting ${name}")
    endif()
  endforeach()
  set(${out} "${outputs}" PARENT_SCOPE)
endfunction()

# simt_object_library(TARGET file.cu [PLAIN])
#
# An OBJECT library of one .cu file, rewritten; instrumented, unless PLAIN. Link simt to what uses its objects.
function(simt_object_library target file)
  cmake_parse_arguments(PARSE_ARGV 2 arg "PLAIN" "" "")
  simt_add_library()
  get_filename_component(source "${file}" ABSOLUTE)
  get_filename_component(folder "${source}" DIRECTORY)
  simt_rewrite(rewritten FOR "${target}" INCLUDES "$<TARGET_PROPERTY:${target},INCLUDE_DIRECTORIES>" FILES "${source}")
  add_library(${target} OBJECT ${rewritten})
  target_link_libraries(${target} PRIVATE $<IF:$<BOOL:${arg_PLAIN}>,simt_flags_plain,simt_flags_instrumented>)
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND NOT arg_PLAIN)  # Clang wants the same definitions, too
    simt_precompile()
    target_precompile_headers(${target} REUSE_FROM simt_precompiled)
  endif()
  get_target_property(includes simt INTERFACE_INCLUDE_DIRECTORIES)
  target_include_directories(${target} BEFORE PRIVATE ${includes})
  target_compile_options(${target} PRIVATE "-iquote${folder}")
endfunction()

# simt_add_executable(TARGET [PLAIN] sources...)
#
# A program of .cu files, rewritten, and C++ files. Include folders and definitions of TARGET hold for all of them; what
# its property SIMT_OPTIONS has, for the .cu files.
function(simt_add_executable target)
  cmake_parse_arguments(PARSE_ARGV 1 arg "PLAIN" "" "")
  simt_add_library()
  set(sources ${arg_UNPARSED_ARGUMENTS})
  set(kernels ${sources})
  list(FILTER kernels INCLUDE REGEX "\\.cu$")
  list(FILTER sources EXCLUDE REGEX "\\.cu$")
  set(plain "")
  if(arg_PLAIN)
    set(plain PLAIN)
  endif()
  foreach(file ${kernels})
    get_filename_component(source "${file}" ABSOLUTE)
    get_filename_component(stem "${file}" NAME_WE)
    string(MD5 key "${source}")
    string(SUBSTRING "${key}" 0 8 key)
    set(objects "${target}_${stem}_${key}")
    simt_object_library(${objects} "${source}" ${plain})
    target_include_directories(${objects} PRIVATE $<TARGET_PROPERTY:${target},INCLUDE_DIRECTORIES>)
    target_compile_definitions(${objects} PRIVATE $<TARGET_PROPERTY:${target},COMPILE_DEFINITIONS>)
    target_compile_options(${objects} PRIVATE $<TARGET_PROPERTY:${target},SIMT_OPTIONS>)
    list(APPEND sources $<TARGET_OBJECTS:${objects}>)
  endforeach()
  add_executable(${target} ${sources})
  target_link_libraries(${target} PRIVATE simt)
endfunction()

cmake_policy(POP)
