package httpapi

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"testing"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/api/problem"
)

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
		{fmt.Errorf("while: %w", problem.Malformed("x", "is wrong")), http.StatusBadRequest, rota.Invalid},
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
