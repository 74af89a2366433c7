"""What Schemathesis needs to know about the service: the app keys, and why a valid request may be refused."""

import itertools
import json
import os

import schemathesis
from schemathesis import GenerationMode

# Fleet browse allows an account two calls a second, so each call has the app key of another account.
KEYS = itertools.cycle(os.environ["APP_KEYS"].split())


@schemathesis.serializer("application/x-ndjson", "application/ndjson", "application/jsonl")
def lines(ctx, value):
    return (value if isinstance(value, str) else json.dumps(value)).encode(errors="surrogatepass")


# For each operation, the code and the first word of the message of a refusal that a valid request may get.
REFUSALS = json.loads(os.environ["REFUSALS"])


@schemathesis.auth(refresh_interval=None)
class NextAccount:
    def get(self, case, context):
        return next(KEYS)

    def set(self, case, data, context):
        case.query = {**(case.query or {}), "app_key": data}


@schemathesis.check
def valid_request_refused_for_a_listed_reason(ctx, response, case):
    if response.status_code != 400 or case.meta is None or case.meta.generation.mode != GenerationMode.POSITIVE:
        return
    error = response.json()["error"]
    refusals = REFUSALS[case.operation.definition.raw["operationId"]]
    assert any(error["code"] == code and error["message"].startswith(text) for code, text in refusals), error
