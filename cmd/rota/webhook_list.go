package main

import (
	"context"
	"io"

	"github.com/rotajobs/rota/api"
	"github.com/spf13/cobra"
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
				t.add(hook.URL, firstNonEmpty(string(hook.Template), "-"), eventsText(hook.Events))
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
