// Calls the service with the client that oapi-codegen generates.
package main

import (
	"context"
	"net/http"
	"os"
	"strings"

	"example.test/calls/api"
)

func clientOf(key string) *api.ClientWithResponses {
	client, err := api.NewClientWithResponses(os.Getenv("BASE_URL"), api.WithRequestEditorFn(
		func(_ context.Context, request *http.Request) error {
			query := request.URL.Query()
			query.Set("app_key", key)
			request.URL.RawQuery = query.Encode()
			return nil
		}))
	must(err == nil, "client")
	return client
}

func must(holds bool, what string) {
	if !holds {
		panic(what)
	}
}

func main() {
	ctx := context.Background()
	client := clientOf(os.Getenv("APP_KEY"))
	limit := 1
	statuses := []api.FleetStatus{api.FleetStatusStale}

	fleet, err := client.BrowseFleetWithResponse(ctx, nil, api.BrowseFleetRequest{Limit: &limit, Statuses: &statuses})
	must(err == nil && fleet.JSON200 != nil, "fleet")
	var host api.ServiceMapFleetHost = fleet.JSON200.Data.Items[0]
	must(host.Servicemap.Status == api.FleetStatusStale, "status")
	rum, err := client.GetRumResourceWithResponse(ctx, nil, api.GetRumResourceRequest{})
	must(err == nil && rum.JSON200 != nil && rum.JSON200.Data.Product == "rum", "rum")
	deleted, err := client.DeleteWorkItemWithResponse(ctx, nil, api.DeleteWorkItemRequest{WorkItemId: "wi-1001", Version: 1})
	must(err == nil && deleted.JSON200 != nil, "delete")
	key := "oapi-codegen"
	merge := api.MergeAlertsRequest{AlertIds: strings.Fields(os.Getenv("ALERTS")), IncidentId: os.Getenv("INCIDENT")}
	merged, err := client.MergeAlertsWithResponse(ctx, &api.MergeAlertsParams{IdempotencyKey: &key}, merge)
	must(err == nil && merged.JSON200 != nil, "merge")

	unknown, err := clientOf("wrong").GetRumResourceWithResponse(ctx, nil, api.GetRumResourceRequest{})
	must(err == nil && unknown.JSON401 != nil && unknown.JSON401.Error.Code == api.ErrorCodeUnauthorized, "Unauthorized")
	missing, err := client.DeleteWorkItemWithResponse(ctx, nil, api.DeleteWorkItemRequest{WorkItemId: "none", Version: 1})
	must(err == nil && missing.JSON400 != nil && missing.JSON400.Error.Code == api.ErrorCodeResourceNotFound, "ResourceNotFound")
	merge.AlertIds = []string{}
	empty, err := client.MergeAlertsWithResponse(ctx, nil, merge)
	must(err == nil && empty.JSON400 != nil && empty.JSON400.Error.Code == api.ErrorCodeInvalidParameter, "InvalidParameter")
}
