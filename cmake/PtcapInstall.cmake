# Installs ptcap. An installed prefix can be moved: programs and files find each other by relative paths.
include(CMakePackageConfigHelpers)

set_target_properties(ptcap_shared PROPERTIES EXPORT_NAME ptcap)
set_target_properties(ptcap_static PROPERTIES EXPORT_NAME static)
install(TARGETS ptcap_cli)
install(TARGETS ptcap_shared EXPORT ptcapTargets INCLUDES DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
install(TARGETS ptcap_static EXPORT ptcapStaticTargets INCLUDES DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
install(TARGETS ptcap_emu LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}/ptcap)
install(DIRECTORY include/ptcap DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
install(FILES LICENSE README.md CHANGELOG.md SECURITY.md DESTINATION ${CMAKE_INSTALL_DOCDIR})
install(DIRECTORY examples DESTINATION ${CMAKE_INSTALL_DOCDIR})

# Completion scripts of shells. Distributions have other folders for packages: -DPTCAP_ZSH_DIR=share/zsh/vendor-completions.
set(PTCAP_BASH_DIR "${CMAKE_INSTALL_DATADIR}/bash-completion/completions" CACHE STRING "Folder of bash's completion scripts")
set(PTCAP_ZSH_DIR "${CMAKE_INSTALL_DATADIR}/zsh/site-functions" CACHE STRING "Folder of zsh's completion functions")
install(FILES completion/ptcap.bash DESTINATION ${PTCAP_BASH_DIR} RENAME ptcap)
install(FILES completion/_ptcap DESTINATION ${PTCAP_ZSH_DIR})

# pkg-config
set(pc_folder "${CMAKE_INSTALL_LIBDIR}/pkgconfig")
cmake_path(ABSOLUTE_PATH pc_folder BASE_DIRECTORY "${CMAKE_INSTALL_PREFIX}" OUTPUT_VARIABLE pc_full)
file(RELATIVE_PATH PTCAP_PC_PREFIX "${pc_full}" "${CMAKE_INSTALL_PREFIX}")
file(RELATIVE_PATH PTCAP_PC_LIBDIR "${CMAKE_INSTALL_PREFIX}" "${CMAKE_INSTALL_FULL_LIBDIR}")
file(RELATIVE_PATH PTCAP_PC_INCLUDEDIR "${CMAKE_INSTALL_PREFIX}" "${CMAKE_INSTALL_FULL_INCLUDEDIR}")
configure_file(cmake/ptcap.pc.in ptcap.pc @ONLY)
install(FILES "${PROJECT_BINARY_DIR}/ptcap.pc" DESTINATION ${pc_folder})

# find_package(ptcap). The Find modules find the libraries that ptcap::static needs.
set(cmake_folder "${CMAKE_INSTALL_LIBDIR}/cmake/ptcap")
write_basic_package_version_file(ptcapConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES cmake/ptcapConfig.cmake "${PROJECT_BINARY_DIR}/ptcapConfigVersion.cmake" DESTINATION ${cmake_folder})
install(FILES cmake/FindJansson.cmake cmake/FindLibDw.cmake cmake/FindLibIberty.cmake cmake/FindLibipt.cmake cmake/FindZstd.cmake
	DESTINATION ${cmake_folder}/modules)
foreach(set ptcapTargets ptcapStaticTargets)
	install(EXPORT ${set} NAMESPACE ptcap:: DESTINATION ${cmake_folder})
endforeach()

# Make the man pages from doc/man/*.md.
find_program(Python3_PROGRAM python3)
if(Python3_PROGRAM)
	file(GLOB pages CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/doc/man/*.md")
	set(made "")
	foreach(page IN LISTS pages)
		get_filename_component(name "${page}" NAME_WLE)
		string(REGEX MATCH "[0-9]$" section "${name}")
		set(folder "${PROJECT_BINARY_DIR}/share/man/man${section}")
		file(MAKE_DIRECTORY "${folder}")
		add_custom_command(OUTPUT "${folder}/${name}" DEPENDS "${page}" doc/format.md cmake/man.py
			COMMAND "${Python3_PROGRAM}" -B "${PROJECT_SOURCE_DIR}/cmake/man.py" "${page}" "${PROJECT_VERSION}"
				"${folder}/${name}"
			VERBATIM)
		list(APPEND made "${folder}/${name}")
		install(FILES "${folder}/${name}" DESTINATION "${CMAKE_INSTALL_MANDIR}/man${section}")
	endforeach()
	add_custom_target(ptcap_man ALL DEPENDS ${made})
endif()
