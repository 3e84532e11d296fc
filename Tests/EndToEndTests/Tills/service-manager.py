#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Keeps a port for a program as systemd does: service-manager.py PORT NAME PROGRAM ARGUMENT…

Each line of its input kills the program, and a second later it is started anew. It ends with its input.
"""
import os
import signal
import socket
import sys
import time


def start(arguments, name):
    child = os.fork()
    if child:
        return child
    signal.pthread_sigmask(signal.SIG_SETMASK, [])
    os.execve(arguments[0], arguments, os.environ | {"LISTEN_PID": str(os.getpid()), "LISTEN_FDS": "1", "LISTEN_FDNAMES": name})


def main():
    port, name, *arguments = sys.argv[1:]
    listener = socket.socket()
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    listener.bind(("127.0.0.1", int(port)))
    listener.listen(16)
    number = listener.detach()
    if number != 3:
        os.dup2(number, 3)
        os.close(number)
    os.set_inheritable(3, True)
    child = start(arguments, name)
    print("begun", flush=True)
    for _ in sys.stdin:
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
        print("killed", flush=True)
        time.sleep(1)
        child = start(arguments, name)
    os.kill(child, signal.SIGKILL)


main()
