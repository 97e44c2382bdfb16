# Millrace for CMake projects. Two ways:
#
#   1. find_package(Millrace REQUIRED)
#      millrace_add_executable(app app.cu util.cpp)            # or millrace_add_library(name STATIC|SHARED|OBJECT sources...)
#      target_link_libraries(app PRIVATE other)                # a normal target from here on
#
#   2. a project that enables the CUDA language: cmake -DCMAKE_CUDA_COMPILER=<tree>/bin/mrcc
#
# millrace_add_executable(NAME [RDC] [OPTIONS flag...] source...)
# millrace_add_library(NAME [STATIC|SHARED|OBJECT] [RDC] [OPTIONS flag...] source...)
#
#   .cu sources are compiled by mrcc with the target's include folders, definitions and C++ standard (CXX_STANDARD), the
#   OPTIONS, and the flags of the build type; all other sources by the project's own compilers. Needs the language CXX, which
#   links the target. With RDC device code may use other files' device code: of the same target, and of RDC static libraries
#   given to millrace_add_executable or a shared library by DEVICE_LIBRARIES target...
#
# Targets: Millrace::cudart (shared), Millrace::cudart_static. Variables: Millrace_MRCC, Millrace_ROOT_DIR.
cmake_minimum_required(VERSION 3.18)
cmake_policy(PUSH)
if(POLICY CMP0116)
  cmake_policy(SET CMP0116 NEW)  # Ninja takes dependency files with absolute names.
endif()
get_filename_component(Millrace_ROOT_DIR "${CMAKE_CURRENT_LIST_DIR}/../../.." ABSOLUTE)
set(Millrace_MRCC "${Millrace_ROOT_DIR}/bin/mrcc")
if(NOT EXISTS "${Millrace_MRCC}")
  set(Millrace_FOUND FALSE)
  set(Millrace_NOT_FOUND_MESSAGE "The tree around ${CMAKE_CURRENT_LIST_DIR} is incomplete: ${Millrace_MRCC} is missing. Install Millrace again.")
  cmake_policy(POP)
  return()
endif()

include(CMakeFindDependencyMacro)
find_dependency(Threads)
if(NOT TARGET Millrace::cudart)
  add_library(Millrace::cudart SHARED IMPORTED)
  set_target_properties(Millrace::cudart PROPERTIES IMPORTED_LOCATION "${Millrace_ROOT_DIR}/lib/libcudart.so"
    IMPORTED_SONAME libcudart.so.13-millrace INTERFACE_INCLUDE_DIRECTORIES "${Millrace_ROOT_DIR}/include")
  add_library(Millrace::cudart_static STATIC IMPORTED)
  set_target_properties(Millrace::cudart_static PROPERTIES IMPORTED_LOCATION "${Millrace_ROOT_DIR}/lib/libcudart_static.a"
    INTERFACE_INCLUDE_DIRECTORIES "${Millrace_ROOT_DIR}/include" INTERFACE_LINK_LIBRARIES "Threads::Threads;${CMAKE_DL_LIBS};rt")
endif()

# Compiles the .cu files among `sources` for target `name`; sets `objects` and `others` in the caller.
function(_millrace_compile name rdc options objects others)
  set(compiled)
  set(rest)
  # The lists of the target's properties may hold generator expressions, so they are joined at generation time.
  set(includes "$<TARGET_PROPERTY:${name},INCLUDE_DIRECTORIES>")
  set(definitions "$<TARGET_PROPERTY:${name},COMPILE_DEFINITIONS>")
  set(standard "$<TARGET_PROPERTY:${name},CXX_STANDARD>")
  foreach(source ${ARGN})
    if(NOT source MATCHES "\\.cu$")
      list(APPEND rest ${source})
      continue()
    endif()
    get_filename_component(input "${source}" ABSOLUTE)
    string(REGEX REPLACE "[^A-Za-z0-9_.-]" "_" base "${source}")
    set(object "${CMAKE_CURRENT_BINARY_DIR}/CMakeFiles/${name}.mrcc/${base}.o")
    file(MAKE_DIRECTORY "${CMAKE_CURRENT_BINARY_DIR}/CMakeFiles/${name}.mrcc")
    add_custom_command(OUTPUT "${object}"
      COMMAND "${Millrace_MRCC}" "$<$<BOOL:${rdc}>:-rdc=true>" "$<$<BOOL:${standard}>:-std=c++${standard}>"
        "$<$<CONFIG:Debug>:-g>" "$<$<CONFIG:Release>:-O3;-DNDEBUG>" "$<$<CONFIG:RelWithDebInfo>:-O2;-g;-DNDEBUG>"
        "$<$<CONFIG:MinSizeRel>:-O1;-DNDEBUG>"
        "$<$<BOOL:${includes}>:-I$<JOIN:${includes},;-I>>" "$<$<BOOL:${definitions}>:-D$<JOIN:${definitions},;-D>>"
        -Xcompiler=-fPIC ${options} -MD -MQ "${object}" -MF "${object}.d" -c "${input}" -o "${object}"
      DEPENDS "${input}" "${Millrace_MRCC}" DEPFILE "${object}.d" COMMAND_EXPAND_LISTS VERBATIM
      COMMENT "Compiling CUDA for CPUs: ${source}")
    list(APPEND compiled "${object}")
  endforeach()
  set_source_files_properties(${compiled} PROPERTIES EXTERNAL_OBJECT TRUE GENERATED TRUE)
  set(${objects} ${compiled} PARENT_SCOPE)
  set(${others} ${rest} PARENT_SCOPE)
endfunction()

function(_millrace_add kind name)
  cmake_parse_arguments(M "RDC;STATIC;SHARED;OBJECT" "" "OPTIONS;DEVICE_LIBRARIES" ${ARGN})
  set(type)
  foreach(t STATIC SHARED OBJECT)
    if(M_${t})
      set(type ${t})
    endif()
  endforeach()
  _millrace_compile(${name} "${M_RDC}" "${M_OPTIONS}" objects others ${M_UNPARSED_ARGUMENTS})
  if(M_RDC AND NOT type STREQUAL "STATIC" AND NOT type STREQUAL "OBJECT")
    set(link "${CMAKE_CURRENT_BINARY_DIR}/CMakeFiles/${name}.mrcc/device_link.o")
    set(libraries)
    foreach(library ${M_DEVICE_LIBRARIES})
      list(APPEND libraries "$<TARGET_FILE:${library}>")
    endforeach()
    add_custom_command(OUTPUT "${link}" COMMAND "${Millrace_MRCC}" -dlink ${objects} ${libraries} -o "${link}"
      DEPENDS ${objects} ${M_DEVICE_LIBRARIES} VERBATIM COMMENT "Linking device code: ${name}")
    set_source_files_properties("${link}" PROPERTIES EXTERNAL_OBJECT TRUE GENERATED TRUE)
    list(APPEND objects "${link}")
  endif()
  if(kind STREQUAL "executable")
    add_executable(${name} ${others} ${objects})
  else()
    add_library(${name} ${type} ${others} ${objects})
  endif()
  set_target_properties(${name} PROPERTIES LINKER_LANGUAGE CXX)
  if(kind STREQUAL "executable" OR M_SHARED)
    target_link_libraries(${name} PRIVATE ${M_DEVICE_LIBRARIES} Millrace::cudart)
  else()
    target_link_libraries(${name} PUBLIC Millrace::cudart)
  endif()
endfunction()

function(millrace_add_executable name)
  _millrace_add(executable ${name} ${ARGN})
endfunction()

function(millrace_add_library name)
  _millrace_add(library ${name} ${ARGN})
endfunction()

cmake_policy(POP)
