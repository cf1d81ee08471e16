package httpapi_test

import (
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/api"
	"github.com/rotajobs/rota/httpapi"
)

// TestExplainTypeWithoutHandler explains jobs of a type that no worker handles.
func TestExplainTypeWithoutHandler(t *testing.T) {
	s := newServer(t, withEngine(t))
	if made := read[api.Type](s.send("PUT", "types/mail", `{}`).is(201)); made.Handled {
		t.Error("mail is reported as handled")
	}
	handled := map[string]bool{}
	for _, typ := range read[api.List[api.Type]](s.get("types").is(200)).Items {
		handled[typ.Name] = typ.Handled
	}
	if !handled["noop"] || !handled["chatty"] || handled["mail"] || !read[api.Type](s.get("types/noop").is(200)).Handled {
		t.Errorf("%v", handled)
	}
	if why := s.explain(`{"type": "mail"}`); why.Code != "order" ||
		!strings.HasPrefix(why.Text, "This server does not handle type mail, and no remote worker has claimed jobs of it since 20") ||
		!strings.Contains(why.Remedy, "docs/workers.md") || !strings.Contains(why.Remedy, "node.Config.Register") {
		t.Errorf("%+v", why)
	}
	if why := s.explain(`{"type": "mail", "delay": "1h"}`); why.Code != "delay" || strings.Contains(why.Text, "handles") {
		t.Errorf("%+v", why)
	}
}

// TestExplainNamesRemoteWorkers covers workers that wait, are busy, or claimed recently.
func TestExplainNamesRemoteWorkers(t *testing.T) {
	now := &clock{now: time.Now().UTC().Truncate(time.Second)}
	s, waiting := newPollServer(t, withEngine(t), func(c *httpapi.Config) { c.Clock = now.read })
	s.declare("mail", "digest")
	asked := now.read().Format(time.RFC3339)
	s.claim(`{"worker": "w1", "types": ["mail", "digest"]}`)
	now.add(time.Minute)
	says := func(what, text, remedy string) {
		t.Helper()
		if why := s.explain(`{"type": "mail"}`); why.Code != "order" || !strings.HasPrefix(why.Text, text) || !strings.HasSuffix(why.Remedy, remedy) {
			t.Errorf("%s: %+v", what, why)
		}
	}
	says("idle", "Type mail is handled by 1 remote worker; the last claim was at "+asked+". It is the first", "check that one is running.")
	s.claimOne("mail", "digest")
	s.enqueue(`{"type": "mail"}`)
	s.claim(`{"worker": "w2", "types": ["mail"], "lease": "1h"}`)
	says("busy", "Type mail is handled by 3 remote workers, busy with 2 jobs. It is the first", "takes it. Start more workers to run more jobs at the same time (docs/workers.md).")
	says("busy, and it is not the first", "Type mail is handled by 3 remote workers, busy with 2 jobs. In the order 1", "Start more workers to run more jobs at the same time (docs/workers.md).")
	now.add(30 * time.Minute)
	says("one with a long lease", "Type mail is handled by 1 remote worker, busy with 1 job. In the order 2", "")
	now.add(time.Hour)
	since := now.read().Add(-90 * time.Minute).Format(time.RFC3339)
	says("all gone", "This server does not handle type mail, and no remote worker has claimed jobs of it since "+since+".", "or cancel the job.")

	s.send("POST", "types/mail/pause", nil).is(200)
	s.poll(`{"worker": "w1", "types": ["mail"], "wait": "30s"}`)
	waiting.reach(1)
	job := s.post("jobs", `{"type": "mail"}`).is(201).job()
	for _, why := range read[api.Explanation](s.get("jobs/" + job.ID.String() + "/explain").is(200)).Reasons {
		if strings.Contains(why.Text, "remote") {
			t.Errorf("waiting worker: %+v", why)
		}
	}
}

// clock is set by the test.
type clock struct {
	mu  sync.Mutex
	now time.Time
}

func (c *clock) read() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

func (c *clock) add(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(d)
}

// TestExplainWithoutEngineOmitsHandlers uses a server that runs no jobs itself.
func TestExplainWithoutEngineOmitsHandlers(t *testing.T) {
	s := newServer(t)
	s.declare("mail")
	if why := s.explain(`{"type": "mail"}`); why.Code != "order" || strings.Contains(why.Text, "handles") {
		t.Errorf("%+v", why)
	}
}

// explain enqueues a job and returns the first reason why it does not run.
func (s *server) explain(body string) api.Reason {
	s.Helper()
	job := s.post("jobs", body).is(201).job()
	s.apply(&rota.Ready{Meta: rota.NewMeta("")})
	return read[api.Explanation](s.get("jobs/" + job.ID.String() + "/explain").is(200)).Reasons[0]
}
