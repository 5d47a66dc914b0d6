#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Does a generated file keep to a schema of ours?

check_schema.py SCHEMA FILE          all documents of the file are looked at, JSON or YAML
check_schema.py --mutate SCHEMA FILE each document is spoilt in every way the schema forbids, one at a time, and each must be refused:
                                     a required field gone, a field nobody knows, another type, a word that is none of the choices
"""
import copy
import json
import re
import sys

import yaml

TYPES = {"object": dict, "array": list, "string": str, "integer": int, "number": (int, float)}
KNOWN = {"title", "type", "enum", "pattern", "minimum", "maximum", "minItems", "maxItems", "items", "properties", "required",
         "additionalProperties"}


def faults(value, schema, at=""):
    unknown = set(schema) - KNOWN
    assert not unknown, f"the schema says {unknown}, which is not looked at"
    if not isinstance(value, TYPES[schema["type"]]) or isinstance(value, bool):
        return [f"{at}: {value!r} is no {schema['type']}"]
    found = []
    if "enum" in schema and value not in schema["enum"]:
        found.append(f"{at}: {value!r} is none of {schema['enum']}")
    if "pattern" in schema and not re.search(schema["pattern"], value):
        found.append(f"{at}: {value!r} is not like {schema['pattern']}")
    if schema["type"] in ("integer", "number") and not schema.get("minimum", value) <= value <= schema.get("maximum", value):
        found.append(f"{at}: {value} is out of range")
    if schema["type"] == "array":
        if not schema.get("minItems", 0) <= len(value) <= schema.get("maxItems", len(value)):
            found.append(f"{at}: {len(value)} items")
        for i, item in enumerate(value):
            found += faults(item, schema["items"], f"{at}[{i}]")
    if schema["type"] == "object":
        found += [f"{at}: no {key}" for key in schema.get("required", []) if key not in value]
        found += [f"{at}: unknown {key}" for key in value if key not in schema["properties"]]
        for key in value:
            if key in schema["properties"]:
                found += faults(value[key], schema["properties"][key], f"{at}.{key}")
    return found


def spoilt(value, schema):
    """All ways to spoil a value, one at a time."""
    yield {"object": [], "array": {}, "string": 7, "integer": "7", "number": "7"}[schema["type"]]
    if "enum" in schema or "pattern" in schema:
        yield " none of them\n"
    if "minimum" in schema:
        yield schema["minimum"] - 1
    if schema["type"] == "object":
        yield {**value, "nobodyKnowsThis": 1}
        for key in schema.get("required", []):
            yield {k: v for k, v in value.items() if k != key}
        for key in value:
            for bad in spoilt(value[key], schema["properties"][key]):
                yield {**value, key: bad}
    if schema["type"] == "array":
        for i, item in enumerate(value):
            for bad in spoilt(item, schema["items"]):
                yield value[:i] + [bad] + value[i + 1:]


def main():
    mutate = sys.argv[1] == "--mutate"
    schema_file, file = sys.argv[2:] if mutate else sys.argv[1:]
    with open(schema_file) as f:
        schema = json.load(f)
    with open(file) as f:
        documents = [json.load(f)] if file.endswith(".json") else list(yaml.safe_load_all(f))
    found = [] if documents else [f"{file}: nothing in it"]
    tried = 0
    for n, document in enumerate(documents):
        if not mutate:
            found += [f"{file}, document {n + 1}: {x}" for x in faults(document, schema)]
            continue
        for bad in spoilt(copy.deepcopy(document), schema):
            tried += 1
            if not faults(bad, schema):
                found.append(f"{file}, document {n + 1}: not refused: {bad}")
    print("\n".join(found) if found else f"{tried} spoilt documents refused" if mutate else f"{len(documents)} documents as they should be")
    return 1 if found or (mutate and not tried) else 0


sys.exit(main())
