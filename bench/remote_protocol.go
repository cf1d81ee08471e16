package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"time"

	"github.com/rotajobs/rota/internal/apiclient"
)

// protocol is a minimal client of the worker protocol.
type protocol struct {
	client *http.Client
	server *server
	name   string
}

// claimed holds the fields of a claimed job that are needed to finish it.
type claimed struct {
	RunID string `json:"run_id"`
	Token string `json:"lease_token"`
	Job   struct {
		ID string `json:"id"`
	} `json:"job"`
}

func (p *protocol) claim(ctx context.Context, limit int, wait time.Duration) ([]claimed, error) {
	var answer struct {
		Items []claimed `json:"items"`
	}
	err := p.call(ctx, "claim", map[string]any{
		"worker": p.name, "types": []string{jobType}, "limit": limit, "lease": "30s", "wait": wait.String(),
	}, &answer)
	return answer.Items, err
}

// finish finishes jobs as completed, and fails if the server does not accept one of them.
func (p *protocol) finish(ctx context.Context, items []claimed) error {
	if len(items) == 0 {
		return nil
	}
	ends := make([]map[string]string, len(items))
	for i, item := range items {
		ends[i] = map[string]string{"run_id": item.RunID, "job_id": item.Job.ID, "lease_token": item.Token, "outcome": "completed"}
	}
	var answer struct {
		Items []struct{ Code string } `json:"items"`
	}
	if err := p.call(ctx, "finish", map[string]any{"items": ends}, &answer); err != nil {
		return err
	}
	for _, item := range answer.Items {
		if item.Code != "ok" {
			return fmt.Errorf("a finish was answered with %q", item.Code)
		}
	}
	return nil
}

func (p *protocol) call(ctx context.Context, verb string, body, answer any) error {
	c := apiclient.Client{HTTP: p.client, Address: "http://" + p.server.addr, Token: p.server.token}
	response, err := c.Send(ctx, apiclient.Request{Method: http.MethodPost, Path: "/" + verb, Body: body})
	if err != nil {
		return err
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err != nil {
		return err
	}
	if response.StatusCode != http.StatusOK {
		return fmt.Errorf("%s: %s: %s", verb, response.Status, text)
	}
	return json.Unmarshal(text, answer)
}
