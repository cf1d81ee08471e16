package main

import (
	"errors"
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	"github.com/rotajobs/rota/httpapi"
)

func newWebhookTestCommand(a *app) *cobra.Command {
	var h webhookList
	secret := ""
	cmd := &cobra.Command{
		Use: "test URL", Short: "Sends a test to a webhook and says what came of it", Args: requireArgs("a URL"),
		Long: `Has the server send one signed request with the event webhook.test, and shows how the receiver's answer begins if it
is no success. The address need not be a webhook yet: give --secret then.`,
		Example: `  rota webhook test https://example.com/hooks/rota
  rota webhook test https://example.com/hooks/new --secret @secret.txt`,
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
		if text == "" && refusedField(err, "secret") {
			return h.notFound(args[0], hintTemplates+"; to test an address that is none yet, give --secret SECRET")
		}
		if err != nil {
			return err
		}
		tested, err := decode[httpapi.WebhookTested](answer)
		if err != nil {
			return err
		}
		if tested.Delivered {
			return a.printMessage(answer, "it was taken, with %d, in %d ms", *tested.Status, tested.DurationMS)
		}
		if err := a.printMessage(answer, "it was not taken%s", responseText(tested.Body)); err != nil {
			return err
		}
		return &exitError{code: exitFailed, err: errors.New(sanitize(string(tested.Error)))}
	}
	return cmd
}

// refusedField reports whether a server refused a field.
func refusedField(err error, field string) bool {
	var refused *exitError
	return errors.As(err, &refused) && slices.Contains(refused.fields, field)
}

// responseText is what a receiver said, which often is why.
func responseText(body httpapi.Text) string {
	if body == "" {
		return ""
	}
	return fmt.Sprintf("; the receiver said: %s", body)
}
