package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/api"
	"github.com/rotajobs/rota/internal/apiclient"
)

func newWebhookCommand(a *app) *cobra.Command {
	return newParentCommand("webhook", "List, add, remove and test webhooks",
		newWebhookListCommand(a), newWebhookAddCommand(a), newWebhookRemoveCommand(a), newWebhookTestCommand(a), newWebhookDeliveriesCommand(a))
}

// webhookList holds the webhooks of a template, or the global ones, which receive the events of all jobs.
type webhookList struct {
	template string
	list     []api.Webhook
	version  api.ID // version of the global webhooks
}

func (h *webhookList) flag(a *app, cmd *cobra.Command) {
	cmd.Flags().StringVar(&h.template, "template", "", "use the webhooks of the template `NAME`, which receive events of its jobs only")
	refuseEmpty(cmd, "template")
}

// read reads the webhooks from the server.
func (h *webhookList) read(ctx context.Context, a *app) error {
	path := "/webhooks"
	if h.template != "" {
		path = "/templates" + pathSegment(h.template)
	}
	found, _, err := fetch[api.Webhooks](ctx, a, newGet(path))
	h.list, h.version = found.Webhooks, found.Version
	return err
}

// write replaces all webhooks. A template has no version, so that of two concurrent changes the later one wins.
func (h *webhookList) write(ctx context.Context, a *app, all []api.WebhookRequest) (json.RawMessage, error) {
	if h.template != "" {
		return a.call(ctx, apiclient.Request{Method: http.MethodPatch, Path: "/templates" + pathSegment(h.template), Body: map[string]any{"webhooks": all}})
	}
	return a.call(ctx, apiclient.Request{Method: http.MethodPut, Path: "/webhooks", Body: api.WebhooksRequest{Webhooks: all, Version: h.version}})
}

// find returns the index of a URL, or -1.
func (h *webhookList) find(url string) int {
	return slices.IndexFunc(h.list, func(w api.Webhook) bool { return w.URL == url })
}

// requests returns the webhooks in the form of a request, without secrets; the server keeps those.
func (h *webhookList) requests() []api.WebhookRequest {
	all := make([]api.WebhookRequest, len(h.list))
	for i, w := range h.list {
		all[i] = api.WebhookRequest{URL: w.URL, Events: w.Events}
	}
	return all
}

// scopeText names the template in messages; it is empty for global webhooks.
func (h *webhookList) scopeText() string {
	if h.template != "" {
		return " of the jobs of template " + h.template
	}
	return ""
}

// notFound is the error for an unknown URL.
func (h *webhookList) notFound(url, hint string) error {
	return failf(exitNotFound, hint, "there is no webhook %s%s", shortened(url), h.scopeText())
}

// hintTemplates is the hint for an unknown URL, which may belong to a template.
const hintTemplates = "rota webhook list shows all webhooks and their templates"

// eventsAll means every event in flags and tables. Requests use an empty list for it.
const eventsAll = "all"

func eventsText(events []string) string {
	if len(events) == 0 {
		return eventsAll
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
	var h webhookList
	yes := false
	cmd := &cobra.Command{
		Use: "remove URL", Short: "Remove a webhook", Args: requireArgs("a URL"), Aliases: []string{"delete", "rm"},
		Long: `Remove a webhook. Events that were not delivered yet are not delivered.` + templateWarning,
		Example: `  rota webhook remove https://example.com/hooks/rota
  rota webhook remove https://example.com/hooks/rota --template report`,
		ValidArgsFunction: a.completeWebhooks(&h),
	}
	h.flag(a, cmd)
	yesFlag(cmd, &yes)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if err := h.read(cmd.Context(), a); err != nil {
			return err
		}
		at := h.find(args[0])
		if at < 0 {
			return h.notFound(args[0], hintTemplates)
		}
		if err := a.confirmDelete(yes, "Remove webhook %s%s and its undelivered events?", args[0], h.scopeText()); err != nil {
			return err
		}
		answer, err := h.write(cmd.Context(), a, slices.Delete(h.requests(), at, at+1))
		if err != nil {
			return err
		}
		return a.printMessage(answer, "removed webhook %s%s", args[0], h.scopeText())
	}
	return cmd
}

func (a *app) completeWebhooks(h *webhookList) cobra.CompletionFunc {
	return func(cmd *cobra.Command, args []string, _ string) (urls []string, _ cobra.ShellCompDirective) {
		ctx, stop := context.WithTimeout(context.Background(), completionTimeout)
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
	var h webhookList
	secret := ""
	cmd := &cobra.Command{
		Use: "test URL", Short: "Send a test event to a webhook and print the result", Args: requireArgs("a URL"),
		Long: `Let the server send one signed request with the event webhook.test. If the receiver refuses it, print the beginning of
its answer. URL need not be a webhook yet; then --secret is required.`,
		Example: `  rota webhook test https://example.com/hooks/rota
  rota webhook test https://example.com/hooks/new --secret @secret.txt`,
		ValidArgsFunction: a.completeWebhooks(&h),
	}
	h.flag(a, cmd)
	secretFlag(cmd, &secret, "sign the request with this `SECRET`, @FILE or - for standard input")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		text, err := a.secretText(secret)
		if err != nil {
			return err
		}
		body := api.WebhookTestRequest{URL: args[0], Secret: text, Template: h.template}
		tested, answer, err := fetch[api.WebhookTested](cmd.Context(), a, newPost("/webhooks/test", body))
		if text == "" && isUsageErrorOf(err, "secret") {
			return h.notFound(args[0], hintTemplates+"; to test another URL, add --secret SECRET")
		}
		if err != nil {
			return err
		}
		if tested.Delivered {
			return a.printMessage(answer, "delivered: status %d in %d ms", *tested.Status, tested.DurationMS)
		}
		if err := a.printMessage(answer, "not delivered%s", responseText(tested.Body)); err != nil {
			return err
		}
		return &exitError{code: exitFailed, err: errors.New(sanitize(string(tested.Error)))}
	}
	return cmd
}

// responseText is the beginning of the receiver's answer, which often has the reason.
func responseText(body api.Text) string {
	if body == "" {
		return ""
	}
	return fmt.Sprintf("; the receiver answered: %s", body)
}
