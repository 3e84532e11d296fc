// SPDX-License-Identifier: Apache-2.0
/* The function is libFuzzer's; SwiftPM wants one file to compile. */
#include "CFuzz.h"
