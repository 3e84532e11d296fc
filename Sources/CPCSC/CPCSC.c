/* The shims are inline; SwiftPM wants one file to compile. */
#include "CPCSC.h"
