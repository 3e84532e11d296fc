#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes manual pages from what programs and the example configuration say of themselves.

make-manual.py program PROGRAM SECTION    the page of a program, from its --experimental-dump-help
make-manual.py configuration NAME FILE    NAME.conf(5), from the comments of its example configuration
make-manual.py commands PROGRAM           the words of its commands, one command a line
"""

import json
import re
import subprocess
import sys

SEE_ALSO = {
    "nfc-tap": "nfc-tapd(8), nfc-tapd.conf(5), pcscd(8)",
    "nfc-tapd": "nfc-tap(1), nfc-tapd.conf(5), nfc-tap-psp-sandbox(1), pcscd(8), systemd.socket(5)",
    "nfc-tap-psp-sandbox": "nfc-tapd(8)",
    "nfc-tap-ecr": "nfc-tap-ecr.conf(5), nfc-tapd(8), nfc-tapd.conf(5)",
    "nfc-tap-hub": "nfc-tap-hub.conf(5), nfc-tapd(8), nfc-tapd.conf(5), mosquitto(8), haproxy(1)",
    "nfc-tap-remote": "nfc-tap-remote.conf(5), nfc-tapd(8), nfc-tapd.conf(5), haproxy(1)",
    "nfc-tap-gateway": "nfc-tap-gateway.conf(5), nfc-tapd(8), nfc-tapd.conf(5), systemd.socket(5)",
    "nfc-tap-switch": "nfc-tap-profile(8), nfc-tap-acquirer-sim(1), haproxy(1), psql(1)",
    "nfc-tap-profile": "nfc-tap-switch(8), nfc-tapd(8)",
    "nfc-tap-acquirer-sim": "nfc-tap-switch(8)",
}
FILES = {
    "nfc-tap-switch": [
        ("/etc/nfc-tap-switch/switch.env", "Database, keys and acquirer, for the unit nfc-tap-switch@.service."),
        ("/etc/nfc-tap-switch/token-pin", "The PIN of the token, for root alone; the unit hands it on."),
        ("/var/lib/nfc-tap-switch", "How far the books were, for each replica. Keep it out of the backup of the books."),
        ("/run/nfc-tap-switch", "Sockets of the replicas: for haproxy, and those of the desk for operators."),
    ],
    "nfc-tap-profile": [],
    "nfc-tap-acquirer-sim": [],
    "nfc-tap": [
        ("/run/nfc-tap/pos.sock", "The daemon's socket for points of sale. Who may open it is in the group nfc-tap."),
    ],
    "nfc-tapd": [
        ("/etc/nfc-tap/nfc-tapd.toml", "The configuration, see nfc-tapd.conf(5)."),
        ("/run/nfc-tap/pos.sock", "The socket for points of sale, made by nfc-tapd.socket."),
        ("/run/nfc-tap/psp.sock", "The socket of the payment service's adapter, which makes it."),
        ("/var/lib/nfc-tap", "The journal."),
        ("/usr/share/nfc-tap/usb.conf, serial.conf", "Drop-ins of the unit for readers that libnfc drives."),
    ],
    "nfc-tap-psp-sandbox": [],
    "nfc-tap-ecr": [
        ("/etc/nfc-tap/nfc-tap-ecr.toml", "The tills, see nfc-tap-ecr.conf(5)."),
        ("/var/lib/nfc-tap-ecr", "The ledgers of the tills."),
    ],
    "nfc-tap-hub": [
        ("/etc/nfc-tap/nfc-tap-hub.toml", "Who hears of passes, see nfc-tap-hub.conf(5)."),
        ("/var/lib/nfc-tap-hub", "The outboxes: what is still to be sent, with member numbers."),
    ],
    "nfc-tap-remote": [
        ("/etc/nfc-tap/nfc-tap-remote.toml", "Who may order payments, see nfc-tap-remote.conf(5)."),
        ("/var/lib/nfc-tap-remote", "The ledgers: orders of the last day, and what is still to be told."),
        ("/run/nfc-tap-remote/status.json", "How it goes with each backend."),
    ],
    "nfc-tap-gateway": [
        ("/etc/nfc-tap/nfc-tap-gateway.toml", "The configuration, see nfc-tap-gateway.conf(5); it may be missing."),
        ("/var/lib/nfc-tap-gateway/tills.json", "The tills: names, rights and hashes of their tokens."),
        ("/run/nfc-tap-gateway/admin.sock", "The socket of the commands pair, tills, revoke and rotate."),
        ("/usr/share/nfc-tap/till", "The pages of till and customer display."),
    ],
}


def escape(text):
    """Text for roff: no line of it is a request, no dash a hyphen, no backslash an escape."""
    text = text.replace("\\", "\\e").replace("-", "\\-")
    return re.sub(r"(?m)^([.'])", r"\\&\1", text)


def paragraphs(text):
    """Paragraphs apart; a line that begins with a number and two blanks is an entry of a list."""
    parts = []
    for part in re.split(r"\n\s*\n|\n(?=[0-9]+  )", text.strip()):
        entry = re.match(r"([0-9]+)  (.*)", part, re.DOTALL)
        body = escape(" ".join((entry[2] if entry else part).split()))
        parts.append(f".TP 6\n{entry[1]}\n{body}" if entry else body)
    return "\n.PP\n".join(parts).replace(".PP\n.TP", ".TP")


def header(name, section, title):
    return f'.TH "{name.upper()}" "{section}" "" "nfc\\-tap" "{title}"'


def spelled(name):
    return ("-" if name["kind"] == "short" else "--") + name["name"]


def shown(argument):
    """How an argument is written: its names, and its value where it takes one."""
    value = argument.get("valueName") or "value"
    if argument["kind"] == "positional":
        return f"\\fI{escape(value)}\\fR"
    names = ", ".join(f"\\fB{escape(spelled(name))}\\fR" for name in argument.get("names", []))
    return names if argument["kind"] == "flag" else f"{names} \\fI{escape(value)}\\fR"


def visible(command):
    return [a for a in command.get("arguments", []) if a.get("shouldDisplay", True)]


def synopsis(words, command):
    parts = [f"\\fB{escape(' '.join(words))}\\fR"]
    for argument in visible(command):
        if argument["kind"] == "positional":
            text = shown(argument)
        else:
            preferred = argument.get("preferredName") or argument["names"][0]
            text = f"\\fB{escape(spelled(preferred))}\\fR"
            if argument["kind"] == "option":
                text += f" \\fI{escape(argument.get('valueName') or 'value')}\\fR"
        if argument.get("isRepeating"):
            text += " ..."
        parts.append(f"[{text}]" if argument.get("isOptional") else text)
    if command.get("subcommands"):
        parts.append("\\fIcommand\\fR ...")
    return " ".join(parts)


def options(command):
    lines = []
    for argument in visible(command):
        lines += [".TP", shown(argument)]
        text = argument.get("abstract") or ""
        if argument.get("defaultValue") and argument["kind"] != "flag":
            text += f" Default: {argument['defaultValue']}."
        lines.append(escape(text.strip()) or "\\&")
    return lines


def commands(words, command):
    """Every command below this one, with the words that lead to it."""
    for child in command.get("subcommands", []):
        if child["commandName"] != "help" and child.get("shouldDisplay", True):
            path = [*words, child["commandName"]]
            yield path, child
            yield from commands(path, child)


def dumped(path):
    dump = subprocess.run([path, "--experimental-dump-help"], check=True, capture_output=True, text=True)
    return json.loads(dump.stdout)["command"]


def program_page(path, section):
    command = dumped(path)
    name = command["commandName"]
    abstract = command.get("abstract", "").rstrip(".")
    title = "System manager's manual" if section == "8" else "User commands"
    lines = [header(name, section, title), ".SH NAME", f"{escape(name)} \\- {escape(abstract[:1].lower() + abstract[1:])}"]
    lines += [".SH SYNOPSIS", synopsis([name], command), ".SH DESCRIPTION"]
    lines.append(paragraphs(command.get("discussion") or command.get("abstract", "")))
    lines += [".SH OPTIONS"] + options(command)
    below = list(commands([], command))
    if below:
        lines.append(".SH COMMANDS")
    for words, child in below:
        lines += [".SS " + escape(" ".join(words)), synopsis([name, *words], child), ".PP"]
        lines.append(paragraphs(child.get("abstract", "")))
        if child.get("discussion"):
            lines += [".PP", paragraphs(child["discussion"])]
        own = {"help", "version"}
        rest = [a for a in visible(child) if not own & {n["name"] for n in a.get("names", [])}]
        lines += options({"arguments": rest})
    if FILES[name]:
        lines.append(".SH FILES")
        for file, text in FILES[name]:
            lines += [".TP", f"\\fI{escape(file)}\\fR", escape(text)]
    lines += [".SH SEE ALSO", escape(SEE_ALSO[name])]
    return "\n".join(lines) + "\n"


def configuration_page(name, path):
    """Comments before a setting explain it; a setting that is commented out is not set by default."""
    lines = [header(f"{name}.conf", "5", "File formats"), ".SH NAME"]
    lines.append(escape(f"{name}.conf - configuration of {name}").replace(" \\- ", " \\- "))
    lines += [".SH SYNOPSIS", f"\\fI{escape(f'/etc/nfc-tap/{name}.toml')}\\fR", ".SH DESCRIPTION"]
    comment, introduced, table = [], False, ""
    lines.append("The file is TOML.")
    for line in open(path, encoding="utf-8"):
        line = line.rstrip("\n")
        bare = line[2:] if line.startswith("# ") else line
        heading = re.fullmatch(r"\[\[?([a-z.]+)\]\]?", bare)
        setting = re.fullmatch(r"([a-z-]+) = ([^#]*[^# ])(?: +# (.*))?", bare)
        if heading:
            table = heading.group(1)
            lines += [f".SH {escape(bare)}", escape(" ".join(comment)) or "\\&"]
            comment = []
        elif setting:
            if setting.group(3):
                comment.append(setting.group(3))
            if not introduced and not table and comment:
                comment, introduced = comment, True
            lines += [".TP", f"\\fB{escape(setting.group(1))}\\fR = {escape(setting.group(2))}"]
            lines.append(escape(" ".join(comment)) or "\\&")
            comment = []
        elif line.startswith("#"):
            comment.append(line.lstrip("# "))
        elif comment and not introduced:
            lines += [".PP", escape(" ".join(comment)), ".SH SETTINGS"]
            comment, introduced = [], True
    lines += [".SH SEE ALSO", escape(f"{name}(8)")]
    return "\n".join(lines) + "\n"


def main():
    if len(sys.argv) == 4 and sys.argv[1] == "program":
        sys.stdout.write(program_page(sys.argv[2], sys.argv[3]))
    elif len(sys.argv) == 3 and sys.argv[1] == "commands":
        for words, _ in commands([], dumped(sys.argv[2])):
            print(" ".join(words))
    elif len(sys.argv) == 4 and sys.argv[1] == "configuration":
        sys.stdout.write(configuration_page(sys.argv[2], sys.argv[3]))
    else:
        sys.exit(__doc__)


if __name__ == "__main__":
    main()
