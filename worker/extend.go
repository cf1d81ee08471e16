package worker

import (
	"context"
	"net/http"
	"time"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/api"
)

func (s *store) extend(ctx context.Context, c *rota.Extend) (rota.Reply, error) {
	items := make([]api.ExtendRunning, len(c.Items))
	for i := range c.Items {
		items[i] = api.ExtendRunning{LeaseRequest: api.NewLeaseRequest(c.Items[i].LeaseRef), Progress: c.Items[i].Progress}
	}
	answers, err := s.beat(ctx, "extend", c.Lease, items)
	return &rota.Extended{Items: answers}, err
}

// note reports the progress of runs with a heartbeat: the protocol has no other request.
func (s *store) note(ctx context.Context, c *rota.Note) (rota.Reply, error) {
	items := make([]api.ExtendRunning, len(c.Items))
	for i := range c.Items {
		if it := &c.Items[i]; len(it.Artifacts) > 0 || it.LogPath != "" {
			return nil, errUnsupported("note with artifacts or a log")
		}
		items[i] = api.ExtendRunning{LeaseRequest: api.NewLeaseRequest(c.Items[i].LeaseRef), Progress: c.Items[i].Progress}
	}
	answers, err := s.beat(ctx, "note", s.config.Lease, items)
	return &rota.Noted{Items: answers}, err
}

func (s *store) beat(ctx context.Context, act string, lease time.Duration, items []api.ExtendRunning) ([]rota.LeaseAnswer, error) {
	var read api.Extended
	err := s.server.call(ctx, request{
		act: act, method: http.MethodPost, path: "/extend", backoff: &s.server.otherBackoff,
		body: api.ExtendRequest{Lease: (*api.Duration)(&lease), Items: items},
	}, &read)
	if err != nil {
		return nil, err
	}
	if err := checkLeases(act, read.Items, len(items), func(i int) api.ID { return items[i].RunID }); err != nil {
		return nil, err
	}
	answers := make([]rota.LeaseAnswer, len(items))
	for i := range read.Items {
		one := &read.Items[i]
		answers[i] = rota.LeaseAnswer{
			RunID: one.RunID.ID, Code: codeOfLease(one), StaleAfter: one.StaleAfter.Time, Cancel: one.Cancel, Reason: string(one.Reason),
		}
		if one.Cancel && one.Reason == rota.CodeTimeout { // the server's reason for a timeout; no user has cancelled
			answers[i].Cancel, answers[i].Overdue = false, true
		}
	}
	return answers, nil
}

// checkLeases compares the answers to a request with the runs that it named.
func checkLeases(act string, answers []api.ExtendedLease, asked int, run func(i int) api.ID) error {
	if len(answers) != asked {
		return rota.Errorf(rota.Internal, act, "the request names %d runs, but the answer names %d", asked, len(answers))
	}
	for i := range answers {
		switch one := &answers[i]; {
		case one.RunID != run(i):
			return rota.Errorf(rota.Internal, act, "the request names run %s, but the answer names %s", run(i), one.RunID)
		case one.Code != api.LeaseOK && one.Code != api.LeaseLost:
			return rota.Errorf(rota.Internal, act, "the server answers with the unknown code %q; a later release may know it", one.Code)
		}
	}
	return nil
}

// codeOfLease is empty for a valid lease.
func codeOfLease(one *api.ExtendedLease) rota.Code {
	if one.Code == api.LeaseOK {
		return ""
	}
	return rota.LeaseLost
}
