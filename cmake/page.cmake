# Makes OUTPUT, a C file, from the page of `ptcap view` in FOLDER: view.html with view.css and SCRIPTS in it. @DATA@ in
# view.html divides the page into two arrays. The page allows only its own style and script, by their SHA-256.
#
# The names of the arrays begin with PREFIX: PREFIX_head, PREFIX_tail, and PREFIX_policy, which is the policy as a text. SERVED: the page may
# ask its own server.
#
# usage: cmake -DFOLDER=... -DSCRIPTS=... -DPREFIX=... -DSERVED=... -DOUTPUT=... -P page.cmake

# Sets OUT to the SHA-256 of TEXT in base64: three hex digits are two characters.
function(page_hash TEXT OUT)
	set(alphabet "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/")
	string(SHA256 hex "${TEXT}")
	set(base64 "")
	foreach(i RANGE 0 60 3)
		string(SUBSTRING "${hex}" ${i} 3 digits)
		math(EXPR high "0x${digits} >> 6")
		math(EXPR low "0x${digits} & 63")
		string(SUBSTRING "${alphabet}" ${high} 1 a)
		string(SUBSTRING "${alphabet}" ${low} 1 b)
		string(APPEND base64 "${a}${b}")
	endforeach()
	string(SUBSTRING "${hex}" 63 1 digits)
	math(EXPR high "0x${digits} << 2")
	string(SUBSTRING "${alphabet}" ${high} 1 a)
	set(${OUT} "${base64}${a}=" PARENT_SCOPE)
endfunction()

# Appends the array NAME with TEXT, and its size, to the variable c.
function(page_array NAME TEXT)
	string(HEX "${TEXT}" hex)
	string(LENGTH "${hex}" size)
	math(EXPR size "${size} / 2")
	string(REGEX REPLACE "(..)" "0x\\1," hex "${hex}")
	string(APPEND c "const unsigned char ${NAME}[] = { ${hex}0 };\nconst size_t ${NAME}_size = ${size};\n")
	set(c "${c}" PARENT_SCOPE)
endfunction()

set(script "")
foreach(name IN LISTS SCRIPTS)
	file(READ "${name}" text)
	string(APPEND script "${text}")
endforeach()
file(READ "${FOLDER}/view.css" style)
file(READ "${FOLDER}/view.html" page)
page_hash("${script}" script_hash)
page_hash("${style}" style_hash)
string(REPLACE "@SCRIPT_HASH@" "${script_hash}" page "${page}")
if(SERVED)
	string(REPLACE "default-src 'none'; " "default-src 'none'; connect-src 'self'; " page "${page}")
endif()
string(REPLACE "@STYLE_HASH@" "${style_hash}" page "${page}")
string(REPLACE "@STYLE@" "${style}" page "${page}")
string(REPLACE "@SCRIPT@" "${script}" page "${page}")
string(REGEX MATCH "Content-Security-Policy\" content=\"([^\"]*)\"" policy "${page}")
set(policy "${CMAKE_MATCH_1}")
string(FIND "${page}" "@DATA@" at)
string(SUBSTRING "${page}" 0 ${at} head)
math(EXPR at "${at} + 6")
string(SUBSTRING "${page}" ${at} -1 tail)

set(c "/* Made by cmake/page.cmake from cli/view/page. */\n#include \"cli/view/page_writer.h\"\n#include \"cli/serve/serve.h\"\n\n")
page_array(${PREFIX}_head "${head}")
page_array(${PREFIX}_tail "${tail}")
if(SERVED)
	# frame-ancestors works only in a header.
	page_array(${PREFIX}_policy "${policy}; frame-ancestors 'none'")
endif()
file(WRITE "${OUTPUT}" "${c}")
