package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/httpapi"
)

func newWebhookCommand(a *app) *cobra.Command {
	return newNoun("webhook", "Webhooks: addresses that are told of what happens",
		newWebhookListCommand(a), newWebhookAddCommand(a), newWebhookRemoveCommand(a), newWebhookTestCommand(a), newWebhookDeliveriesCommand(a))
}

// hooks are the webhooks of a template, or those that are told of everything.
type hooks struct {
	template string
	list     []httpapi.Webhook
	version  httpapi.ID // of those that are told of everything
}

func (h *hooks) flag(a *app, cmd *cobra.Command) {
	cmd.Flags().StringVar(&h.template, "template", "", "of the jobs made from this template `NAME` alone")
	a.completeFlagNames(cmd, "template", "/templates", "name")
}

// read asks the server for them.
func (h *hooks) read(ctx context.Context, a *app) error {
	path := "/webhooks"
	if h.template != "" {
		path = "/templates" + segment(h.template)
	}
	answer, err := a.get(ctx, path, nil)
	if err != nil {
		return err
	}
	found, err := decode[httpapi.Webhooks](answer)
	h.list, h.version = found.Webhooks, found.Version
	return err
}

// write sets them all. Those of a template have no version of their own: the server reads and changes it in one go.
func (h *hooks) write(ctx context.Context, a *app, all []httpapi.WebhookRequest) (json.RawMessage, error) {
	if h.template != "" {
		return a.call(ctx, request{method: http.MethodPatch, path: "/templates" + segment(h.template), body: map[string]any{"webhooks": all}})
	}
	return a.call(ctx, request{method: http.MethodPut, path: "/webhooks", body: httpapi.WebhooksRequest{Webhooks: all, Version: h.version}})
}

// find is the place of an address, -1 if it has none.
func (h *hooks) find(url string) int {
	return slices.IndexFunc(h.list, func(w httpapi.Webhook) bool { return w.URL == url })
}

// requests are the webhooks as they are sent back: without their secrets, which the server keeps.
func (h *hooks) requests() []httpapi.WebhookRequest {
	all := make([]httpapi.WebhookRequest, len(h.list))
	for i, w := range h.list {
		all[i] = httpapi.WebhookRequest{URL: w.URL, Events: w.Events}
	}
	return all
}

func (h *hooks) of() string {
	if h.template != "" {
		return "the jobs of template " + h.template
	}
	return "everything"
}

// within is whose events are told, if not everybody's.
func (h *hooks) within() string {
	if h.template != "" {
		return " of " + h.of()
	}
	return ""
}

func newWebhookListCommand(a *app) *cobra.Command {
	var h hooks
	cmd := &cobra.Command{
		Use: "list", Short: "Lists webhooks and what they are told of", Args: nothing(),
		Long: `Lists the webhooks that are told of everything, or with --template those of a template. Secrets are not shown.`,
		Example: `  rota webhook list
  rota webhook list --template report`,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := h.read(cmd.Context(), a); err != nil {
				return err
			}
			return a.print(map[string]any{"webhooks": h.list}, func(w io.Writer) error {
				if len(h.list) == 0 {
					_, err := fmt.Fprintln(w, "no webhooks; make one with rota webhook add")
					return err
				}
				t := newTable("URL", "~EVENTS")
				for _, hook := range h.list {
					t.add(hook.URL, eventsText(hook.Events))
				}
				return a.printTable(w, t)
			})
		},
	}
	h.flag(a, cmd)
	return cmd
}

func eventsText(events []string) string {
	if len(events) == 0 {
		return "all"
	}
	return strings.Join(events, ", ")
}

func eventNames() []string {
	names := make([]string, len(rota.WebhookEvents))
	for i, kind := range rota.WebhookEvents {
		names[i] = string(kind)
	}
	return names
}

func newWebhookRemoveCommand(a *app) *cobra.Command {
	var h hooks
	cmd := &cobra.Command{
		Use: "remove URL", Short: "Takes a webhook away", Args: wants("a URL"),
		Long: `Takes a webhook away. What it was not told yet it is not told any more.`,
		Example: `  rota webhook remove https://example.com/hooks/rota
  rota webhook remove https://example.com/hooks/rota --template report`,
		ValidArgsFunction: a.completeWebhooks(&h),
	}
	h.flag(a, cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if err := h.read(cmd.Context(), a); err != nil {
			return err
		}
		at := h.find(args[0])
		if at < 0 {
			return &exitError{
				code: exitNotFound, err: fmt.Errorf("there is no webhook %s%s", shortened(args[0]), h.within()),
				hint: "rota webhook list shows those there are",
			}
		}
		answer, err := h.write(cmd.Context(), a, slices.Delete(h.requests(), at, at+1))
		if err != nil {
			return err
		}
		return a.say(answer, "%s is told of %s no more", args[0], h.of())
	}
	return cmd
}

func (a *app) completeWebhooks(h *hooks) cobra.CompletionFunc {
	return func(cmd *cobra.Command, args []string, _ string) (urls []string, _ cobra.ShellCompDirective) {
		ctx, stop := context.WithTimeout(context.Background(), patience)
		defer stop()
		if len(args) == 0 && h.read(ctx, a) == nil {
			for _, hook := range h.list {
				urls = append(urls, hook.URL)
			}
		}
		return urls, cobra.ShellCompDirectiveNoFileComp
	}
}

func newWebhookTestCommand(a *app) *cobra.Command {
	var h hooks
	secret := ""
	cmd := &cobra.Command{
		Use: "test URL", Short: "Sends a test to a webhook and says what came of it", Args: wants("a URL"),
		Long: `Has the server send one signed request with the event webhook.test. The address need not be a webhook yet: give
--secret then.`,
		Example:           `  rota webhook test https://example.com/hooks/rota`,
		ValidArgsFunction: a.completeWebhooks(&h),
	}
	h.flag(a, cmd)
	secretFlag(cmd, &secret, "sign it with this `SECRET`, @FILE or - for standard input")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		text, err := a.secretText(secret)
		if err != nil {
			return err
		}
		answer, err := a.post(cmd.Context(), "/webhooks/test", httpapi.WebhookTestRequest{URL: args[0], Secret: text, Template: h.template})
		if err != nil {
			return err
		}
		tested, err := decode[httpapi.WebhookTested](answer)
		if err != nil {
			return err
		}
		if tested.Delivered {
			return a.say(answer, "it was taken, with %d, in %d ms", *tested.Status, tested.DurationMS)
		}
		if err := a.say(answer, "it was not taken"); err != nil {
			return err
		}
		return &exitError{code: exitFailed, err: fmt.Errorf("%s", plainText(string(tested.Error)))}
	}
	return cmd
}

func newWebhookDeliveriesCommand(a *app) *cobra.Command {
	var l listing
	f := filters{}
	cmd := &cobra.Command{
		Use: "deliveries", Short: "Lists deliveries to webhooks, newest first", Args: nothing(),
		Long: `Lists deliveries. They are jobs of type ` + rota.TypeWebhook + `, which other lists leave out: rota job show, retry and explain
take their ids, and rota dead list --type ` + rota.TypeWebhook + ` shows those that were given up.`,
		Example: `  rota webhook deliveries
  rota webhook deliveries --state failed`,
	}
	f.add(cmd, "state", "only those in this `STATE`", "scheduled", "queued", "running", "completed", "failed", "cancelled")
	l.flags(cmd)
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		query := f.query()
		query.Set("type", rota.TypeWebhook)
		found, err := a.list(cmd.Context(), "/jobs", query, l)
		if err != nil {
			return err
		}
		t := newTable("ID", "EVENT", "!STATE", "ATTEMPT", "SINCE", "~URL", "~ERROR").spare("SINCE", "ATTEMPT", "ERROR")
		return printPage(a, found, "no deliveries", t, func(j httpapi.Job) []string {
			d, _ := rota.ParseDelivery(j.Params) // what is none has neither event nor address
			return []string{j.ID.String(), string(d.Event), j.State, fmt.Sprintf("%d/%d", j.Attempt, j.MaxAttempts), a.ago(j.CreatedAt.Time), d.URL, runError(j)}
		})
	}
	return cmd
}
