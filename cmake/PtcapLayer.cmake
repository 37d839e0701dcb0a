# ptcap_layer(NAME SEES layers... SOURCES files... LIBS libraries...)
#
# Makes an object library from the folder NAME: "base", or "decode/stream" for a folder of a layer with several folders.
# The sources see only the public headers, their own folder and the folders after SEES. "auxtrace" after SEES means all
# folders of auxtrace/. Each folder has an include root of its own with one link, to the folder. So
# `#include "decode/stream/psb.h"` in capture/ does not compile. tests/checks/layers.py also reads the #include lines.
function(ptcap_layer_include NAME OUT)
	string(REPLACE / _ root "${NAME}")
	set(root "${PROJECT_BINARY_DIR}/layers/${root}")
	cmake_path(GET NAME PARENT_PATH parent)
	file(MAKE_DIRECTORY "${root}/${parent}")
	file(CREATE_LINK "${PROJECT_SOURCE_DIR}/${NAME}" "${root}/${NAME}" SYMBOLIC)
	set(${OUT} "${root}" PARENT_SCOPE)
endfunction()

function(ptcap_layer NAME)
	cmake_parse_arguments(L "" "" "SEES;SOURCES;LIBS" ${ARGN})
	string(REPLACE / _ target "ptc_${NAME}")
	list(TRANSFORM L_SOURCES PREPEND "${PROJECT_SOURCE_DIR}/${NAME}/")
	add_library(${target} OBJECT ${L_SOURCES})
	target_link_libraries(${target} PRIVATE ptcap_flags ${L_LIBS})
	target_include_directories(${target} PRIVATE "${PROJECT_SOURCE_DIR}/include")
	foreach(layer IN LISTS L_SEES ITEMS ${NAME})
		ptcap_layer_include(${layer} root)
		target_include_directories(${target} PRIVATE "${root}")
	endforeach()
	string(REGEX REPLACE /.* "" top "${NAME}")
	set_property(GLOBAL APPEND PROPERTY ptcap_objects_${top} $<TARGET_OBJECTS:${target}>)
endfunction()

# Sets OUT to the objects of all folders of the layers after OUT.
function(ptcap_layer_objects OUT)
	set(all "")
	foreach(layer IN LISTS ARGN)
		get_property(objects GLOBAL PROPERTY ptcap_objects_${layer})
		list(APPEND all ${objects})
	endforeach()
	set(${OUT} "${all}" PARENT_SCOPE)
endfunction()

# Gives a target the public headers, and the headers of the layers after TARGET.
function(ptcap_sees TARGET)
	target_link_libraries(${TARGET} PRIVATE ptcap_flags ptcap_static)
	target_include_directories(${TARGET} PRIVATE "${PROJECT_SOURCE_DIR}/include")
	foreach(layer IN LISTS ARGN)
		ptcap_layer_include(${layer} root)
		target_include_directories(${TARGET} PRIVATE "${root}")
	endforeach()
endfunction()

# Gives tests and benchmarks the headers of every layer.
function(ptcap_sees_all TARGET)
	ptcap_sees(${TARGET} base arch auxtrace capture decode cli)
endfunction()
