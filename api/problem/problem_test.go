package problem

import (
	"testing"

	"github.com/rotajobs/rota"
)

func TestKindsCoverEveryCode(t *testing.T) {
	for _, code := range rota.Codes {
		if k, known := Kinds[code]; !known || k.Status < 400 || k.Title == "" {
			t.Errorf("%s has no status", code)
		}
		p := Of(&rota.Error{Code: code, Reason: "why"})
		if p.Code != string(code) || p.Status != Kinds[code].Status || p.Detail == "" {
			t.Errorf("%s becomes %+v", code, p)
		}
	}
	if len(Kinds) != len(rota.Codes) {
		t.Errorf("there are %d codes and %d statuses", len(rota.Codes), len(Kinds))
	}
}

func TestRenameMatchesWholeNames(t *testing.T) {
	for _, test := range []struct{ field, from, to, want string }{
		{"jobs[0].type", "jobs[0]", "", "type"},
		{"jobs[0]", "jobs[0]", "", ""},
		{"params.to", "params", "default_params", "default_params.to"},
		{"params[2]", "params", "default_params", "default_params[2]"},
		{"paramsize", "params", "default_params", "paramsize"},
		{"job.params", "job", "", "params"},
	} {
		got := Rename(rota.Invalidf(test.field, "is wrong"), test.from, test.to).(*rota.Error).Field
		if got != test.want {
			t.Errorf("%s, %s for %s, is %s, not %s", test.field, test.to, test.from, got, test.want)
		}
	}
}
