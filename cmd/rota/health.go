package main

import (
	"cmp"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"time"

	"github.com/spf13/cobra"

	"github.com/rotajobs/rota/api"
	"github.com/rotajobs/rota/internal/apiclient"
)

// healthTimeout is the longest wait for an answer. A supervisor usually waits about as long.
const healthTimeout = 5 * time.Second

// healthView is the output as JSON and YAML.
type healthView struct {
	Status string `json:"status"`
	URL    string `json:"url"`
}

func newHealthCommand(a *app) *cobra.Command {
	live := false
	cmd := &cobra.Command{
		Use:   "health",
		Short: "Check whether the server is ready, for health checks of containers",
		Long: `Ask the server whether it accepts work, and exit with 0 if it does and with 6 if it does not or does not answer within 5
seconds. With --live the answer only shows that the process answers requests. The check needs no token.`,
		Example: "  rota health\n  rota health --url http://127.0.0.1:7420 || echo not ready",
		Args:    noArgs(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			path := "/readyz"
			if live {
				path = "/healthz"
			}
			return a.checkHealth(cmd.Context(), path)
		},
	}
	cmd.Flags().BoolVar(&live, "live", false, "ask only whether the process answers, not whether it accepts work")
	return cmd
}

func (a *app) checkHealth(ctx context.Context, path string) error {
	address, err := a.address()
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, healthTimeout)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, address+path, nil)
	if err != nil {
		return err
	}
	client, err := a.httpClient()
	if err != nil {
		return err
	}
	response, err := client.Do(request)
	if err != nil {
		if ctx.Err() != nil {
			return failf(exitUnavailable, "check the log of the server", "the server at %s does not answer within %v", address, healthTimeout)
		}
		return a.connectionError(err, false)
	}
	defer response.Body.Close()
	text, err := io.ReadAll(io.LimitReader(response.Body, 1<<16))
	if err != nil {
		return a.connectionError(err, false)
	}
	if apiclient.AnsweredByTLS(response, text) {
		return failf(exitUnavailable, faultHints[apiclient.ServerIsTLS], "%s", apiclient.PlainToTLS(address))
	}
	if response.StatusCode != http.StatusOK {
		var problem api.Problem
		_ = json.Unmarshal(text, &problem) // a proxy answers in another form
		return failf(exitUnavailable, "check the log of the server", "the server at %s is not healthy: %s",
			address, shortened(cmp.Or(problem.Detail, response.Status)))
	}
	return a.printMessage(healthView{"ok", address}, "ok %s", address)
}
