# elfutils: libelf and libdw (Debian: libelf-dev, libdw-dev).
find_path(LIBDW_INCLUDE_DIR elfutils/libdw.h)
find_library(LIBDW_LIBRARY dw)
find_library(LIBELF_LIBRARY elf)
include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(LibDw REQUIRED_VARS LIBDW_LIBRARY LIBELF_LIBRARY LIBDW_INCLUDE_DIR)
if(LibDw_FOUND AND NOT TARGET LibDw::LibDw)
	add_library(LibDw::LibElf UNKNOWN IMPORTED)
	set_target_properties(LibDw::LibElf PROPERTIES IMPORTED_LOCATION "${LIBELF_LIBRARY}")
	add_library(LibDw::LibDw UNKNOWN IMPORTED)
	set_target_properties(LibDw::LibDw PROPERTIES
		IMPORTED_LOCATION "${LIBDW_LIBRARY}" INTERFACE_INCLUDE_DIRECTORIES "${LIBDW_INCLUDE_DIR}"
		INTERFACE_LINK_LIBRARIES LibDw::LibElf)
endif()
