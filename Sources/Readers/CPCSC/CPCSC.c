// SPDX-License-Identifier: Apache-2.0
/* The shims are inline; SwiftPM wants one file to compile. */
#include "CPCSC.h"
