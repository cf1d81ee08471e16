package httpapi

import (
	"bytes"
	"encoding/json"

	"github.com/rotajobs/rota"
)

// ExtendRequest is the heartbeat of some leases.
type ExtendRequest struct {
	Lease *Duration       `json:"lease,omitempty" doc:"How long they are held from now on, 1s to 1h; 30s if left out."`
	Items []ExtendRunning `json:"items" doc:"1 to 10,000 leases."`
}

// ExtendRunning is one heartbeat.
type ExtendRunning struct {
	LeaseRequest
	Progress json.RawMessage `json:"progress,omitempty" doc:"How far it is: any JSON of up to 1 KiB, nested up to 500 deep. Left out: as it was."`
}

// Extended says how some leases stand.
type Extended struct {
	Items []ExtendedLease `json:"items" nullable:"false" doc:"One for each lease, in the order in which they were named."`
}

// ExtendedLease is how one lease stands.
type ExtendedLease struct {
	RunID      ID     `json:"run_id" nullable:"false" doc:"Of the run."`
	Code       string `json:"code" enum:"ok,lease_lost" doc:"Whether it still holds the lease. If not, what it does now is for nothing: somebody else may be doing it."`
	StaleAfter Time   `json:"stale_after" doc:"When the lease ends, unless it is extended."`
	Cancel     bool   `json:"cancel" doc:"The run is to stop. Finish it as cancelled."`
	Reason     Text   `json:"reason" doc:"Why it is to stop, in the words of who asked; timeout: it takes longer than it may, finish it with this error_code."`
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
	case l.Cancel && l.Reason == rota.CodeTimeout: // somebody's words, not to be taken for ours
		v.Reason = "asked to stop: " + rota.CodeTimeout
	}
	return v
}

// nullAsNil is JSON that may be left out. Null is as good as that.
func nullAsNil(value json.RawMessage) json.RawMessage {
	if bytes.Equal(value, null) {
		return nil
	}
	return value
}
