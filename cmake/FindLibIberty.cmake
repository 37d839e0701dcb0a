# libiberty's demangler (Debian: libiberty-dev). libiberty is a static archive, so ptcap does not need it at run time.
find_path(LIBIBERTY_INCLUDE_DIR libiberty/demangle.h)
find_library(LIBIBERTY_LIBRARY iberty)
include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(LibIberty REQUIRED_VARS LIBIBERTY_LIBRARY LIBIBERTY_INCLUDE_DIR)
if(LibIberty_FOUND AND NOT TARGET LibIberty::LibIberty)
	add_library(LibIberty::LibIberty UNKNOWN IMPORTED)
	set_target_properties(LibIberty::LibIberty PROPERTIES
		IMPORTED_LOCATION "${LIBIBERTY_LIBRARY}"
		INTERFACE_INCLUDE_DIRECTORIES "${LIBIBERTY_INCLUDE_DIR}")
endif()
