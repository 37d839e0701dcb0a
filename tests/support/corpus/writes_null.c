// SPDX-License-Identifier: MIT
// A Python extension that writes to NULL, in a call from Python code that this extension called.
#define PY_SSIZE_T_CLEAN
#include <Python.h>

static inline void store(volatile int *at)
{
	*at = 7;
}

static PyObject *breaks(PyObject *self, PyObject *args)
{
	(void)self;
	store(PyTuple_Size(args) > 7 ? (int *)args : NULL);
	Py_RETURN_NONE;
}

static PyObject *calls(PyObject *self, PyObject *function)
{
	PyObject *result = PyObject_CallObject(function, NULL);

	(void)self;
	return result ? result : PyErr_NoMemory();
}

static PyMethodDef methods[] = {
	{ "breaks", breaks, METH_VARARGS, NULL },
	{ "calls", calls, METH_O, NULL },
	{ NULL, NULL, 0, NULL },
};

static struct PyModuleDef module = {
	PyModuleDef_HEAD_INIT, "writes_null", NULL, -1, methods, NULL, NULL, NULL, NULL
};

PyMODINIT_FUNC PyInit_writes_null(void)
{
	return PyModule_Create(&module);
}
