/* SPDX-License-Identifier: MIT */
/* Binary search in a sorted array. */
#ifndef PTC_BASE_SORTED_H
#define PTC_BASE_SORTED_H

#include <stddef.h>

/*
 * Returns the first index in [@begin, @end) for which the condition @before is false. Returns @end
 * if @before is true for all elements, and @begin if @begin is not below @end. C++ has the same
 * function: std::partition_point.
 *
 * @i: a name. The macro declares it as a const size_t, the index of an element, for use in @before.
 * The caller must not have a variable of this name.
 * @before: an expression without side effects. The elements must be sorted for it: it is true for
 * the elements in front of some index, and false for all others. If the elements are not sorted,
 * the result is any index from @begin to @end.
 *
 * With keys in ascending order, these conditions give the two usual bounds:
 *   a[i].key < key    lower bound: first element with this key or a higher one
 *   a[i].key <= key   upper bound: first element with a higher key; one less is the last element
 *                     with this key or a lower one
 *
 * Time: @before is evaluated at most log2(@end - @begin) + 1 times, and only for indexes in the
 * range. A macro, because each array has keys of its own type, and because hot lookups must not
 * call a comparison through a pointer.
 */
#define PTC_PARTITION_POINT(i, begin, end, before)                                                 \
	__extension__({                                                                            \
		size_t lo_ = (begin), hi_ = (end);                                                 \
                                                                                                   \
		while (lo_ < hi_) {                                                                \
			const size_t i = lo_ + (hi_ - lo_) / 2;                                    \
                                                                                                   \
			if (before)                                                                \
				lo_ = (i) + 1;                                                     \
			else                                                                       \
				hi_ = i;                                                           \
		}                                                                                  \
		lo_;                                                                               \
	})

#endif
