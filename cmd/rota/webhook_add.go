package main

import (
	"crypto/rand"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/rotajobs/rota/httpapi"
)

func newWebhookAddCommand(a *app) *cobra.Command {
	var h hooks
	var events []string
	secret := ""
	cmd := &cobra.Command{
		Use: "add URL", Short: "Adds a webhook, or changes what it is told of", Args: wants("a URL"),
		Long: `Adds a webhook that is told of everything, or with --template of the jobs of a template. Its deliveries are signed: without
--secret one is made and shown this once. An address that is there already is told of the events that are named, and keeps
its secret unless another is given.`,
		Example: `  rota webhook add https://example.com/hooks/rota --event job.dead --event schedule.missed
  rota webhook add https://example.com/hooks/rota --template report --secret @secret.txt`,
	}
	h.flag(a, cmd)
	cmd.Flags().StringSliceVar(&events, "event", nil, "tell it of this `EVENT`, such as job.dead (repeatable; default all)")
	completeFrom(cmd, "event", eventNames())
	secretFlag(cmd, &secret, "sign with this `SECRET`, @FILE or - for standard input; default: one is made")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		text, err := a.secretText(secret)
		if err != nil {
			return err
		}
		if err := h.read(cmd.Context(), a); err != nil {
			return err
		}
		hook, made := httpapi.WebhookRequest{URL: args[0], Events: events}, ""
		all, at := h.requests(), h.find(args[0])
		switch {
		case text == "" && at < 0:
			made = "whsec_" + rand.Text() + rand.Text()
			hook.Secret = httpapi.Some(made)
		case text != "":
			hook.Secret = httpapi.Some(text)
		}
		if at < 0 {
			all = append(all, hook)
		} else {
			all[at] = hook
		}
		if _, err := h.write(cmd.Context(), a, all); err != nil {
			return err
		}
		return a.sayAdded(&h, hook, made)
	}
	return cmd
}

// sayAdded tells what was added, and the secret if it was made here: nobody can ask for it later.
func (a *app) sayAdded(h *hooks, hook httpapi.WebhookRequest, made string) error {
	answer := map[string]any{"url": hook.URL, "events": append([]string{}, hook.Events...)}
	if made != "" {
		answer["secret"] = made
	}
	return a.print(answer, func(w io.Writer) error {
		told := h.of()
		if len(hook.Events) > 0 {
			told = strings.Join(hook.Events, ", ") + h.within()
		}
		text := fmt.Sprintf("%s is told of %s\n", plainText(hook.URL), plainText(told))
		if made != "" {
			text += "its secret is " + made + ", which is not shown again: give it to the receiver\n"
		}
		_, err := io.WriteString(w, text)
		return err
	})
}

func secretFlag(cmd *cobra.Command, secret *string, usage string) {
	cmd.Flags().StringVar(secret, "secret", "", usage)
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
