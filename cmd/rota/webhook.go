package main

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/httpapi"
)

func newWebhookCommand(a *app) *cobra.Command {
	return newParentCommand("webhook", "Webhooks: addresses that are told of what happens",
		newWebhookListCommand(a), newWebhookAddCommand(a), newWebhookRemoveCommand(a), newWebhookTestCommand(a), newWebhookDeliveriesCommand(a))
}

// webhookList are the webhooks of a template, or those that are told of everything.
type webhookList struct {
	template string
	list     []httpapi.Webhook
	version  httpapi.ID // of those that are told of everything
}

func (h *webhookList) flag(a *app, cmd *cobra.Command) {
	cmd.Flags().StringVar(&h.template, "template", "", "of the jobs made from this template `NAME` alone")
	a.completeFlagNames(cmd, "template", "/templates", "name")
}

// read asks the server for them.
func (h *webhookList) read(ctx context.Context, a *app) error {
	path := "/webhooks"
	if h.template != "" {
		path = "/templates" + pathSegment(h.template)
	}
	answer, err := a.get(ctx, path, nil)
	if err != nil {
		return err
	}
	found, err := decode[httpapi.Webhooks](answer)
	h.list, h.version = found.Webhooks, found.Version
	return err
}

// write sets them all. A change of a template takes no version, so that of two at once the later one stands.
func (h *webhookList) write(ctx context.Context, a *app, all []httpapi.WebhookRequest) (json.RawMessage, error) {
	if h.template != "" {
		return a.call(ctx, request{method: http.MethodPatch, path: "/templates" + pathSegment(h.template), body: map[string]any{"webhooks": all}})
	}
	return a.call(ctx, request{method: http.MethodPut, path: "/webhooks", body: httpapi.WebhooksRequest{Webhooks: all, Version: h.version}})
}

// find is the place of an address, -1 if it has none.
func (h *webhookList) find(url string) int {
	return slices.IndexFunc(h.list, func(w httpapi.Webhook) bool { return w.URL == url })
}

// requests are the webhooks as they are sent back: without their secrets, which the server keeps.
func (h *webhookList) requests() []httpapi.WebhookRequest {
	all := make([]httpapi.WebhookRequest, len(h.list))
	for i, w := range h.list {
		all[i] = httpapi.WebhookRequest{URL: w.URL, Events: w.Events}
	}
	return all
}

// scopeText is whose events are told, if not everybody's.
func (h *webhookList) scopeText() string {
	if h.template != "" {
		return " of the jobs of template " + h.template
	}
	return ""
}

// notFound says that an address is none of them.
func (h *webhookList) notFound(url, hint string) error {
	return &exitError{code: exitNotFound, err: fmt.Errorf("there is no webhook %s%s", shortened(url), h.scopeText()), hint: hint}
}

// hintTemplates names where an address may be that was looked for in vain.
const hintTemplates = "rota webhook list shows those there are, and of which template"

// eventsAll stands for every event, in flags and in tables. The server is told of it by naming none.
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
	cmd := &cobra.Command{
		Use: "remove URL", Short: "Takes a webhook away", Args: requireArgs("a URL"),
		Long: `Takes a webhook away. What it was not told yet it is not told any more.` + templateWarning,
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
			return h.notFound(args[0], hintTemplates)
		}
		answer, err := h.write(cmd.Context(), a, slices.Delete(h.requests(), at, at+1))
		if err != nil {
			return err
		}
		return a.printMessage(answer, "took away webhook %s%s", args[0], h.scopeText())
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
