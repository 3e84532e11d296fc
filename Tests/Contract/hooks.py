"""What schemathesis has to know beyond docs/openapi.yaml to reach a daemon's depths without waiting for minutes."""
import random
import re

import schemathesis

# Only what is right is replaced: a wrong value has to stay wrong, or the test takes our answer for a mistake.
ID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}")
LANE = re.compile(r"[!-~]{1,64}")

# Transactions that the daemon has made in this run: a path with an unknown id shows little.
known = []


@schemathesis.hook
def map_headers(context, headers):
    # A wait is real: ten minutes of it would be a hang for a test.
    if headers and str(headers.get("Prefer", "")).startswith("wait="):
        headers["Prefer"] = "wait=1"
    return headers


@schemathesis.hook
def map_query(context, query):
    if query and re.fullmatch("[0-9]{1,3}", str(query.get("wait", ""))) and int(query["wait"]) <= 600:
        query["wait"] = "1"
    return query


@schemathesis.hook
def map_path_parameters(context, path_parameters):
    if path_parameters and ID.fullmatch(str(path_parameters.get("id", ""))) and known and random.random() < 0.7:
        path_parameters["id"] = random.choice(known)
    if path_parameters and LANE.fullmatch(str(path_parameters.get("lane", ""))) and random.random() < 0.7:
        path_parameters["lane"] = random.choice(["main", "lane-2"])
    return path_parameters


@schemathesis.hook
def map_body(context, body):
    # Lanes by their names, and cards that are not waited for.
    if isinstance(body, dict):
        if LANE.fullmatch(str(body.get("lane", ""))) and random.random() < 0.9:
            body["lane"] = random.choice(["main", "lane-2"])
        if isinstance(body.get("deadline"), int) and 1 <= body["deadline"] <= 600:
            body["deadline"] = 1
    return body


@schemathesis.hook
def after_call(context, case, response):
    if response.status_code == 201:
        try:
            known.append(response.json()["id"])
        except (ValueError, KeyError, TypeError):
            pass
