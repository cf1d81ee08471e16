package httpapi_test

import (
	"strings"
	"testing"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/httpapi"
)

// TestATypeThatNobodyHandlesIsSaidToBeSo asks about jobs that wait for a worker
// which does not come.
func TestATypeThatNobodyHandlesIsSaidToBeSo(t *testing.T) {
	s := newServer(t, withEngine(t))
	if made := read[httpapi.Type](s.send("PUT", "types/mail", `{}`).is(201)); made.Handled {
		t.Error("mail is said to be handled")
	}
	handled := map[string]bool{}
	for _, typ := range read[httpapi.List[httpapi.Type]](s.get("types").is(200)).Items {
		handled[typ.Name] = typ.Handled
	}
	if !handled["noop"] || !handled["chatty"] || handled["mail"] || !read[httpapi.Type](s.get("types/noop").is(200)).Handled {
		t.Errorf("%v", handled)
	}
	if why := s.explain(`{"type": "mail"}`); why.Code != "order" ||
		why.Text != "No worker of this server handles type mail, so nobody takes it." || !strings.Contains(why.Remedy, "node.Config.Register") {
		t.Errorf("%+v", why)
	}
	if why := s.explain(`{"type": "mail", "delay": "1h"}`); why.Code != "delay" || strings.Contains(why.Text, "handles") {
		t.Errorf("%+v", why)
	}
}

// TestWithoutAnEngineNothingIsSaidAboutHandlers has jobs that others may take.
func TestWithoutAnEngineNothingIsSaidAboutHandlers(t *testing.T) {
	s := newServer(t)
	s.declare("mail")
	if why := s.explain(`{"type": "mail"}`); why.Code != "order" || strings.Contains(why.Text, "handles") {
		t.Errorf("%+v", why)
	}
}

// explain is the first reason why a new job does not run.
func (s *server) explain(body string) httpapi.Reason {
	s.Helper()
	job := s.post("jobs", body).is(201).job()
	s.apply(&rota.Ready{Meta: rota.NewMeta("")})
	return read[httpapi.Explanation](s.get("jobs/" + job.ID.String() + "/explain").is(200)).Reasons[0]
}
