#ifndef RK_DETECT_H
#define RK_DETECT_H

#include "ops.h"

/* rk_ops_of returns the kernels of a path that rk_path has returned. */
const rk_ops *rk_ops_of(int path);

#endif
