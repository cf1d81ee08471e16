package worker

import (
	"encoding/json"
	"time"

	"github.com/rotajobs/rota"
)

// jsonDuration is a duration as JSON text, null if there is none.
type jsonDuration time.Duration

// MarshalJSON writes the duration as rota.FormatDuration does.
func (s jsonDuration) MarshalJSON() ([]byte, error) {
	return json.Marshal(rota.FormatDuration(time.Duration(s)))
}

// UnmarshalJSON parses such text.
func (s *jsonDuration) UnmarshalJSON(text []byte) error {
	var word *string
	if err := json.Unmarshal(text, &word); err != nil || word == nil {
		return err
	}
	read, err := rota.ParseDuration(*word)
	*s = jsonDuration(read)
	return err
}

// nullID is an id that may be null.
type nullID struct{ rota.ID }

// UnmarshalJSON reads null as the zero id.
func (id *nullID) UnmarshalJSON(text []byte) error {
	var word string // empty after null
	if err := json.Unmarshal(text, &word); err != nil {
		return err
	}
	return id.UnmarshalText([]byte(word))
}

// leaseView identifies a lease to the server.
type leaseView struct {
	RunID      rota.ID `json:"run_id"`
	JobID      rota.ID `json:"job_id"`
	LeaseToken string  `json:"lease_token"`
}

func newLeaseView(ref rota.LeaseRef) leaseView {
	return leaseView{RunID: ref.RunID, JobID: ref.JobID, LeaseToken: ref.Token.Reveal()}
}

// leaseAnswer is the state of one lease.
type leaseAnswer struct {
	RunID      rota.ID   `json:"run_id"`
	Code       string    `json:"code"`
	StaleAfter time.Time `json:"stale_after"`
	Cancel     bool      `json:"cancel"`
	Reason     string    `json:"reason"`
}

// leaseAnswers has one answer for each item, in order.
type leaseAnswers struct {
	Items []leaseAnswer `json:"items"`
}

// codeOK is the code of a valid lease.
const codeOK = "ok"

// check compares the answers with the requested leases.
func (a *leaseAnswers) check(act string, asked []leaseView) error {
	if len(a.Items) != len(asked) {
		return rota.Errorf(rota.Internal, act, "the request names %d runs, but the answer names %d", len(asked), len(a.Items))
	}
	for i := range asked {
		switch one := &a.Items[i]; {
		case one.RunID != asked[i].RunID:
			return rota.Errorf(rota.Internal, act, "the request names run %s, but the answer names %s", asked[i].RunID, one.RunID)
		case one.Code != codeOK && one.Code != string(rota.LeaseLost):
			return rota.Errorf(rota.Internal, act, "the server answers with the unknown code %q; a later release may know it", one.Code)
		}
	}
	return nil
}

// code is empty for a valid lease.
func (a *leaseAnswer) code() rota.Code {
	if a.Code == codeOK {
		return ""
	}
	return rota.LeaseLost
}
