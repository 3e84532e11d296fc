#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Stands between the programs on a Unix socket and keeps every byte that passes.

    capture-socket.py LISTEN CONNECT FILE
"""
import os
import signal
import socket
import sys
import threading

# Whoever started this may have had it blocked.
signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGTERM})
listen, connect, capture = sys.argv[1:]
log = open(capture, "ab", buffering=0)


def pump(source, sink):
    try:
        while data := source.recv(65536):
            log.write(data)
            sink.sendall(data)
        sink.shutdown(socket.SHUT_WR)
    except OSError:
        # One side has gone: the other is to notice.
        for end in (source, sink):
            try:
                end.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass


server = socket.socket(socket.AF_UNIX)
server.bind(listen + ".new")
server.listen(64)
os.rename(listen + ".new", listen)
while True:
    client, _ = server.accept()
    upstream = socket.socket(socket.AF_UNIX)
    try:
        upstream.connect(connect)
    except OSError:
        client.close()
        continue
    for pair in ((client, upstream), (upstream, client)):
        threading.Thread(target=pump, args=pair, daemon=True).start()
