// SPDX-License-Identifier: Apache-2.0
/* PC/SC (pcsc-lite) for Swift: the system's headers, and what their macros hide from the importer. */
#ifndef CPCSC_H
#define CPCSC_H

#include <PCSC/winscard.h>
#include <PCSC/reader.h>

/* Casts and shift expressions are not imported as macros. */
enum { cpcsc_max_buffer_size_extended = MAX_BUFFER_SIZE_EXTENDED };

/* Passes bytes on to the reader itself: libccid's IOCTL_SMARTCARD_VENDOR_IFD_EXCHANGE. */
enum { cpcsc_escape = SCARD_CTL_CODE(1) };

/* The version of a device, as its driver tells it. */
enum { cpcsc_version = SCARD_ATTR_VENDOR_IFD_VERSION };

/* The PCI that SCardTransmit demands for the protocol in use: same content as SCARD_PCI_T0 and SCARD_PCI_T1. */
static inline SCARD_IO_REQUEST cpcsc_pci(DWORD protocol) {
    SCARD_IO_REQUEST request = { protocol, sizeof(SCARD_IO_REQUEST) };
    return request;
}

/* LONG is 64 bits wide on 64-bit machines and 32 on others, where codes would be negative: one form for both. */
static inline unsigned int cpcsc_code(LONG result) { return (unsigned int)result; }

/* Wipes memory that held card data; the compiler may not leave it out. */
static inline void cpcsc_wipe(void *bytes, unsigned long count) {
    volatile unsigned char *cursor = (volatile unsigned char *)bytes;
    while (count--) { *cursor++ = 0; }
}

#endif
