package main

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/rotajobs/rota/api"
	"github.com/spf13/cobra"
)

func newWebhookAddCommand(a *app) *cobra.Command {
	var h webhookList
	var events []string
	secret := ""
	cmd := &cobra.Command{
		Use: "add URL", Short: "Add a webhook, or change its events or secret", Args: requireArgs("a URL"),
		Long: `Add a webhook that receives events of all jobs, or with --template of the jobs of a template. Deliveries are signed.
Without --secret the command generates a secret and prints it once. If the URL is a webhook already, the command
changes only what the flags name: without --event it keeps its events, without --secret its secret.` + templateWarning,
		Example: `  rota webhook add https://example.com/hooks/rota --event job.dead --event schedule.missed
  rota webhook add https://example.com/hooks/rota --secret @new.txt     # keep its events
  rota webhook add https://example.com/hooks/rota --event all
  rota webhook add https://example.com/hooks/rota --template report --secret @secret.txt`,
	}
	h.flag(a, cmd)
	cmd.Flags().StringSliceVar(&events, "event", nil, "deliver this `EVENT`, such as job.dead, or all (repeatable; default: all, or the events it has)")
	completeFrom(cmd, "event", append(eventNames(), eventsAll))
	secretFlag(cmd, &secret, "sign deliveries with this `SECRET`, @FILE or - for standard input (default: a generated one, or the one it has)")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		text, err := a.secretText(secret)
		if err != nil {
			return err
		}
		kept := !cmd.Flags().Changed("event")
		if !kept {
			if events, err = parseEvents(events); err != nil {
				return err
			}
		}
		if err := h.read(cmd.Context(), a); err != nil {
			return err
		}
		hook, made := api.WebhookRequest{URL: args[0], Events: events}, ""
		if at := h.find(args[0]); at >= 0 && kept {
			hook.Events = h.list[at].Events
		} else if at < 0 && text == "" {
			made = "whsec_" + rand.Text() + rand.Text()
			text = made
		}
		if text != "" {
			hook.Secret = api.Some(text)
		}
		if _, err := h.write(cmd.Context(), a, h.with(hook)); err != nil {
			return err
		}
		return a.printAdded(&h, hook, made)
	}
	return cmd
}

// with returns all webhooks with one added, or replaced if its URL is there already.
func (h *webhookList) with(hook api.WebhookRequest) []api.WebhookRequest {
	all := h.requests()
	if at := h.find(hook.URL); at >= 0 {
		all[at] = hook
		return all
	}
	return append(all, hook)
}

// templateWarning is a part of the help: changes of a template have no version check.
const templateWarning = `

All webhooks of a template are replaced together: of two concurrent changes the later one wins. Check the result
with rota webhook list.`

// parseEvents checks the events of --event. It returns none for all, as requests do.
func parseEvents(events []string) ([]string, error) {
	switch {
	case len(events) == 0:
		return nil, usagef("name an event, or "+eventsAll, "--event is empty")
	case !slices.Contains(events, eventsAll):
		return events, nil
	case len(events) > 1:
		return nil, usagef("remove "+eventsAll+", or the other events", "--event %s cannot be combined with other events", eventsAll)
	}
	return nil, nil
}

// printAdded prints the webhook, and its secret if the command generated it: the server does not show secrets later.
func (a *app) printAdded(h *webhookList, hook api.WebhookRequest, made string) error {
	answer := map[string]any{"url": hook.URL, "events": append([]string{}, hook.Events...)}
	if made != "" {
		answer["secret"] = made
	}
	return a.print(answer, func(w io.Writer) {
		events := "all events"
		if len(hook.Events) > 0 {
			events = strings.Join(hook.Events, ", ")
		}
		fmt.Fprintf(w, "%s receives %s\n", sanitize(hook.URL), sanitize(events+h.scopeText()))
		if made != "" {
			fmt.Fprintf(w, "its secret is %s; it is not shown again, so store it in the receiver now\n", made)
		}
	})
}

func secretFlag(cmd *cobra.Command, secret *string, usage string) {
	cmd.Flags().Func("secret", usage, func(text string) error {
		if *secret = text; text == "" {
			return errors.New("the secret is empty")
		}
		return nil
	})
}

// secretText reads the secret of a flag, @FILE or standard input, without the line break at its end.
func (a *app) secretText(flag string) (string, error) {
	if flag == "" {
		return "", nil
	}
	text, err := a.content(flag)
	if err != nil {
		return "", err
	}
	secret := strings.TrimRight(string(text), "\r\n")
	if secret == "" {
		return "", usagef("use a text that cannot be guessed, or remove --secret to generate one", "--secret is empty")
	}
	return secret, nil
}
