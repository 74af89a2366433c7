"""Reads and writes with the client that openapi-python-client generates. Two calls fail, as they should."""

import os

from monitoring_client import Client
from monitoring_client.api.incidents import delete_work_item, merge_alerts
from monitoring_client.api.monitoring import browse_fleet
from monitoring_client.api.rum import get_rum_resource
from monitoring_client.models import (
    BrowseFleetEnvelope, BrowseFleetRequest, DeleteWorkItemEnvelope, DeleteWorkItemRequest, ErrorCode, ErrorEnvelope,
    FleetStatus, GetRumResourceEnvelope, GetRumResourceRequest, MergeAlertsEnvelope, MergeAlertsRequest,
)


def client_of(app_key: str) -> Client:
    return Client(base_url=os.environ["BASE_URL"], httpx_args={"params": {"app_key": app_key}})


client = client_of(os.environ["APP_KEY"])
fleet = browse_fleet.sync(client=client, body=BrowseFleetRequest(limit=1, statuses=[FleetStatus.STALE]))
assert isinstance(fleet, BrowseFleetEnvelope) and fleet.data.items[0].servicemap.status == FleetStatus.STALE, fleet
rum = get_rum_resource.sync(client=client, body=GetRumResourceRequest())
assert isinstance(rum, GetRumResourceEnvelope) and rum.data.product == "rum" and rum.data.action_days == 30, rum
deleted = delete_work_item.sync(client=client, body=DeleteWorkItemRequest(work_item_id="wi-1005", version=1))
assert isinstance(deleted, DeleteWorkItemEnvelope), deleted
merge = MergeAlertsRequest(alert_ids=os.environ["ALERTS"].split(), incident_id=os.environ["INCIDENT"])
merged = merge_alerts.sync(client=client, body=merge, idempotency_key="openapi-python-client")
assert isinstance(merged, MergeAlertsEnvelope) and merged.data is None, merged

refused = get_rum_resource.sync(client=client_of("wrong"), body=GetRumResourceRequest())
assert isinstance(refused, ErrorEnvelope) and refused.error.code == ErrorCode.UNAUTHORIZED, refused
missing = delete_work_item.sync(client=client, body=DeleteWorkItemRequest(work_item_id="none", version=1))
assert isinstance(missing, ErrorEnvelope) and missing.error.code == ErrorCode.RESOURCENOTFOUND, missing
