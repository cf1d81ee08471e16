package main

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/rotajobs/rota/httpapi"
)

func newWebhookAddCommand(a *app) *cobra.Command {
	var h webhookList
	var events []string
	secret := ""
	cmd := &cobra.Command{
		Use: "add URL", Short: "Adds a webhook, or changes what it is told of", Args: requireArgs("a URL"),
		Long: `Adds a webhook that is told of everything, or with --template of the jobs of a template. Its deliveries are signed: without
--secret one is made and shown this once. Of an address that is there already only what is named is changed: without
--event it keeps its events, without --secret its secret.` + templateWarning,
		Example: `  rota webhook add https://example.com/hooks/rota --event job.dead --event schedule.missed
  rota webhook add https://example.com/hooks/rota --secret @new.txt     # its events stay
  rota webhook add https://example.com/hooks/rota --event all
  rota webhook add https://example.com/hooks/rota --template report --secret @secret.txt`,
	}
	h.flag(a, cmd)
	cmd.Flags().StringSliceVar(&events, "event", nil, "tell it of this `EVENT`, such as job.dead, or of all (repeatable; default all, or what it is told of already)")
	completeFrom(cmd, "event", append(eventNames(), eventsAll))
	secretFlag(cmd, &secret, "sign with this `SECRET`, @FILE or - for standard input (default: one is made, or the one it has)")
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
		hook, made := httpapi.WebhookRequest{URL: args[0], Events: events}, ""
		if at := h.find(args[0]); at >= 0 && kept {
			hook.Events = h.list[at].Events
		} else if at < 0 && text == "" {
			made = "whsec_" + rand.Text() + rand.Text()
			text = made
		}
		if text != "" {
			hook.Secret = httpapi.Some(text)
		}
		if _, err := h.write(cmd.Context(), a, h.with(hook)); err != nil {
			return err
		}
		return a.printAdded(&h, hook, made)
	}
	return cmd
}

// with is all webhooks with one more, or with this one in place of the one that has its address.
func (h *webhookList) with(hook httpapi.WebhookRequest) []httpapi.WebhookRequest {
	all := h.requests()
	if at := h.find(hook.URL); at >= 0 {
		all[at] = hook
		return all
	}
	return append(all, hook)
}

// templateWarning warns of what no version guards.
const templateWarning = `

The webhooks of a template are set whole: of two changes at once the later one stands. Look at them afterwards.`

// parseEvents are the events that flags name: none if they are all of them, as the server has it.
func parseEvents(events []string) ([]string, error) {
	switch {
	case len(events) == 0:
		return nil, usagef("name one, or "+eventsAll, "--event is empty")
	case !slices.Contains(events, eventsAll):
		return events, nil
	case len(events) > 1:
		return nil, usagef("leave the others out, or "+eventsAll, "--event %s stands alone", eventsAll)
	}
	return nil, nil
}

// printAdded tells what was added, and the secret if it was made here: nobody can ask for it later.
func (a *app) printAdded(h *webhookList, hook httpapi.WebhookRequest, made string) error {
	answer := map[string]any{"url": hook.URL, "events": append([]string{}, hook.Events...)}
	if made != "" {
		answer["secret"] = made
	}
	return a.print(answer, func(w io.Writer) error {
		told := "everything"
		if len(hook.Events) > 0 {
			told = strings.Join(hook.Events, ", ")
		}
		text := fmt.Sprintf("%s is told of %s\n", sanitize(hook.URL), sanitize(told+h.scopeText()))
		if made != "" {
			text += "its secret is " + made + ", which is not shown again: give it to the receiver\n"
		}
		_, err := io.WriteString(w, text)
		return err
	})
}

func secretFlag(cmd *cobra.Command, secret *string, usage string) {
	cmd.Flags().Func("secret", usage, func(text string) error {
		if *secret = text; text == "" {
			return errors.New("it is empty")
		}
		return nil
	})
	completeFrom(cmd, "secret", nil)
}

// secretText is the secret that a flag holds or names, without the line's end of a file.
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
		return "", usagef("give a text that nobody guesses, or leave --secret out to have one made", "--secret is empty")
	}
	return secret, nil
}
