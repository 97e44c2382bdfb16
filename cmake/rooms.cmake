# A room is a folder of runtime/ (see docs/architecture.md). Its headers are included as <room/header.h>.
#
# millrace_room(NAME MAY_USE room...) makes the object library mr_NAME from every .cpp and .S file of runtime/NAME.
# Direction of dependencies is enforced by the include path: a room sees a folder of links to itself and to the rooms
# that it may use, and to nothing else, so an include against the direction does not compile.
function(millrace_room name)
  cmake_parse_arguments(ROOM "" "" "MAY_USE" ${ARGN})
  file(GLOB sources CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/runtime/${name}/*.cpp ${CMAKE_SOURCE_DIR}/runtime/${name}/*.S)
  millrace_view(${name} ${ROOM_MAY_USE})
  if(NOT sources)
    return()
  endif()
  add_library(mr_${name} OBJECT ${sources})
  target_include_directories(mr_${name} PRIVATE ${CMAKE_BINARY_DIR}/rooms/${name} ${CMAKE_SOURCE_DIR}/include)
  target_link_libraries(mr_${name} PRIVATE mr_options mr_lto)
  set_property(GLOBAL APPEND PROPERTY MILLRACE_ROOMS mr_${name})
endfunction()

# The folder that shows a room itself and what it may use.
function(millrace_view name)
  set(view ${CMAKE_BINARY_DIR}/rooms/${name})
  file(MAKE_DIRECTORY ${view})
  file(GLOB seen RELATIVE ${view} ${view}/*)
  foreach(link ${seen})
    if(NOT link STREQUAL name AND NOT link IN_LIST ARGN)
      file(REMOVE ${view}/${link})
    endif()
  endforeach()
  foreach(visible ${name} ${ARGN})
    file(CREATE_LINK ${CMAKE_SOURCE_DIR}/runtime/${visible} ${view}/${visible} SYMBOLIC)
  endforeach()
endfunction()
