package httpapi

import (
	"bytes"
	"encoding/json"

	"github.com/rotajobs/rota"
)

// ExtendRequest is the heartbeat of leases.
type ExtendRequest struct {
	Lease *Duration       `json:"lease,omitempty" doc:"Duration of the leases from now on, 1s to 1h; default 30s."`
	Items []ExtendRunning `json:"items" doc:"Leases to extend, 1 to 10,000."`
}

// ExtendRunning is the heartbeat of one lease.
type ExtendRunning struct {
	LeaseRequest
	Progress json.RawMessage `json:"progress,omitempty" doc:"Progress: any JSON up to 1 KiB, nested up to 500 deep. Omitted: unchanged."`
}

// Extended lists the state of leases.
type Extended struct {
	Items []ExtendedLease `json:"items" nullable:"false" doc:"One result per lease, in request order."`
}

// ExtendedLease is the state of one lease.
type ExtendedLease struct {
	RunID      ID     `json:"run_id" nullable:"false" doc:"Id of the run."`
	Code       string `json:"code" enum:"ok,lease_lost" doc:"Whether the worker still holds the lease. If not, it should stop: another worker may run the job."`
	StaleAfter Time   `json:"stale_after" doc:"Time the lease expires unless extended."`
	Cancel     bool   `json:"cancel" doc:"Whether the run must stop. The worker then finishes it as cancelled."`
	Reason     Text   `json:"reason" doc:"Reason to stop, as given in the cancel request. timeout: the run exceeded its timeout; finish it with this error_code."`
}

func extendLeases(c *call, body *ExtendRequest) (reply, error) {
	command := &rota.Extend{Meta: c.meta(), Lease: leaseOf(body.Lease), Items: make([]rota.ExtendItem, len(body.Items))}
	for i := range body.Items {
		ref, err := body.Items[i].ref()
		if err != nil {
			return reply{}, atItem("items", i, err)
		}
		command.Items[i] = rota.ExtendItem{LeaseRef: ref, Progress: nullAsNil(body.Items[i].Progress)}
	}
	if err := command.Validate(); err != nil {
		return reply{}, err
	}
	extended, err := rota.Do[*rota.Extended](c.ctx, c.Store, command)
	if err != nil {
		return reply{}, err
	}
	answer := Extended{Items: make([]ExtendedLease, len(extended.Items))}
	for i := range extended.Items {
		c.registry.updateRun(extended.Items[i].RunID, extended.Items[i].StaleAfter)
		answer.Items[i] = newExtendedLease(&extended.Items[i])
	}
	return ok(answer)
}

func newExtendedLease(l *rota.LeaseAnswer) ExtendedLease {
	v := ExtendedLease{
		RunID: ID{l.RunID}, Code: leaseCode(l.Code), StaleAfter: Time{l.StaleAfter}, Cancel: l.Cancel, Reason: Text(l.Reason),
	}
	switch {
	case l.Overdue && !l.Cancel:
		v.Cancel, v.Reason = true, rota.CodeTimeout
	case l.Cancel && l.Reason == rota.CodeTimeout: // a reason from a person, distinguished from a real timeout
		v.Reason = "asked to stop: " + rota.CodeTimeout
	}
	return v
}

// nullAsNil returns nil for a JSON null.
func nullAsNil(value json.RawMessage) json.RawMessage {
	if bytes.Equal(value, null) {
		return nil
	}
	return value
}
