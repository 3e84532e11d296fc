# SPDX-License-Identifier: Apache-2.0
"""The documented haproxy file before three replicas in a few lines, tried as tills with certificates try it. argv: the file. Prints what it saw as JSON."""

import asyncio
import json
import os
import pathlib
import ssl
import subprocess
import sys
import tempfile

MOST = 256
HELD = "timeout http-request 5s"
folder = pathlib.Path(tempfile.mkdtemp(prefix="proxy-"))
# Of each replica: health checks, requests, names of tills, requests whose body was not whole, and how many checks are answered by 503.
replicas = [{"checks": 0, "requests": 0, "tills": set(), "halves": 0, "sick": 0} for _ in range(3)]


def openssl(*words):
    subprocess.run(["openssl", *words], check=True, cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def certificates():
    openssl("req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-keyout", "ca.key", "-out", "ca.pem", "-days", "2",
            "-subj", "/CN=CA")
    for name in ["localhost", "till-1", "till-2"]:
        openssl("req", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-keyout", f"{name}.key", "-out", f"{name}.csr",
                "-subj", f"/CN={name}")
        openssl("x509", "-req", "-in", f"{name}.csr", "-CA", "ca.pem", "-CAkey", "ca.key", "-CAcreateserial", "-out", f"{name}.crt", "-days", "2")
        (folder / f"{name}.pem").write_text((folder / f"{name}.crt").read_text() + (folder / f"{name}.key").read_text())


async def replica(state, reader, writer):
    try:
        while True:
            head = (await reader.readuntil(b"\r\n\r\n")).decode()
            fields = dict(line.lower().split(": ", 1) for line in head.split("\r\n")[1:] if ": " in line)
            try:
                await asyncio.wait_for(reader.readexactly(int(fields.get("content-length", "0"))), 10)
            except (TimeoutError, asyncio.TimeoutError, asyncio.IncompleteReadError):
                state["halves"] += 1
            status = "200 OK"
            if "x-till" in fields:
                state["requests"] += 1
                state["tills"].add(fields["x-till"])
            else:
                state["checks"] += 1
                if state["sick"] > 0:
                    state["sick"] -= 1
                    status = "503 Busy"
            writer.write(f"HTTP/1.1 {status}\r\nContent-Length: 2\r\nContent-Type: application/json\r\n\r\n{{}}".encode())
            await writer.drain()
    except (asyncio.IncompleteReadError, ConnectionError):
        pass
    finally:
        writer.close()


def context(name):
    made = ssl.create_default_context(cafile=folder / "ca.pem")
    made.check_hostname = False
    made.load_cert_chain(folder / f"{name}.pem")
    return made


async def connect(port, name):
    return await asyncio.open_connection("127.0.0.1", port, ssl=context(name))


async def status(port, name, body=b"{}"):
    """Of a whole request on a connection of its own."""
    try:
        reader, writer = await connect(port, name)
        writer.write(b"POST /v1/authorizations HTTP/1.1\r\nHost: a\r\nX-Till: till-9\r\nContent-Length: %d\r\n\r\n" % len(body) + body)
        line = await asyncio.wait_for(reader.readline(), 60)
        writer.close()
        return int(line.split()[1]) if line else 0
    except (OSError, ssl.SSLError):
        return 0


async def half(port, name):
    """A request whose body never comes: what is heard of it, and whether the connection is closed."""
    try:
        reader, writer = await connect(port, name)
        writer.write(b"POST /v1/authorizations HTTP/1.1\r\nHost: a\r\nContent-Length: 4000\r\n\r\n{")
        await writer.drain()
        return reader, writer
    except (OSError, ssl.SSLError):
        return None


async def end(opened):
    if not opened:
        return "refused"
    reader, writer = opened
    try:
        line = await asyncio.wait_for(reader.readline(), 90)
        await asyncio.wait_for(reader.read(), 90)
    except (TimeoutError, asyncio.TimeoutError):
        return "open"
    except (OSError, ssl.SSLError):
        return "refused"
    finally:
        writer.close()
    return line.decode().split()[1] if line else "refused"


async def main():
    certificates()
    sockets = []
    for number, state in enumerate(replicas):
        sockets.append(await asyncio.start_unix_server(
            lambda reader, writer, state=state: replica(state, reader, writer), folder / f"{number + 1}.sock", limit=1 << 20))
    probe = await asyncio.start_server(lambda reader, writer: None, "127.0.0.1", 0)
    port = probe.sockets[0].getsockname()[1]
    probe.close()
    await probe.wait_closed()
    # As printed, but for the time that a request in halves is held: a busy machine takes more than five seconds to open them all.
    printed = pathlib.Path(sys.argv[1]).read_text()
    assert printed.count(HELD) == 1
    (folder / "centre.cfg").write_text(printed.replace(HELD, "timeout http-request 20s"))
    haproxy = await asyncio.create_subprocess_exec("/usr/sbin/haproxy", "-db", "-f", str(folder / "centre.cfg"), env=os.environ | {
        "CENTRE_ADDRESS": f"127.0.0.1:{port}", "CENTRE_CERTIFICATE": str(folder / "localhost.pem"), "TILLS_CA": str(folder / "ca.pem"),
        "SWITCH_SOCKETS": str(folder)})
    seen = {}
    try:
        for _ in range(200):
            if await status(port, "till-2") == 200:
                break
            await asyncio.sleep(0.1)
        # One check that fails, at each replica, drops none of them.
        for state in replicas:
            state["sick"], state["checks"] = 1, 0
        seen["statuses"] = []
        while any(state["sick"] or state["checks"] < 3 for state in replicas):
            seen["statuses"].append(await status(port, "till-2"))
            await asyncio.sleep(0.05)
        seen["statuses"] = sorted(set(seen["statuses"]))
        # Requests in halves, as many as one certificate gets and more.
        opened = await asyncio.gather(*(half(port, "till-1") for _ in range(MOST + 40)))
        seen["neighbour"] = [await status(port, "till-2") for _ in range(20)]
        seen["flooder"] = await status(port, "till-1")
        ends = await asyncio.gather(*(end(each) for each in opened))
        seen["ends"] = {word: ends.count(word) for word in set(ends)}
        await asyncio.sleep(0.5)
        seen["afterwards"] = await status(port, "till-1")
        seen["halves"] = sum(state["halves"] for state in replicas)
        seen["tills"] = sorted(set().union(*(state["tills"] for state in replicas)))
        # A replica that is sick for good is dropped, and all of them are told as nobody.
        for state in replicas:
            state["sick"] = 1_000
        for _ in range(100):
            seen["nobody"] = await status(port, "till-2")
            if seen["nobody"] == 421:
                break
            await asyncio.sleep(0.1)
        # One that is gone refuses the connection: dropped by the first request that meets it.
        for state in replicas:
            state["sick"] = 0
        for _ in range(100):
            if await status(port, "till-2") == 200:
                break
            await asyncio.sleep(0.1)
        await asyncio.sleep(1.5)
        sockets[0].close()
        (folder / "1.sock").unlink(missing_ok=True)
        gone = [await status(port, "till-2") for _ in range(60)]
        seen["lost"] = sum(one != 200 for one in gone)
    finally:
        haproxy.terminate()
        await haproxy.wait()
    print(json.dumps(seen))


asyncio.run(main())
