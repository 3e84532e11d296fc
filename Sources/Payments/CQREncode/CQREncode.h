// SPDX-License-Identifier: Apache-2.0
#ifndef CQRENCODE_H
#define CQRENCODE_H

#include <qrencode.h>

#endif
