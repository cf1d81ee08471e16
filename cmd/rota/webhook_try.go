package main

import (
	"errors"
	"fmt"

	"github.com/rotajobs/rota/api"
	"github.com/spf13/cobra"
)

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
