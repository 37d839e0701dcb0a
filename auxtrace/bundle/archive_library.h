/* SPDX-License-Identifier: MIT */
/*
 * libarchive, loaded when the first bundle is read or written. It brings ten more libraries, which
 * would double the time of each start of ptcap.
 */
#ifndef PTC_AUXTRACE_BUNDLE_ARCHIVE_LIBRARY_H
#define PTC_AUXTRACE_BUNDLE_ARCHIVE_LIBRARY_H

#include <archive.h>
#include <archive_entry.h>

/* clang-format off */
#define PTC_ARCHIVE_FUNCTIONS(X)                                                                   \
	X(archive_entry_filetype) X(archive_entry_free) X(archive_entry_hardlink)                  \
	X(archive_entry_new) X(archive_entry_pathname) X(archive_entry_set_filetype)               \
	X(archive_entry_set_mtime) X(archive_entry_set_pathname) X(archive_entry_set_perm)         \
	X(archive_entry_set_size) X(archive_entry_size) X(archive_entry_size_is_set)               \
	X(archive_entry_sparse_count) X(archive_entry_symlink) X(archive_errno)                    \
	X(archive_error_string) X(archive_filter_bytes) X(archive_read_append_filter)              \
	X(archive_read_data) X(archive_read_data_block) X(archive_read_free) X(archive_read_new)   \
	X(archive_read_next_header) X(archive_read_open) X(archive_read_open_memory)               \
	X(archive_read_support_format_raw) X(archive_read_support_format_tar)                      \
	X(archive_set_error) X(archive_write_add_filter_zstd) X(archive_write_close)               \
	X(archive_write_data) X(archive_write_fail) X(archive_write_free) X(archive_write_header)  \
	X(archive_write_new) X(archive_write_open_fd) X(archive_write_set_bytes_in_last_block)     \
	X(archive_write_set_filter_option) X(archive_write_set_format_pax_restricted)
/* clang-format on */

/* The functions of libarchive, by their names. */
struct ptc_archive_library {
#define PTC_ARCHIVE_MEMBER(name) __typeof__(name) *(name);
	PTC_ARCHIVE_FUNCTIONS(PTC_ARCHIVE_MEMBER)
#undef PTC_ARCHIVE_MEMBER
};

/* Valid after ptc_bundle_load_library (ptcap/bundle.h) has returned 0. */
extern struct ptc_archive_library ptc_la;

#endif
