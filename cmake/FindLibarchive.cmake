# libarchive (Debian: libarchive-dev). CMake's own FindLibArchive looks for more than is needed.
find_path(LIBARCHIVE_INCLUDE_DIR archive.h)
find_library(LIBARCHIVE_LIBRARY archive)
include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(Libarchive REQUIRED_VARS LIBARCHIVE_LIBRARY LIBARCHIVE_INCLUDE_DIR)
if(Libarchive_FOUND AND NOT TARGET Libarchive::Libarchive)
	add_library(Libarchive::Libarchive UNKNOWN IMPORTED)
	set_target_properties(Libarchive::Libarchive PROPERTIES
		IMPORTED_LOCATION "${LIBARCHIVE_LIBRARY}" INTERFACE_INCLUDE_DIRECTORIES "${LIBARCHIVE_INCLUDE_DIR}")
endif()
