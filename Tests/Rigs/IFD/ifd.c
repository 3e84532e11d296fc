// SPDX-License-Identifier: Apache-2.0
/* A reader driver for pcscd (IFD handler 3.0) without a reader: whatever pcscd wants goes to whoever listens on a Unix socket,
   which plays hardware and cards and decides what each call returns.

   reader.conf.d names the socket:   DEVICENAME /dev/null:PATH

   For each slot two connections, each beginning with the slot's number and a kind, to which one byte comes back: how many slots
   the reader has. Kind 0 is for calls, kind 1 for events: whoever listens sends a byte whenever a card has come or gone.

   A call is a frame of two bytes of length, big-endian, one byte that says what it is, and its data:

     'u' power up   'r' reset   'd' power down   'p' is a card there   't' transmit: C-APDU   'c' control: code, four bytes
     big-endian, and data

   What comes back is two bytes of length, two bytes with the handler's response code (IFD_SUCCESS 0 …), and data: ATR, R-APDU, or
   what the control answers. A connection that has ended is a reader that is gone. */
#define _GNU_SOURCE
#include <PCSC/ifdhandler.h>
#include <PCSC/reader.h>
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

enum { READERS = 16, SLOTS = 8, LONGEST = 65535 };

struct slot {
    int calls, events, stop;
    unsigned char slots;
    unsigned char atr[MAX_ATR_SIZE];
    size_t atr_length;
    pthread_mutex_t lock;
};

static struct slot all[READERS][SLOTS];

__attribute__((constructor)) static void begin(void) {
    for (int reader = 0; reader < READERS; reader++) {
        for (int number = 0; number < SLOTS; number++) {
            struct slot *slot = &all[reader][number];
            slot->calls = slot->events = slot->stop = -1;
            pthread_mutex_init(&slot->lock, NULL);
        }
    }
}

static struct slot *find(DWORD lun) { return &all[(lun >> 16) % READERS][(lun & 0xFFFF) % SLOTS]; }

static int send_all(int socket, const unsigned char *bytes, size_t count) {
    while (count > 0) {
        ssize_t sent = send(socket, bytes, count, MSG_NOSIGNAL);
        if (sent < 0 && errno == EINTR) { continue; }
        if (sent <= 0) { return 0; }
        bytes += sent;
        count -= (size_t)sent;
    }
    return 1;
}

static int receive_all(int socket, unsigned char *bytes, size_t count) {
    while (count > 0) {
        ssize_t got = recv(socket, bytes, count, 0);
        if (got < 0 && errno == EINTR) { continue; }
        if (got <= 0) { return 0; }
        bytes += got;
        count -= (size_t)got;
    }
    return 1;
}

static int connect_to(const char *path, unsigned char number, unsigned char kind, unsigned char *slots) {
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    if (strlen(path) >= sizeof address.sun_path) { return -1; }
    strcpy(address.sun_path, path);
    int made = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (made < 0) { return -1; }
    unsigned char hello[2] = {number, kind};
    if (connect(made, (struct sockaddr *)&address, sizeof address) != 0 || !send_all(made, hello, 2) ||
        !receive_all(made, slots, 1)) {
        close(made);
        return -1;
    }
    return made;
}

/* What a call returns; up to *count bytes of data, and how many they were. */
static RESPONSECODE call(
    struct slot *slot, char kind, const unsigned char *data, size_t length, unsigned char *answer, DWORD *count) {
    size_t room = answer == NULL ? 0 : *count;
    if (count != NULL) { *count = 0; }
    if (length >= LONGEST) { return IFD_COMMUNICATION_ERROR; }
    unsigned char *frame = malloc(LONGEST + 2);
    if (frame == NULL) { return IFD_COMMUNICATION_ERROR; }
    pthread_mutex_lock(&slot->lock);
    RESPONSECODE code = IFD_NO_SUCH_DEVICE;
    frame[0] = (unsigned char)((length + 1) >> 8);
    frame[1] = (unsigned char)(length + 1);
    frame[2] = (unsigned char)kind;
    if (length > 0) { memcpy(frame + 3, data, length); }
    if (slot->calls >= 0 && send_all(slot->calls, frame, length + 3) && receive_all(slot->calls, frame, 2)) {
        size_t got = (size_t)frame[0] << 8 | frame[1];
        if (got >= 2 && receive_all(slot->calls, frame, got)) {
            code = (RESPONSECODE)frame[0] << 8 | frame[1];
            got -= 2;
            if (code == IFD_SUCCESS && got > room) { code = IFD_ERROR_INSUFFICIENT_BUFFER; }
            if (code == IFD_SUCCESS && answer != NULL && count != NULL) {
                memcpy(answer, frame + 2, got);
                *count = got;
            }
        }
    }
    pthread_mutex_unlock(&slot->lock);
    free(frame);
    return code;
}

RESPONSECODE IFDHCreateChannelByName(DWORD lun, LPSTR device) {
    struct slot *slot = find(lun);
    const char *path = strchr(device, ':');
    if (path == NULL) { return IFD_NO_SUCH_DEVICE; }
    slot->calls = connect_to(path + 1, (unsigned char)(lun & 0xFFFF), 0, &slot->slots);
    slot->events = connect_to(path + 1, (unsigned char)(lun & 0xFFFF), 1, &slot->slots);
    slot->stop = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    slot->atr_length = 0;
    return slot->calls >= 0 && slot->events >= 0 ? IFD_SUCCESS : IFD_NO_SUCH_DEVICE;
}

RESPONSECODE IFDHCreateChannel(DWORD lun, DWORD channel) {
    (void)lun;
    (void)channel;
    return IFD_COMMUNICATION_ERROR;
}

RESPONSECODE IFDHCloseChannel(DWORD lun) {
    struct slot *slot = find(lun);
    pthread_mutex_lock(&slot->lock);
    if (slot->calls >= 0) { close(slot->calls); }
    if (slot->events >= 0) { close(slot->events); }
    if (slot->stop >= 0) { close(slot->stop); }
    slot->calls = slot->events = slot->stop = -1;
    pthread_mutex_unlock(&slot->lock);
    return IFD_SUCCESS;
}

/* Returns as soon as a card has come or gone; pcscd then asks which. It stops a wait after each connection to a card that ends,
   so each stop counts once: one that stayed would have it ask in a loop that leaves the reader's lock to nobody else. */
static RESPONSECODE wait_for_event(DWORD lun, int milliseconds) {
    struct slot *slot = find(lun);
    struct pollfd watched[2] = {{.fd = slot->events, .events = POLLIN}, {.fd = slot->stop, .events = POLLIN}};
    unsigned char noted[64];
    uint64_t stops;
    if (poll(watched, 2, milliseconds) <= 0) { return IFD_SUCCESS; }
    if (watched[1].revents != 0 && read(slot->stop, &stops, sizeof stops) < 0) { return IFD_SUCCESS; }
    if (watched[0].revents != 0 && recv(slot->events, noted, sizeof noted, MSG_DONTWAIT) == 0) {
        /* Nobody plays the reader any more: pcscd is told at its next question, and is not to ask in a loop. */
        usleep(100000);
    }
    return IFD_SUCCESS;
}

static RESPONSECODE stop_waiting(DWORD lun) {
    uint64_t one = 1;
    return write(find(lun)->stop, &one, sizeof one) == sizeof one ? IFD_SUCCESS : IFD_COMMUNICATION_ERROR;
}

static RESPONSECODE give(const void *bytes, size_t count, PDWORD length, PUCHAR value) {
    if (*length < count) { return IFD_ERROR_INSUFFICIENT_BUFFER; }
    memcpy(value, bytes, count);
    *length = count;
    return IFD_SUCCESS;
}

RESPONSECODE IFDHGetCapabilities(DWORD lun, DWORD tag, PDWORD length, PUCHAR value) {
    struct slot *slot = find(lun);
    /* READERS: that pcscd counts them as with libccid, instead of giving each a driver of its own. */
    unsigned char most = READERS, yes = 1;
    /* As libccid tells the bcdDevice 2.14. */
    uint32_t version = 0x02140000;
    RESPONSECODE (*waits)(DWORD, int) = wait_for_event;
    RESPONSECODE (*stops)(DWORD) = stop_waiting;
    switch (tag) {
    case TAG_IFD_ATR:
    case SCARD_ATTR_ATR_STRING: return give(slot->atr, slot->atr_length, length, value);
    case SCARD_ATTR_VENDOR_IFD_VERSION: return give(&version, sizeof version, length, value);
    case TAG_IFD_SLOTS_NUMBER: return give(&slot->slots, 1, length, value);
    case TAG_IFD_SIMULTANEOUS_ACCESS: return give(&most, 1, length, value);
    case TAG_IFD_THREAD_SAFE:
    case TAG_IFD_SLOT_THREAD_SAFE: return give(&yes, 1, length, value);
    case TAG_IFD_POLLING_THREAD_WITH_TIMEOUT: return give(&waits, sizeof waits, length, value);
    case TAG_IFD_STOP_POLLING_THREAD: return give(&stops, sizeof stops, length, value);
    default: return IFD_ERROR_TAG;
    }
}

RESPONSECODE IFDHSetCapabilities(DWORD lun, DWORD tag, DWORD length, PUCHAR value) {
    (void)lun;
    (void)tag;
    (void)length;
    (void)value;
    return IFD_NOT_SUPPORTED;
}

RESPONSECODE IFDHSetProtocolParameters(DWORD lun, DWORD protocol, UCHAR flags, UCHAR pts1, UCHAR pts2, UCHAR pts3) {
    (void)lun;
    (void)flags;
    (void)pts1;
    (void)pts2;
    (void)pts3;
    return protocol == SCARD_PROTOCOL_T0 || protocol == SCARD_PROTOCOL_T1 ? IFD_SUCCESS : IFD_PROTOCOL_NOT_SUPPORTED;
}

RESPONSECODE IFDHPowerICC(DWORD lun, DWORD action, PUCHAR atr, PDWORD length) {
    struct slot *slot = find(lun);
    DWORD count = MAX_ATR_SIZE;
    char kind = action == IFD_POWER_DOWN ? 'd' : action == IFD_POWER_UP ? 'u' : 'r';
    unsigned char got[MAX_ATR_SIZE];
    RESPONSECODE code = call(slot, kind, NULL, 0, got, &count);
    if (code != IFD_SUCCESS || kind == 'd') { count = 0; }
    memcpy(slot->atr, got, count);
    slot->atr_length = count;
    if (atr != NULL && length != NULL) {
        memcpy(atr, got, count);
        *length = count;
    }
    return code;
}

RESPONSECODE IFDHTransmitToICC(
    DWORD lun, SCARD_IO_HEADER with, PUCHAR command, DWORD count, PUCHAR answer, PDWORD length, PSCARD_IO_HEADER from) {
    (void)with;
    if (from != NULL) { from->Protocol = 1; }
    return call(find(lun), 't', command, count, answer, length);
}

RESPONSECODE IFDHControl(
    DWORD lun, DWORD code, PUCHAR data, DWORD count, PUCHAR answer, DWORD room, LPDWORD length) {
    unsigned char sent[1024] = {
        (unsigned char)(code >> 24), (unsigned char)(code >> 16), (unsigned char)(code >> 8), (unsigned char)code};
    if (length != NULL) { *length = 0; }
    if (count > sizeof sent - 4) { return IFD_COMMUNICATION_ERROR; }
    if (count > 0) { memcpy(sent + 4, data, count); }
    DWORD got = room;
    RESPONSECODE result = call(find(lun), 'c', sent, count + 4, answer, &got);
    if (length != NULL) { *length = got; }
    return result;
}

RESPONSECODE IFDHICCPresence(DWORD lun) { return call(find(lun), 'p', NULL, 0, NULL, NULL); }
