#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Day: 2026-11-29
# Packages: curl 7.88.1-10+deb12u*, wget 1.21.3-1+deb12u*, php8.2-curl 8.2.*, openjdk-17-jdk-headless 17.*, golang-go 2:1.19~1, ruby 3.1,
# libwww-perl 6.68-1, python3-requests 2.28.1+dfsg-1, haproxy 2.6.12-1+deb12u*, nginx 1.22.1-9+deb12u* (Debian 12)
#
# Guess: a POST is sent again by the program that sent it, or not at all (RFC 9110, 9.2.2): who has no answer is told so.
# What happens: a server that has carried out a POST and ends its connection without an answer, as in a restart, gets it once more from
# curl, wget, PHP's curl and Java's HttpURLConnection, where the connection was used before; with an Idempotency-Key, also from Go.
# The program hears 200, and of one request. Behind nginx a client is told 502. haproxy hangs up without a word, so that curl behind it
# does the same. Perl, requests, Java's HttpClient, and Ruby but for DELETE, tell the program.
#
# Seen:
# > curl, POST: told 200; carried out 2
# > wget, POST: told 200; carried out 2
# > PHP curl, POST: told 200; carried out 2
# > Java HttpURLConnection, POST: told 200; carried out 2
# > Java HttpClient, POST: told IOException; carried out 1
# > Go, POST: told an error; carried out 1
# > Go, POST with an Idempotency-Key: told 200; carried out 2
# > Ruby Net::HTTP, POST: told EOFError; carried out 1
# > Ruby Net::HTTP, DELETE: told 200; carried out 2
# > Perl LWP, POST: told 500; carried out 1
# > Python requests, POST: told ConnectionError; carried out 1
# > Python requests behind haproxy, POST: told ConnectionError; carried out 1
# > Python requests behind nginx, POST: told 502; carried out 1
# > curl behind haproxy, POST: told 200; carried out 2
# > curl behind nginx, POST: told 502; carried out 1
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
apt-get update -qq
# Nothing is started by the installation.
policy=/usr/sbin/policy-rc.d
[ -e "$policy" ] || { printf '#!/bin/sh\nexit 101\n' >"$policy"; chmod 755 "$policy"; trap 'rm -rf "$folder" "$policy"' EXIT; }
DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends \
    curl wget php-cli php-curl openjdk-17-jdk-headless golang-go ruby libwww-perl python3-requests haproxy nginx-light \
    >"$folder/apt" 2>&1 || { cat "$folder/apt" >&2; exit 1; }
for known in curl=7.88.1-10+deb12u wget=1.21.3-1+deb12u php8.2-curl=8.2. openjdk-17-jdk-headless=17. golang-go=2:1.19~1 ruby=1:3.1 \
    libwww-perl=6.68-1 python3-requests=2.28.1+dfsg-1 haproxy=2.6.12-1+deb12u nginx=1.22.1-9+deb12u; do
    case $(dpkg-query -W -f '${Version}' "${known%%=*}") in "${known#*=}"*) ;; *) echo "$(basename "$0"): another version of ${known%%=*}" >&2; exit 1 ;; esac
done

cat >"$folder/ask.go" <<'GO'
package main

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"os"
)

func main() {
	first, _ := http.Get(os.Args[1] + "/first")
	io.ReadAll(first.Body)
	first.Body.Close()
	request, _ := http.NewRequest("POST", os.Args[1]+"/pay", bytes.NewReader([]byte("{}")))
	if len(os.Args) > 2 {
		request.Header.Set("Idempotency-Key", os.Args[2])
	}
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		fmt.Println("an error")
		return
	}
	fmt.Println(answer.StatusCode)
}
GO
cat >"$folder/Ask.java" <<'JAVA'
import java.io.IOException;
import java.net.*;
import java.net.http.*;

public class Ask {
    public static void main(String[] words) throws Exception {
        try {
            System.out.println(words[1].equals("old") ? old(words[0]) : now(words[0]));
        } catch (IOException problem) {
            System.out.println(problem.getClass().getSimpleName());
        }
    }

    static int old(String place) throws Exception {
        try (var first = new URL(place + "/first").openStream()) {
            first.readAllBytes();
        }
        var line = (HttpURLConnection) new URL(place + "/pay").openConnection();
        line.setRequestMethod("POST");
        line.setDoOutput(true);
        line.getOutputStream().write("{}".getBytes());
        return line.getResponseCode();
    }

    static int now(String place) throws Exception {
        var client = HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();
        client.send(HttpRequest.newBuilder(URI.create(place + "/first")).build(), HttpResponse.BodyHandlers.ofString());
        var body = HttpRequest.BodyPublishers.ofString("{}");
        return client.send(HttpRequest.newBuilder(URI.create(place + "/pay")).POST(body).build(), HttpResponse.BodyHandlers.ofString()).statusCode();
    }
}
JAVA
cat >"$folder/ask.rb" <<'RUBY'
require "net/http"
place = URI(ARGV[0])
Net::HTTP.start(place.host, place.port) do |line|
  line.get("/first")
  request = (ARGV[1] == "DELETE" ? Net::HTTP::Delete : Net::HTTP::Post).new("/pay")
  request.body = "{}"
  request["Content-Type"] = "application/json"
  begin
    puts line.request(request).code
  rescue StandardError => problem
    puts problem.class
  end
end
RUBY
cat >"$folder/ask.php" <<'PHP'
<?php
$line = curl_init($argv[1] . "/first");
curl_setopt($line, CURLOPT_RETURNTRANSFER, true);
curl_exec($line);
curl_setopt_array($line, [CURLOPT_URL => $argv[1] . "/pay", CURLOPT_POSTFIELDS => "{}"]);
echo curl_exec($line) === false ? curl_error($line) : curl_getinfo($line, CURLINFO_HTTP_CODE), "\n";
PHP
cat >"$folder/ask.pl" <<'PERL'
use LWP::UserAgent;
my $agent = LWP::UserAgent->new(keep_alive => 1);
$agent->get("$ARGV[0]/first");
print $agent->post("$ARGV[0]/pay", Content => "{}")->code, "\n";
PERL
cat >"$folder/ask.py" <<'ASK'
import sys
import requests

session = requests.Session()
session.get(sys.argv[1] + "/first")
try:
    print(session.post(sys.argv[1] + "/pay", data="{}").status_code)
except requests.RequestException as problem:
    print(type(problem).__name__)
ASK
cat >"$folder/haproxy.cfg" <<'CONF'
defaults
    mode http
    timeout connect 5s
    timeout client 50s
    timeout server 50s
listen shop
    bind 127.0.0.1:9002
    server shop 127.0.0.1:9001
CONF
cat >"$folder/nginx.conf" <<CONF
error_log $folder/nginx.log;
pid $folder/nginx.pid;
events {}
http {
    access_log off;
    upstream shop { server 127.0.0.1:9001; keepalive 4; }
    server {
        listen 127.0.0.1:9003;
        location / { proxy_pass http://shop; proxy_http_version 1.1; proxy_set_header Connection ""; }
    }
}
CONF
cd "$folder"
HOME=$folder GO111MODULE=off go build -o ask ask.go
javac Ask.java

# A network and a process space of its own: the ports are free, and nothing is left running.
timeout -s KILL 300 unshare -n -p -f --kill-child /usr/bin/python3 - 2>"$folder/errors" <<'PYTHON' | tee "$folder/now" || true
import fcntl
import os
import socket
import struct
import subprocess
import threading
import time

# The network namespace is new: switch its loopback interface on (SIOCSIFFLAGS, IFF_UP).
with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as interface:
    fcntl.ioctl(interface, 0x8914, struct.pack("16sh22x", b"lo", 1))

carried_out = []


def serve(line):
    """Answers, but for the first request that is carried out: its connection ends."""
    stream, requests = line.makefile("rb"), 0
    while head := stream.readline():
        length = 0
        while field := stream.readline().strip().lower():
            if field.startswith(b"content-length:"):
                length = int(field.split(b":")[1])
        stream.read(length)
        if head.split()[1] == b"/pay":
            carried_out.append(head)
            if len(carried_out) == 1:
                stream.close()
                line.shutdown(socket.SHUT_RDWR)
                line.close()
                return
        line.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Type: text/plain\r\n\r\nok")


def listen(server):
    while True:
        threading.Thread(target=serve, args=(server.accept()[0],), daemon=True).start()


threading.Thread(target=listen, args=(socket.create_server(("127.0.0.1", 9001)),), daemon=True).start()
output = open("output", "w")
subprocess.Popen(["haproxy", "-f", "haproxy.cfg", "-db"], stdout=output, stderr=output)
subprocess.Popen(["nginx", "-c", os.path.abspath("nginx.conf"), "-g", "daemon off;"], stdout=output, stderr=output)
for port in (9002, 9003):
    for _ in range(200):
        try:
            socket.create_connection(("127.0.0.1", port)).close()
            break
        except OSError:
            time.sleep(0.05)


def curl(place):
    return ["curl", "-s", "-o", "/dev/null", f"{place}/first", "--next", "-s", "-o", "/dev/null", "-w", "%{http_code}", "-d", "{}", f"{place}/pay"]


def wget(place):
    # It sends its body to both addresses; the first is not counted.
    return ["wget", "-q", "-O", "/dev/null", "-S", "--post-data={}", f"{place}/first", f"{place}/pay"]


DIRECT, HAPROXY, NGINX = (f"http://127.0.0.1:{port}" for port in (9001, 9002, 9003))
for title, command in (
    ("curl, POST", curl(DIRECT)),
    ("wget, POST", wget(DIRECT)),
    ("PHP curl, POST", ["php", "ask.php", DIRECT]),
    ("Java HttpURLConnection, POST", ["java", "Ask", DIRECT, "old"]),
    ("Java HttpClient, POST", ["java", "Ask", DIRECT, "now"]),
    ("Go, POST", ["./ask", DIRECT]),
    ("Go, POST with an Idempotency-Key", ["./ask", DIRECT, "key"]),
    ("Ruby Net::HTTP, POST", ["ruby", "ask.rb", DIRECT, "POST"]),
    ("Ruby Net::HTTP, DELETE", ["ruby", "ask.rb", DIRECT, "DELETE"]),
    ("Perl LWP, POST", ["perl", "ask.pl", DIRECT]),
    ("Python requests, POST", ["/usr/bin/python3", "ask.py", DIRECT]),
    ("Python requests behind haproxy, POST", ["/usr/bin/python3", "ask.py", HAPROXY]),
    ("Python requests behind nginx, POST", ["/usr/bin/python3", "ask.py", NGINX]),
    ("curl behind haproxy, POST", curl(HAPROXY)),
    ("curl behind nginx, POST", curl(NGINX)),
):
    carried_out.clear()
    done = subprocess.run(command, capture_output=True, text=True, timeout=60)
    # wget writes the heads of all answers among its errors.
    told = done.stdout.strip() or [line.split()[1] for line in done.stderr.splitlines() if "HTTP/1.1" in line][-1]
    print(f"{title}: told {told}; carried out {len(carried_out)}", flush=True)
PYTHON

diff <(sed -n 's/^# > //p' "$0") "$folder/now" || { cat "$folder/errors" >&2; echo "$(basename "$0"): the behaviour has changed" >&2; exit 1; }
