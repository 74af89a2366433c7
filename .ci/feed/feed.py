"""Tries the ingest queue of `npm start` with boto3: a host that is sent is listed, late records change nothing, a retired host is gone."""

import json
import os
import time
import urllib.error
import urllib.request

import boto3

feed = os.environ["FEED"]
sqs = boto3.client(
    "sqs",
    endpoint_url=feed.rsplit("/", 2)[0],
    region_name="local",
    aws_access_key_id="any",
    aws_secret_access_key="any",
)
HOST = {
    "kind": "host",
    "account_id": 1,
    "host_id": "boto3-0001",
    "agent_version": "4.12.0",
    "edge_cluster": "boto3",
    "enabled": True,
    "snapshot_ready": True,
}


def send(*records: dict) -> float:
    body = "\n".join(json.dumps(record) for record in records)
    sqs.send_message(QueueUrl=feed, MessageBody=body, MessageGroupId="1")
    return time.monotonic()


def fleet() -> tuple[list[str], int]:
    """The version of the host, if it is in the fleet, and how many hosts there are. Repeats a call that the rate limit refuses."""
    url = f"{os.environ['BASE_URL']}/monit/servicemap/fleet?app_key={os.environ['APP_KEY']}"
    body = json.dumps({"edge_clusters": ["boto3"], "scan_limit": 1000}).encode()
    request = urllib.request.Request(url, body, {"Content-Type": "application/json"})
    while True:
        try:
            with urllib.request.urlopen(request) as answer:
                data = json.load(answer)["data"]
                return [item["agent_version"] for item in data["items"]], data["coverage"]["scanned"]
        except urllib.error.HTTPError as error:
            if error.code not in (429, 503):
                raise
            time.sleep(0.2)


def wait_for(expected: tuple[list[str], int], sent: float, within: float) -> None:
    while (found := fleet()) != expected:
        assert time.monotonic() - sent < within, f"{found} instead of {expected} after {within} s"
    print(f"{expected} after {time.monotonic() - sent:.1f} s")


def stays(expected: tuple[list[str], int]) -> None:
    """Asserts that the fleet is as expected once the queue is empty."""
    names = ["ApproximateNumberOfMessages", "ApproximateNumberOfMessagesNotVisible"]
    while any(int(n) for n in sqs.get_queue_attributes(QueueUrl=feed, AttributeNames=names)["Attributes"].values()):
        time.sleep(0.1)
    assert (found := fleet()) == expected, f"{found} instead of {expected}"


now = time.time_ns() // 1_000_000
assert sqs.get_queue_url(QueueName=feed.rsplit("/", 1)[1])["QueueUrl"] == feed
none, hosts = fleet()
assert none == []
wait_for((["4.12.0"], hosts + 1), send({**HOST, "at_ms": now}), within=2)
send({**HOST, "agent_version": "4.0.0", "at_ms": now - 60_000})
stays((["4.12.0"], hosts + 1))
batch = [{"Id": "1", "MessageBody": json.dumps({**HOST, "agent_version": "4.13.0"}), "MessageGroupId": "1"}]
assert "Failed" not in sqs.send_message_batch(QueueUrl=feed, Entries=batch)
wait_for((["4.13.0"], hosts + 1), time.monotonic(), within=5)
wait_for(([], hosts), send({"kind": "host", "account_id": 1, "host_id": HOST["host_id"], "retired": True}), within=5)
send({**HOST, "at_ms": now})
stays(([], hosts))
