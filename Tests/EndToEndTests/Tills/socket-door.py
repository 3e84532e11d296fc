# SPDX-License-Identifier: Apache-2.0
"""Stands for the proxy of nfc-tap-remote: a Unix socket in front of a port of this machine. socket-door.py PATH PORT"""
import asyncio
import os
import sys


async def copy(reader, writer):
    try:
        while data := await reader.read(65536):
            writer.write(data)
            await writer.drain()
    except OSError:
        pass
    finally:
        writer.close()


async def serve(reader, writer):
    try:
        other, out = await asyncio.open_connection("127.0.0.1", int(sys.argv[2]))
    except OSError:
        writer.close()
        return
    await asyncio.gather(copy(reader, out), copy(other, writer))


async def main():
    if os.path.exists(sys.argv[1]):
        os.remove(sys.argv[1])
    async with await asyncio.start_unix_server(serve, sys.argv[1]) as server:
        await server.serve_forever()


asyncio.run(main())
