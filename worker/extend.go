package worker

import (
	"context"
	"encoding/json"
	"net/http"
	"time"

	"github.com/rotajobs/rota"
)

// extendRequest is the heartbeat for many leases.
type extendRequest struct {
	Lease string       `json:"lease"`
	Items []extendItem `json:"items"`
}

type extendItem struct {
	leaseView
	Progress json.RawMessage `json:"progress,omitempty"`
}

func (s *store) extend(ctx context.Context, c *rota.Extend) (rota.Reply, error) {
	items := make([]extendItem, len(c.Items))
	for i := range c.Items {
		items[i] = extendItem{newLeaseView(c.Items[i].LeaseRef), c.Items[i].Progress}
	}
	answers, err := s.beat(ctx, "extend", c.Lease, items)
	return &rota.Extended{Items: answers}, err
}

// note reports the progress of runs with a heartbeat: the protocol has no other request.
func (s *store) note(ctx context.Context, c *rota.Note) (rota.Reply, error) {
	items := make([]extendItem, len(c.Items))
	for i := range c.Items {
		if it := &c.Items[i]; len(it.Artifacts) > 0 || it.LogPath != "" {
			return nil, errUnsupported("note with artifacts or a log")
		}
		items[i] = extendItem{newLeaseView(c.Items[i].LeaseRef), c.Items[i].Progress}
	}
	answers, err := s.beat(ctx, "note", s.config.Lease, items)
	return &rota.Noted{Items: answers}, err
}

func (s *store) beat(ctx context.Context, act string, lease time.Duration, items []extendItem) ([]rota.LeaseAnswer, error) {
	var read leaseAnswers
	err := s.server.call(ctx, request{
		act: act, method: http.MethodPost, path: "/extend", backoff: &s.server.otherBackoff,
		body: extendRequest{Lease: rota.FormatDuration(lease), Items: items},
	}, &read)
	if err != nil {
		return nil, err
	}
	asked := make([]leaseView, len(items))
	for i := range items {
		asked[i] = items[i].leaseView
	}
	if err := read.check(act, asked); err != nil {
		return nil, err
	}
	answers := make([]rota.LeaseAnswer, len(items))
	for i := range read.Items {
		one := &read.Items[i]
		answers[i] = rota.LeaseAnswer{
			RunID: one.RunID, Code: one.code(), StaleAfter: one.StaleAfter, Cancel: one.Cancel, Reason: one.Reason,
		}
		if one.Cancel && one.Reason == rota.CodeTimeout { // the server's reason for a timeout; no user has cancelled
			answers[i].Cancel, answers[i].Overdue = false, true
		}
	}
	return answers, nil
}
