// SPDX-License-Identifier: MIT
// A node addon that reads through a null pointer.
#include <node_api.h>
#include <stddef.h>

static inline int length(const volatile int *list)
{
	return list[1];
}

static napi_value reads(napi_env env, napi_callback_info info)
{
	napi_value value = NULL;
	size_t n = 0;

	napi_get_cb_info(env, info, &n, NULL, NULL, NULL);
	napi_create_int32(env, length(n > 7 ? (int *)&n : NULL), &value);
	return value;
}

NAPI_MODULE_INIT()
{
	napi_value function = NULL;

	napi_create_function(env, "reads", NAPI_AUTO_LENGTH, reads, NULL, &function);
	napi_set_named_property(env, exports, "reads", function);
	return exports;
}
