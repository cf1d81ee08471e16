package httpapi

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"testing"

	"github.com/rotajobs/rota"
)

func TestProblemKindsCoverEveryCode(t *testing.T) {
	for _, code := range rota.Codes {
		if k, known := problemKinds[code]; !known || k.status < 400 || k.title == "" {
			t.Errorf("%s has no status", code)
		}
		p := problemOf(&rota.Error{Code: code, Reason: "why"})
		if p.Code != string(code) || p.Status != problemKinds[code].status || p.Detail == "" {
			t.Errorf("%s becomes %+v", code, p)
		}
	}
	if len(problemKinds) != len(rota.Codes) {
		t.Errorf("there are %d codes and %d statuses", len(rota.Codes), len(problemKinds))
	}
}

func TestProblemOfHidesInternalErrors(t *testing.T) {
	for _, test := range []struct {
		err    error
		status int
		code   rota.Code
	}{
		{context.Canceled, 503, rota.Unavailable},
		{fmt.Errorf("while: %w", context.DeadlineExceeded), 503, rota.Unavailable},
		{errors.New("the password is hunter2"), 500, rota.Internal},
		{&rota.Error{Code: rota.Internal, Reason: "the password is hunter2"}, 500, rota.Internal},
		{resourceBusy{&rota.Error{Code: rota.Busy, Reason: "another has it"}}, 409, rota.Busy},
		{&rota.Error{Code: rota.Busy, Reason: "locked"}, 503, rota.Busy},
		{&rota.Error{Code: rota.Denied, Reason: "no"}, 403, rota.Denied},
		{&rota.Error{Code: "unheard of"}, 500, rota.Internal},
		{fmt.Errorf("while: %w", malformed("x", "is wrong")), http.StatusBadRequest, rota.Invalid},
	} {
		p := problemOf(test.err)
		if p.Status != test.status || p.Code != string(test.code) {
			t.Errorf("%v becomes %d %s", test.err, p.Status, p.Code)
		}
		if p.Status == 500 && (p.Detail != "internal error" || len(p.Errors) > 0) {
			t.Errorf("an internal error is disclosed: %+v", p)
		}
	}
}

func TestRenameFieldsMatchesWholeNames(t *testing.T) {
	for _, test := range []struct{ field, from, to, want string }{
		{"jobs[0].type", "jobs[0]", "", "type"},
		{"jobs[0]", "jobs[0]", "", ""},
		{"params.to", "params", "default_params", "default_params.to"},
		{"params[2]", "params", "default_params", "default_params[2]"},
		{"paramsize", "params", "default_params", "paramsize"},
		{"job.params", "job", "", "params"},
	} {
		got := renameFields(rota.Invalidf(test.field, "is wrong"), test.from, test.to).(*rota.Error).Field
		if got != test.want {
			t.Errorf("%s, %s for %s, is %s, not %s", test.field, test.to, test.from, got, test.want)
		}
	}
}
