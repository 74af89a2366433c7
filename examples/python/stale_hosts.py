"""Lists the stale hosts of the account as CSV. Needs the package that openapi-python-client generates from openapi.json.

Every cell is quoted. A value that a spreadsheet would take for a formula gets a leading apostrophe. Characters that can command
a terminal or hide text, and blanks other than the ordinary one, become question marks.
"""

import csv
import os
import re
import signal
import sys
import time
from typing import NoReturn

import httpx
from monitoring_client import Client
from monitoring_client.api.monitoring import browse_fleet
from monitoring_client.models import BrowseFleetEnvelope, BrowseFleetRequest, ErrorEnvelope, FleetPage, FleetStatus
from monitoring_client.types import UNSET, Unset

# Of a service that cannot be reached, is busy or has failed, a later try may succeed.
FAILED, WRONG_USE, UNAVAILABLE = 1, 2, 4
MAX_TRIES = 6

# Without this, Ctrl-C and a reader such as head would end in a stack trace.
signal.signal(signal.SIGINT, signal.SIG_DFL)
if hasattr(signal, "SIGPIPE"):
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)


def fail(message: str, exit_code: int) -> NoReturn:
    # What others have written must not command the terminal.
    print("".join(character if character.isprintable() else "?" for character in message), file=sys.stderr)
    sys.exit(exit_code)


if not os.environ.get("APP_KEY"):
    fail("Set APP_KEY to the app key of an account", WRONG_USE)
# The generated client does not send the key in the query, so httpx adds it to every call.
client = Client(
    base_url=os.environ.get("BASE_URL") or "http://127.0.0.1:3000",
    timeout=httpx.Timeout(35),
    httpx_args={"params": {"app_key": os.environ["APP_KEY"]}},
)


# Letters, marks and symbols without ink, which isprintable() takes for printable.
BLANK = re.compile("[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u2800\u3164\ufe00-\ufe0f\uffa0\U000e0100-\U000e01ef]")


def cell(value: object) -> str:
    text = "".join(character if character.isprintable() else "?" for character in str(value))
    text = BLANK.sub("?", text)
    return re.sub(r"^([=+@-])", r"'\1", text)


def read_page(request: BrowseFleetRequest) -> FleetPage:
    for attempt in range(1, MAX_TRIES + 1):
        response = browse_fleet.sync_detailed(client=client, body=request)
        seconds = response.headers.get("Retry-After")
        if seconds is None or attempt == MAX_TRIES:
            break
        print(f"trying again in {seconds} s", file=sys.stderr)
        time.sleep(int(seconds))
    if isinstance(response.parsed, BrowseFleetEnvelope):
        return response.parsed.data
    status = int(response.status_code)
    if isinstance(response.parsed, ErrorEnvelope):
        text = f"{response.parsed.error.code}: {response.parsed.error.message}"
    else:
        text = f"The service answered {status} without an envelope: check BASE_URL"
    fail(text, UNAVAILABLE if status == 429 or status >= 500 else FAILED)


writer = csv.writer(sys.stdout, quoting=csv.QUOTE_ALL)
writer.writerow(["host_id", "edge_cluster", "agent_version", "max_age_ms"])
cursor: str | Unset = UNSET
while True:
    try:
        page = read_page(BrowseFleetRequest(limit=100, statuses=[FleetStatus.STALE], cursor=cursor))
    except (httpx.InvalidURL, httpx.UnsupportedProtocol) as error:
        fail(f"BASE_URL is no address: {error}", WRONG_USE)
    except httpx.TransportError as error:
        fail(f"No answer from {client.get_httpx_client().base_url}: {error}", UNAVAILABLE)
    except ValueError:
        fail("The answer is not as openapi.json says: check BASE_URL, or generate the client again", FAILED)
    for host in page.items:
        row = [host.host_id, host.edge_cluster, host.agent_version, host.servicemap.max_age_ms or ""]
        writer.writerow(map(cell, row))
    if page.next_cursor is UNSET:
        break
    cursor = page.next_cursor
