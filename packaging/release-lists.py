#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes what a release was made with and what is inside: release-lists.py VERSION COMMIT SECONDS FOLDER

FOLDER holds the release's files. NAME.buildinfo names the toolchain, the system's packages and the sum of each file; its fields are
those of deb-buildinfo(5). NAME.spdx.json lists the works inside in SPDX 2.3: names and licences from NOTICE, versions from
Package.resolved, the compiler and dpkg. SECONDS is the commit's time; no other time is written.
"""
import hashlib
import json
import pathlib
import re
import subprocess
import sys

# What NOTICE calls a licence, and its identifier in the SPDX list.
LICENCES = {
    "Apache-2.0": "Apache-2.0",
    "Apache-2.0 with Runtime Library Exception": "Apache-2.0 WITH Swift-exception",
    "Apache-2.0, MIT or BSD-1-Clause, as its user prefers": "Apache-2.0 OR MIT OR BSD-1-Clause",
    "MIT": "MIT",
    "BSD-3-Clause": "BSD-3-Clause",
    "CC0-1.0": "CC0-1.0",
    "PostgreSQL": "PostgreSQL",
    "GPL-3.0 with GCC Runtime Library Exception": "GPL-3.0-or-later WITH GCC-exception-3.1",
    "LGPL-3.0": "LGPL-3.0-or-later",
    "LGPL-2.1-or-later": "LGPL-2.1-or-later",
    "public domain": "blessing",
}
# The Debian package that holds a library of the system.
DEBIAN = {
    "libpcsclite": "libpcsclite1",
    "libqrencode": "libqrencode4",
    "libsqlite3": "libsqlite3-0",
    "libgcc": "libgcc-s1",
    "libstdc++": "libstdc++6",
    "the C library (glibc)": "libc6",
    "libnfc": "libnfc6",
    "libusb-0.1": "libusb-0.1-4",
}
# What programs are compiled and packaged with; what these depend on is listed too.
TOOLS = (
    "libpcsclite-dev libnfc-dev libqrencode-dev libsqlite3-dev libstdc++-12-dev binutils debhelper dpkg-dev python3 git gzip xz-utils"
).split()


def output(*command):
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def stop(reason):
    sys.exit(f"release-lists: {reason}")


def installed():
    """Version and dependencies of each installed package of the system, by its name and by what it provides."""
    rows = output("dpkg-query", "-W", "-f=${db:Status-Status}\t${Package}\t${Version}\t${Provides}\t${Pre-Depends}, ${Depends}\n")
    packages = {}
    for row in rows.splitlines():
        status, name, version, provides, depends = row.split("\t")
        if status == "installed":
            for known in [name, *re.findall(r"(?:^|, )([a-z0-9][a-z0-9.+-]+)", provides)]:
                if known == name or known not in packages:
                    packages[known] = (name, version, depends)
    return packages


def closure(packages, names):
    """The named packages and all that they depend on, each once: name and version."""
    found, waiting = {}, list(names)
    while waiting:
        name = waiting.pop()
        if name not in packages or packages[name][0] in found:
            continue
        real, version, depends = packages[name]
        found[real] = version
        waiting += re.findall(r"(?:^|, |\| )([a-z0-9][a-z0-9.+-]+)", depends)
    return sorted(found.items())


def works():
    """The works that NOTICE names: (name, licence, copyright, is it linked, the work that contains it)."""
    records, linked = [], None
    for line in pathlib.Path("NOTICE").read_text().splitlines():
        if "linked statically" in line or line.startswith("They load"):
            linked = "linked statically" in line
        elif linked is not None and re.match(r"  (\S|  (contains|loads|is influenced by) )", line):
            records.append([linked, line.startswith("    "), line.split()])
        elif linked is not None and line.startswith("   "):
            records[-1][2] += line.split()
    outer = None
    for linked, within, words in records:
        text = " ".join(words)
        # The longest name of a licence that is there is the licence.
        licence = max((known for known in LICENCES if f" {known} " in f"{text} "), key=len, default=None)
        if licence is None:
            stop(f"NOTICE names no licence in “{text}”. Add it to that line")
        name, told = f"{text} ".split(f" {licence} ", 1)
        name = re.sub(r"^(contains|loads) |,$", "", name)
        if name.startswith("is influenced"):
            continue
        holders = told.split("loaded by")[0].strip()
        yield name, licence, holders or "NOASSERTION", linked, outer if within else None
        outer = outer if within else name


def identifier(text):
    return "SPDXRef-" + re.sub(r"[^A-Za-z0-9.]+", "-", text).strip("-")


def main():
    version, commit, seconds, folder = sys.argv[1:]
    folder = pathlib.Path(folder)
    files = sorted(file for file in folder.iterdir() if not file.name.endswith((".buildinfo", ".spdx.json")))
    sums = {file.name: hashlib.sha256(file.read_bytes()).hexdigest() for file in files}
    architecture = output("dpkg", "--print-architecture").strip()
    name = f"nfc-tap_{version}_{architecture}"
    packages = installed()
    missing = [tool for tool in TOOLS if tool not in packages]
    if missing:
        stop(f"{', '.join(missing)}: not installed. Install them: apt-get install {' '.join(missing)}")
    toolchain = next(line for line in output("swift", "--version").splitlines() if line.startswith(("Swift ", "Apple Swift ")))
    pins = {pin["identity"]: pin for pin in json.loads(pathlib.Path("Package.resolved").read_text())["pins"]}

    lines = ["Format: 1.0", "Source: nfc-tap", "Binary: nfc-tap", f"Architecture: {architecture} source", f"Version: {version}"]
    lines += ["Checksums-Sha256:"] + [f" {sums[file.name]} {file.stat().st_size} {file.name}" for file in files]
    lines += ["Build-Origin: Debian", f"Build-Architecture: {architecture}", f"Vcs-Git-Commit: {commit}", f"Swift-Toolchain: {toolchain}"]
    lines += ["Swift-Packages:"]
    lines += [f" {key} (= {pin['state']['version']}) {pin['state']['revision']}," for key, pin in sorted(pins.items())]
    lines += ["Installed-Build-Depends:"] + [f" {package} (= {number})," for package, number in closure(packages, TOOLS)]
    lines += ["Environment:", f' SOURCE_DATE_EPOCH="{seconds}"', ' LC_ALL="C"', ' TZ="UTC"']
    lines = [line.rstrip(",") if follows[:1] != " " else line for line, follows in zip(lines, lines[1:] + [""])]
    (folder / f"{name}.buildinfo").write_text("\n".join(lines) + "\n")

    product = {
        "SPDXID": "SPDXRef-nfc-tap",
        "name": "nfc-tap",
        "versionInfo": version,
        "downloadLocation": "NOASSERTION",
        "filesAnalyzed": False,
        "licenseConcluded": "NOASSERTION",
        "licenseDeclared": "Apache-2.0",
        "copyrightText": "Copyright 2026 the nfc-tap contributors",
        "sourceInfo": f"commit {commit}",
        "primaryPackagePurpose": "APPLICATION",
    }
    listed, relations, named = [product], [("SPDXRef-DOCUMENT", "DESCRIBES", product["SPDXID"])], set()
    for file in files:
        part = {
            "SPDXID": identifier(f"file-{file.name}"),
            "name": file.name,
            "versionInfo": version,
            "packageFileName": file.name,
            "downloadLocation": "NOASSERTION",
            "filesAnalyzed": False,
            "licenseConcluded": "NOASSERTION",
            "licenseDeclared": "NOASSERTION" if file.suffix == ".deb" else "Apache-2.0",
            "copyrightText": "NOASSERTION",
            "checksums": [{"algorithm": "SHA256", "checksumValue": sums[file.name]}],
        }
        listed.append(part)
        relations.append(("SPDXRef-DOCUMENT", "DESCRIBES", part["SPDXID"]))
        relations.append((product["SPDXID"], "CONTAINS", part["SPDXID"]))
    for work, licence, copyright, linked, outer in works():
        if not linked and work == "libpq":
            # Only the other package loads it.
            continue
        part = {
            "SPDXID": identifier(f"{work}-{'inside' if linked else 'system'}"),
            "name": work,
            "downloadLocation": "NOASSERTION",
            "filesAnalyzed": False,
            "licenseConcluded": "NOASSERTION",
            "licenseDeclared": LICENCES[licence],
            "copyrightText": copyright,
            "primaryPackagePurpose": "LIBRARY",
        }
        if pin := pins.get(work.lower()):
            named.add(work.lower())
            state = pin["state"]
            part |= {"versionInfo": state["version"], "downloadLocation": f"git+{pin['location']}@{state['revision']}"}
        elif work.startswith("Swift runtime"):
            part["versionInfo"] = toolchain
        elif debian := ("libstdc++-12-dev" if linked and work == "libstdc++" else DEBIAN.get(work)):
            part["versionInfo"] = packages[debian][1] if debian in packages else "NOASSERTION"
            part["comment"] = f"Debian package {debian}"
        elif outer is None:
            stop(f"{work} is in NOTICE and not in Package.resolved: its version is unknown. Run swift package resolve")
        listed.append(part)
        if outer:
            relations.append((identifier(f"{outer}-{'inside' if linked else 'system'}"), "CONTAINS" if linked else "DYNAMIC_LINK", part["SPDXID"]))
        else:
            relations.append((product["SPDXID"], "STATIC_LINK" if linked else "DYNAMIC_LINK", part["SPDXID"]))
    if unnamed := sorted(set(pins) - named):
        stop(f"NOTICE does not name {', '.join(unnamed)}. Add each with its licence")
    created = output("date", "--utc", "--date", f"@{seconds}", "+%Y-%m-%dT%H:%M:%SZ").strip()
    document = {
        "spdxVersion": "SPDX-2.3",
        "dataLicense": "CC0-1.0",
        "SPDXID": "SPDXRef-DOCUMENT",
        "name": f"nfc-tap-{version}",
        "documentNamespace": f"https://spdx.org/spdxdocs/nfc-tap-{version}-{commit}",
        "creationInfo": {"created": created, "creators": ["Organization: the nfc-tap contributors", "Tool: release-lists.py"]},
        "packages": listed,
        "relationships": [
            {"spdxElementId": one, "relationshipType": kind, "relatedSpdxElement": other} for one, kind, other in relations
        ],
    }
    (folder / f"{name}.spdx.json").write_text(json.dumps(document, indent=1, ensure_ascii=False) + "\n")


main()
