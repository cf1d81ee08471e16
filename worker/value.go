package worker

import (
	"encoding/json"
	"time"

	"github.com/rotajobs/rota"
)

// span is a length of time as text, null if there is none.
type span time.Duration

// MarshalJSON writes Go's style.
func (s span) MarshalJSON() ([]byte, error) {
	return json.Marshal(rota.FormatDuration(time.Duration(s)))
}

// UnmarshalJSON reads it.
func (s *span) UnmarshalJSON(text []byte) error {
	var word *string
	if err := json.Unmarshal(text, &word); err != nil || word == nil {
		return err
	}
	read, err := rota.ParseDuration(*word)
	*s = span(read)
	return err
}

// nullID is an id that may not be there.
type nullID struct{ rota.ID }

// UnmarshalJSON reads null as the zero id.
func (id *nullID) UnmarshalJSON(text []byte) error {
	var word string // which null leaves empty
	if err := json.Unmarshal(text, &word); err != nil {
		return err
	}
	return id.UnmarshalText([]byte(word))
}

// leaseView names a lease to the server.
type leaseView struct {
	RunID      rota.ID `json:"run_id"`
	JobID      rota.ID `json:"job_id"`
	LeaseToken string  `json:"lease_token"`
}

func newLeaseView(ref rota.LeaseRef) leaseView {
	return leaseView{RunID: ref.RunID, JobID: ref.JobID, LeaseToken: ref.Token.Reveal()}
}

// leaseAnswer is how one lease stands.
type leaseAnswer struct {
	RunID      rota.ID   `json:"run_id"`
	Code       string    `json:"code"`
	StaleAfter time.Time `json:"stale_after"`
	Cancel     bool      `json:"cancel"`
	Reason     string    `json:"reason"`
}

// leaseAnswers is one for each item, in their order.
type leaseAnswers struct {
	Items []leaseAnswer `json:"items"`
}

// codeDone is said of a lease that stands.
const codeDone = "ok"

// check holds the answers to what was asked.
func (a *leaseAnswers) check(act string, asked []leaseView) error {
	if len(a.Items) != len(asked) {
		return rota.Errorf(rota.Internal, act, "the server was asked about %d runs and answers about %d", len(asked), len(a.Items))
	}
	for i := range asked {
		switch one := &a.Items[i]; {
		case one.RunID != asked[i].RunID:
			return rota.Errorf(rota.Internal, act, "the server was asked about run %s and answers about %s", asked[i].RunID, one.RunID)
		case one.Code != codeDone && one.Code != string(rota.LeaseLost):
			return rota.Errorf(rota.Internal, act, "the server answers with the code %q; a later release may know it", one.Code)
		}
	}
	return nil
}

// code is empty when all is well.
func (a *leaseAnswer) code() rota.Code {
	if a.Code == codeDone {
		return ""
	}
	return rota.LeaseLost
}
