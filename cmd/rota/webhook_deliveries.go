package main

import (
	"fmt"
	"net/url"

	"github.com/spf13/cobra"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/api"
)

func newWebhookDeliveriesCommand(a *app) *cobra.Command {
	f := filters{}
	cmd := &cobra.Command{
		Use: "deliveries", Short: "List deliveries to webhooks, newest first",
		Long: `List each delivery attempt: the event, its job or schedule, and the time of the next attempt. Deliveries are jobs of
type ` + rota.TypeWebhook + `, which other lists leave out. rota job show, retry and explain accept their ids, and
rota dead list --type ` + rota.TypeWebhook + ` shows failed deliveries.`,
		Example: `  rota webhook deliveries
  rota webhook deliveries --state failed
  rota webhook deliveries --state scheduled     # waiting for the next attempt`,
	}
	f.add(cmd, "state", "only deliveries in this `STATE`", "scheduled", "queued", "running", "completed", "failed", "cancelled")
	return listing[api.Job]{
		path: "/jobs", filters: f, prepare: func(query url.Values) { query.Set("type", rota.TypeWebhook) }, none: "no deliveries",
		heads: []string{"ID", "EVENT", "ABOUT", "!STATE", "ATTEMPT", "NEXT TRY", "SINCE", "~URL", "~ERROR"},
		drop:  []string{"SINCE", "ERROR", "ATTEMPT", "NEXT TRY", "ABOUT"},
		row: func(j api.Job) []string {
			d, _ := rota.ParseDelivery(j.Params) // invalid params show no event and no URL
			return []string{
				j.ID.String(), string(d.Event), subjectOf(&d), j.State, fmt.Sprintf("%d/%d", j.Attempt, j.MaxAttempts), a.nextAttempt(j), a.jobSince(j), d.URL, runError(j),
			}
		},
	}.command(a, cmd)
}

// subjectOf returns the id or name of the object that the event is about.
func subjectOf(d *rota.Delivery) string {
	for _, id := range []*rota.ID{d.JobID, d.GroupID, d.ReservationID} {
		if id != nil {
			return id.String()
		}
	}
	return firstNonEmpty(d.Schedule, "-")
}

// nextAttempt formats the start of a waiting attempt. An attempt that ended has none: its retry is another line of the
// list.
func (a *app) nextAttempt(j api.Job) string {
	switch rota.State(j.State) {
	case rota.StateScheduled:
		return a.ago(j.RunAt.Time)
	case rota.StateQueued:
		return "now"
	}
	return "-"
}
