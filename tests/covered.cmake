# scripts/test leaves out tests with the label "covered" under ASan, because other tests run the same code there.
set(e2e_not_sanitized "${e2e_dir}/not_sanitized.txt")
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${e2e_not_sanitized}")
file(STRINGS "${e2e_not_sanitized}" names REGEX "^[a-z]")
foreach(name IN LISTS names)
	if(TEST e2e_${name})
		set_property(TEST e2e_${name} APPEND PROPERTY LABELS covered)
	elseif(NOT PTCAP_SANITIZE) # sanitizer builds lack some tests
		message(SEND_ERROR "tests/e2e/not_sanitized.txt: there is no test e2e_${name}")
	endif()
endforeach()
