/* SPDX-License-Identifier: MIT */
#include "base/folder_out.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/err.h"
#include "base/replace.h"
#include "base/temp_name.h"

static int create_temp_folder(struct ptc_folder_out *o, struct ptc_err *err)
{
	ptc_hidden_sweep(o->path);
	o->lock = ptc_hidden_folder(o->path, &o->tmp);
	if (o->lock < 0)
		return ptc_fail_sys(err, errno, "cannot create a temporary folder for '%s'",
				    o->path);
	if (asprintf(&o->data, "%s/data", o->tmp) < 0) {
		o->data = NULL;
		return ptc_fail_mem(err);
	}
	return 0;
}

int ptc_folder_out_open(struct ptc_folder_out *o, const char *path, struct ptc_err *err)
{
	int rc;

	*o = (struct ptc_folder_out)PTC_FOLDER_OUT_INIT;
	rc = ptc_replace_name(path, &o->path, err);
	if (!rc)
		rc = ptc_replace_check_folder(o->path, err);
	if (!rc)
		rc = create_temp_folder(o, err);
	if (rc)
		ptc_folder_out_release(o);
	return rc;
}

int ptc_folder_out_commit(struct ptc_folder_out *o, struct ptc_err *err)
{
	int rc = 0;

	if (ptc_replace(o->tmp, o->path)) {
		rc = ptc_fail_sys(err, errno, "cannot rename the temporary folder to '%s'",
				  o->path);
	} else {
		free(o->tmp);
		o->tmp = NULL;
	}
	ptc_folder_out_release(o);
	return rc;
}

void ptc_folder_out_release(struct ptc_folder_out *o)
{
	if (o->tmp)
		(void)ptc_replace_remove(o->tmp);
	if (o->lock >= 0)
		(void)close(o->lock);
	free(o->tmp);
	free(o->data);
	free(o->path);
	*o = (struct ptc_folder_out)PTC_FOLDER_OUT_INIT;
}
