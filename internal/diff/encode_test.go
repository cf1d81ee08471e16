package diff_test

import (
	"strings"
	"testing"
	"time"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/internal/diff"
)

// TestEncodeShowsDurationsAsText checks durations at any depth, and that a number of another type
// stays one.
func TestEncodeShowsDurationsAsText(t *testing.T) {
	type document struct {
		State string `json:"state"`
		rota.TemplateSpec
	}
	policy := rota.PolicyPatch{MaxRetries: new(3), Backoff: new(1500 * time.Millisecond), Timeout: new(time.Duration(0))}
	for _, one := range []struct {
		definition any
		want       string
	}{
		{rota.ScheduleSpec{Template: "t", Every: 90 * time.Minute}, `"every":"1h30m"`},
		{document{"ACTIVE", rota.TemplateSpec{Type: "mail", UniqueFor: time.Hour, Policy: policy, Params: []byte(`{"unique_for":3600000000000}`)}},
			`{"params":{"unique_for":3600000000000},"policy":{"backoff":"1.5s","max_retries":3,"timeout":"0s"},"state":"ACTIVE","type":"mail","unique_for":"1h"}`},
		{rota.ThrottleSpec{Global: 60, Types: []rota.TypeLimit{{Type: "mail", Rate: rota.Rate{Count: 5, Per: time.Minute}}}},
			`{"global":60,"types":[{"rate":{"count":5,"per":"1m"},"type":"mail"}]}`},
		{map[string]time.Duration{"a": time.Second}, `{"a":"1s"}`},
	} {
		if got := string(diff.Encode(one.definition)); !strings.Contains(got, one.want) {
			t.Errorf("%s, want %s", got, one.want)
		}
	}
}
