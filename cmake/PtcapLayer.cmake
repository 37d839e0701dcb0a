# ptcap_layer(NAME SEES layers... SOURCES files...)
#
# Makes the target ptc_NAME from the folder NAME. The target sees only the public headers, its own folder and the
# layers after SEES. Each layer has an include root of its own, which holds one link: to the layer's folder. So an include
# of "decode/run.h" in capture/ does not compile. tests/checks/layers.py also reads the #include lines.
function(ptcap_layer_include NAME OUT)
	set(root "${PROJECT_BINARY_DIR}/layers/${NAME}")
	file(MAKE_DIRECTORY "${root}")
	file(CREATE_LINK "${PROJECT_SOURCE_DIR}/${NAME}" "${root}/${NAME}" SYMBOLIC)
	set(${OUT} "${root}" PARENT_SCOPE)
endfunction()

function(ptcap_layer NAME)
	cmake_parse_arguments(L "" "" "SEES;SOURCES;LIBS" ${ARGN})
	add_library(ptc_${NAME} OBJECT ${L_SOURCES})
	target_link_libraries(ptc_${NAME} PRIVATE ptcap_flags ${L_LIBS})
	target_include_directories(ptc_${NAME} PRIVATE "${PROJECT_SOURCE_DIR}/include")
	foreach(layer IN LISTS L_SEES)
		ptcap_layer_include(${layer} root)
		target_include_directories(ptc_${NAME} PRIVATE "${root}")
	endforeach()
	ptcap_layer_include(${NAME} root)
	target_include_directories(ptc_${NAME} PRIVATE "${root}")
endfunction()

# Gives tests, benchmarks and the command line the headers of every layer.
function(ptcap_sees_all TARGET)
	target_link_libraries(${TARGET} PRIVATE ptcap_flags ptcap_static)
	target_include_directories(${TARGET} PRIVATE "${PROJECT_SOURCE_DIR}/include")
	foreach(layer base arch auxtrace capture decode)
		ptcap_layer_include(${layer} root)
		target_include_directories(${TARGET} PRIVATE "${root}")
	endforeach()
endfunction()
