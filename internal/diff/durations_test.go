package diff_test

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/rotajobs/rota/internal/diff"
)

type (
	rate   struct{ Per time.Duration }
	policy struct {
		Retries *int           `json:"retries,omitempty"`
		Backoff *time.Duration `json:"backoff,omitempty"`
	}
	spec struct {
		Every  time.Duration            `json:"every,omitempty"`
		Policy policy                   `json:"policy"`
		Params json.RawMessage          `json:"params,omitempty"`
		At     time.Time                `json:"at,omitzero"`
		Rates  []rate                   `json:"rates,omitempty"`
		Keys   map[string]time.Duration `json:"keys,omitempty"`
	}
	document struct {
		State string `json:"state"`
		spec
	}
)

// TestDurationsAreText checks durations at any depth, and that nothing else changes.
func TestDurationsAreText(t *testing.T) {
	for _, one := range []struct {
		spec spec
		want string
	}{
		{spec{}, `{"state":"ON","policy":{}}`},
		{spec{Every: time.Hour}, `{"every":"1h0m0s","policy":{},"state":"ON"}`},
		{spec{Policy: policy{new(3), new(time.Duration(0))}}, `{"policy":{"backoff":"0s","retries":3},"state":"ON"}`},
		{spec{Params: []byte(`{"every":3600000000000}`)}, `{"state":"ON","policy":{},"params":{"every":3600000000000}}`},
		{spec{At: time.Unix(0, 0).UTC()}, `{"state":"ON","policy":{},"at":"1970-01-01T00:00:00Z"}`},
		{spec{Rates: []rate{{time.Second}}}, `{"policy":{},"rates":[{"Per":"1s"}],"state":"ON"}`},
		{spec{Keys: map[string]time.Duration{"<": time.Second}}, `{"keys":{"<":"1s"},"policy":{},"state":"ON"}`},
	} {
		whole := document{"ON", one.spec}
		stored, err := json.Marshal(whole)
		if got := string(diff.Durations(whole, stored, time.Duration.String)); err != nil || got != one.want {
			t.Errorf("%s, want %s (%v)", got, one.want, err)
		}
	}
}
