package main

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"net/url"

	"github.com/spf13/cobra"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/api"
)

// listedHook is a webhook and its template, in the output as JSON.
type listedHook struct {
	api.Webhook
	Template api.Text `json:"template"` // null for a global webhook
}

func newWebhookListCommand(a *app) *cobra.Command {
	var h webhookList
	cmd := &cobra.Command{
		Use: "list", Short: "List webhooks and their events", Args: noArgs(),
		Long: `List the global webhooks, then those of templates; with --template only those of one template. Secrets are not
shown.`,
		Example: `  rota webhook list
  rota webhook list --template report`,
		RunE: func(cmd *cobra.Command, _ []string) error {
			found, err := h.listed(cmd.Context(), a)
			if err != nil {
				return err
			}
			t := newTable("URL", "^TEMPLATE", "~EVENTS").orElse("no webhooks; add one with rota webhook add")
			for _, hook := range found {
				t.add(hook.URL, cmp.Or(string(hook.Template), "-"), eventsText(hook.Events))
			}
			return a.print(map[string]any{"webhooks": found}, func(w io.Writer) { a.printTable(w, t) })
		},
	}
	h.flag(a, cmd)
	return cmd
}

// listed returns the webhooks of --template, or all.
func (h *webhookList) listed(ctx context.Context, a *app) ([]listedHook, error) {
	if err := h.read(ctx, a); err != nil {
		return nil, err
	}
	found := appendHooks([]listedHook{}, h.list, h.template)
	if h.template != "" {
		return found, nil
	}
	templates, err := a.list(ctx, "/templates", nil, listFlags{})
	if err != nil {
		return nil, err
	}
	for _, item := range templates.Items {
		t, err := decode[api.Template](item)
		if err != nil {
			return nil, err
		}
		found = appendHooks(found, t.Webhooks, t.Name)
	}
	return found, nil
}

func appendHooks(found []listedHook, list []api.Webhook, template string) []listedHook {
	for _, hook := range list {
		found = append(found, listedHook{hook, api.Text(template)})
	}
	return found
}

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
	return cmp.Or(d.Schedule, "-")
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
