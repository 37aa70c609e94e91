# SPDX-License-Identifier: Apache-2.0
"""check_schema.py SCHEMA FILE...: exit code 1, and what is wrong, when a file does not follow the JSON Schema.
A schema may be compressed (.xz)."""
import json
import lzma
import sys
import warnings

warnings.simplefilter("ignore")
import jsonschema


def load(path):
    with (lzma.open if path.endswith(".xz") else open)(path, "rt", encoding="utf-8") as file:
        return json.load(file)


def main():
    schema, wrong = load(sys.argv[1]), 0
    kind = jsonschema.validators.validator_for(schema)
    kind.check_schema(schema)
    for path in sys.argv[2:]:
        for error in kind(schema).iter_errors(load(path)):
            where = "/".join(str(part) for part in error.absolute_path)
            print(f"{path}: {where}: {error.message[:300]}")
            wrong = 1
    return wrong


sys.exit(main())
