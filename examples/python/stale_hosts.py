"""Lists the stale hosts of the account as CSV. Needs the package that openapi-python-client generates from openapi.json.

Every cell is quoted. A value that a spreadsheet would take for a formula gets a leading apostrophe. Characters that can command
a terminal or hide text, and blanks other than the ordinary one, become question marks.
"""

import csv
import os
import re
import sys
import time

from monitoring_client import Client
from monitoring_client.api.monitoring import browse_fleet
from monitoring_client.models import BrowseFleetRequest, BrowseFleetEnvelope, FleetStatus
from monitoring_client.types import UNSET

# The generated client does not send the key in the query, so httpx adds it to every call.
client = Client(
    base_url=os.environ.get("BASE_URL") or "http://127.0.0.1:3000",
    httpx_args={"params": {"app_key": os.environ["APP_KEY"]}},
)


# Letters, marks and symbols without ink, which isprintable() takes for printable.
BLANK = re.compile("[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u2800\u3164\ufe00-\ufe0f\uffa0\U000e0100-\U000e01ef]")


def cell(value: object) -> str:
    text = "".join(character if character.isprintable() else "?" for character in str(value))
    text = BLANK.sub("?", text)
    return re.sub(r"^([=+@-])", r"'\1", text)


writer = csv.writer(sys.stdout, quoting=csv.QUOTE_ALL)
writer.writerow(["host_id", "edge_cluster", "agent_version", "max_age_ms"])
cursor = UNSET
while True:
    request = BrowseFleetRequest(limit=100, statuses=[FleetStatus.STALE], cursor=cursor)
    response = browse_fleet.sync_detailed(client=client, body=request)
    if response.status_code in (429, 503):
        seconds = int(response.headers["Retry-After"])
        print(f"waiting {seconds} s", file=sys.stderr)
        time.sleep(seconds)
        continue
    if not isinstance(response.parsed, BrowseFleetEnvelope):
        sys.exit(f"{response.status_code}: {response.content.decode()}")
    page = response.parsed.data
    for host in page.items:
        row = [host.host_id, host.edge_cluster, host.agent_version, host.servicemap.max_age_ms or ""]
        writer.writerow(map(cell, row))
    if page.next_cursor is UNSET:
        break
    cursor = page.next_cursor
