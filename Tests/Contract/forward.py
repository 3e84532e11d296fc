# SPDX-License-Identifier: Apache-2.0
"""Lets a tool that knows TCP only talk to a Unix socket: forward.py SOCKET prints the loopback port and serves.

A stream of events never ends by itself: it is cut half a second after its head, which is how a client leaves it.
"""
import socket
import sys
import threading

EVENT_STREAM = b"content-type: text/event-stream"


def relay(source, target, cut_events=False):
    seen = b""
    is_stream = False
    try:
        while chunk := source.recv(65536):
            target.sendall(chunk)
            if cut_events:
                seen = (seen + chunk)[-65536:]
                if EVENT_STREAM in seen.lower() and not is_stream:
                    is_stream = True
                    source.settimeout(0.5)
    except TimeoutError:
        # The end of a chunked body (RFC 9112 §7.1): events come in whole chunks.
        end_of_stream(target)
    except OSError:
        pass
    for end, how in ((target, socket.SHUT_WR), (source, socket.SHUT_RD)):
        try:
            end.shutdown(how)
        except OSError:
            pass


def end_of_stream(target):
    try:
        target.sendall(b"0\r\n\r\n")
    except OSError:
        pass


def serve(client, path):
    with client, socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as server:
        server.connect(path)
        thread = threading.Thread(target=relay, args=(client, server), daemon=True)
        thread.start()
        relay(server, client, cut_events=True)
        server.close()


def main():
    listener = socket.create_server(("127.0.0.1", 0))
    print(listener.getsockname()[1], flush=True)
    while True:
        client, _ = listener.accept()
        threading.Thread(target=serve, args=(client, sys.argv[1]), daemon=True).start()


main()
