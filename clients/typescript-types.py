#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The contract in TypeScript: typescript-types.py docs/openapi.yaml writes a module to standard output.

A type for each schema, `Operations` with what each call takes and gives, and `operations` with its method, its path and where its
parameters go. What it does not know of JSON Schema ends it: a type that is missing here must not become `any`.
"""
import json
import sys

from ruamel.yaml import YAML

KNOWN = {
    "type", "enum", "const", "oneOf", "properties", "required", "additionalProperties", "items", "description", "$ref", "format",
    "pattern", "minimum", "maximum", "minLength", "maxLength", "minItems", "maxItems", "minProperties", "maxProperties",
    "uniqueItems", "default", "examples", "example", "x-error-codes", "contentMediaType", "contentSchema"}
PLAIN = {"string": "string", "integer": "number", "number": "number", "boolean": "boolean"}


def literals(values):
    return " | ".join(json.dumps(value) for value in values)


def comment(text, indent):
    lines = (text or "").strip().replace("*/", "* /").split("\n")
    if len(lines) == 1:
        return f"{indent}/** {lines[0]} */\n" if lines[0] else ""
    return "\n".join([f"{indent}/**", *(f"{indent} * {line}".rstrip() for line in lines), f"{indent} */\n"])


def type_of(schema, indent=""):
    if unknown := set(schema) - KNOWN:
        sys.exit(f"typescript-types: no rule for {', '.join(sorted(unknown))}")
    if "$ref" in schema:
        return schema["$ref"].rpartition("/")[2]
    if "const" in schema:
        return json.dumps(schema["const"])
    if "enum" in schema:
        return literals(schema["enum"])
    if "oneOf" in schema:
        return " | ".join(type_of(one, indent) for one in schema["oneOf"])
    if schema.get("type") == "array":
        inner = type_of(schema["items"], indent)
        return f"({inner})[]" if " | " in inner else f"{inner}[]"
    if "properties" in schema:
        return members(schema, indent)
    if schema.get("type") == "object":
        values = schema.get("additionalProperties")
        return f"Record<string, {type_of(values, indent)}>" if isinstance(values, dict) else "Record<string, never>"
    return PLAIN[schema["type"]] if "type" in schema else "unknown"


def members(schema, indent):
    text = "{\n"
    for name, member in schema["properties"].items():
        text += comment(member.get("description"), indent + "    ")
        optional = "" if name in schema.get("required", []) else "?"
        text += f"{indent}    {name}{optional}: {type_of(member, indent + '    ')};\n"
    return text + indent + "}"


def answer_of(operation):
    """What a call gives that was carried out: one of its answers with 2xx."""
    kinds = []
    for status, answer in operation["responses"].items():
        for media, content in answer.get("content", {}).items() if status.startswith("2") else []:
            kind = type_of(content["schema"], "        ") if media == "application/json" else "string"
            if media != "text/event-stream" and not media.startswith("image/") and kind not in kinds:
                kinds.append(kind)
    return " | ".join(kinds) or "never"


def main():
    with open(sys.argv[1], encoding="utf-8") as file:
        contract = YAML(typ="safe").load(file)
    print("// SPDX-License-Identifier: Apache-2.0")
    print(f"// Made from the contract, version {contract['info']['version']}, by clients/typescript-types.py. Change the contract instead.")
    for name, schema in contract["components"]["schemas"].items():
        print(f"\n{comment(schema.get('description'), '')}export type {name} = {type_of(schema)};")

    codes, calls, table = set(contract["components"]["responses"]["Other"]["x-error-codes"]), "", {}
    for path, methods in contract["paths"].items():
        shared = methods.pop("parameters", [])
        for method, operation in methods.items():
            codes.update(operation["x-error-codes"])
            parameters = shared + operation.get("parameters", [])
            names = {one["name"]: json.dumps(one["name"]) if "-" in one["name"] else one["name"] for one in parameters}
            given = {
                "properties": {names[one["name"]]: {"description": one.get("description"), **one["schema"]} for one in parameters},
                "required": [names[one["name"]] for one in parameters if one.get("required")]}
            body = operation.get("requestBody")
            kind = type_of(body["content"]["application/json"]["schema"]) if body else "undefined"
            calls += comment(operation["summary"], "    ")
            calls += f"    {operation['operationId']}: {{\n        parameters: {members(given, '        ')};\n"
            calls += f"        body{'' if body and body.get('required') else '?'}: {kind};\n"
            calls += f"        answer: {answer_of(operation)};\n    }};\n"
            table[operation["operationId"]] = {
                "method": method.upper(), "path": path,
                **{place: [one["name"] for one in parameters if one["in"] == place] for place in ("query", "header")}}
    codes.update(contract["components"]["schemas"]["Error"]["x-error-codes"])
    print(f"\n/** All codes of errors; docs/integrating/errors.md says what each of them means. */\nexport type ErrorCode =\n    {literals(sorted(codes))};")
    print(f"\nexport interface Operations {{\n{calls}}}")
    print(f"\nexport const operations = {json.dumps(table, indent=4)} as const;")


main()
