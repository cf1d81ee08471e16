package httpapi_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/api"
	"github.com/rotajobs/rota/httpapi"
	"github.com/rotajobs/rota/store/wrap"
)

// claim claims jobs as a worker.
func (s *server) claim(body string, headers ...string) []api.ClaimedJob {
	s.Helper()
	return read[api.Claimed](s.post("claim", body, headers...).is(200)).Items
}

// claimOne claims exactly one job.
func (s *server) claimOne(types ...string) api.ClaimedJob {
	s.Helper()
	items := s.claim(fmt.Sprintf(`{"worker": "w", "types": ["%s"], "limit": 9}`, strings.Join(types, `", "`)))
	if len(items) != 1 {
		s.Fatalf("%d jobs were claimed", len(items))
	}
	return items[0]
}

// lease returns an item for a claimed job, with more fields.
func lease(job api.ClaimedJob, more string) string {
	return fmt.Sprintf(`{"run_id": "%s", "job_id": "%s", "lease_token": "%s"%s}`, job.RunID, job.Job.ID, job.LeaseToken, more)
}

func (s *server) extend(job api.ClaimedJob, more string) api.ExtendedLease {
	s.Helper()
	items := read[api.Extended](s.post("extend", `{"items": [`+lease(job, more)+`]}`).is(200)).Items
	if len(items) != 1 || items[0].RunID != job.RunID {
		s.Fatalf("%+v", items)
	}
	return items[0]
}

// finish finishes a job, and returns the code of the result.
func (s *server) finish(job api.ClaimedJob, more string) string {
	s.Helper()
	items := read[api.Finished](s.post("finish", `{"items": [`+lease(job, more)+`]}`).is(200)).Items
	if len(items) != 1 || items[0].RunID != job.RunID {
		s.Fatalf("%+v", items)
	}
	return items[0].Code
}

func (s *server) show(id api.ID) api.Job {
	s.Helper()
	return s.get("jobs/" + id.String()).is(200).job()
}

// skewedStore is a store whose clock is ahead.
type skewedStore struct {
	rota.Store
	by time.Duration
}

func (a *skewedStore) Apply(ctx context.Context, b rota.Batch) ([]rota.Result, error) {
	if b.Now.IsZero() && a.by != 0 {
		b.Now = time.Now().Add(a.by)
	}
	return a.Store.Apply(ctx, b)
}

// newSkewedServer returns a server with such a store.
func newSkewedServer(t *testing.T, change ...func(*httpapi.Config)) (*server, *skewedStore) {
	clock := &skewedStore{}
	s := newServer(t, append(change, func(c *httpapi.Config) {
		clock.Store = c.Store
		c.Store = clock
	})...)
	s.store = clock
	return s, clock
}

func TestWorkerClaimsExtendsAndFinishes(t *testing.T) {
	s := newServer(t)
	s.declare("mail", "other")
	first := s.enqueue(`{"type": "mail", "params": {"to": "ada"}, "timeout": "90s", "priority": 2}`)
	second := s.enqueue(`{"type": "mail", "timeout": "0s", "priority": 1}`)
	s.enqueue(`{"type": "mail"}`)
	s.enqueue(`{"type": "other", "priority": 9}`)
	answer := s.post("claim", `{"worker": "mailer-1", "types": ["mail", "nobody-declared-this"], "limit": 2, "lease": "1 MINUTE"}`).is(200)
	items := read[api.Claimed](answer).Items
	if len(items) != 2 || items[0].Job.ID.String() != first || items[1].Job.ID.String() != second {
		t.Fatalf("%+v", items)
	}
	one, two := items[0], items[1]
	if string(one.Job.Params) != `{"to":"ada"}` || one.Job.State != "running" || one.Job.Worker != "mailer-1" || one.Job.Run.ID != one.RunID {
		t.Errorf("%+v", one.Job)
	}
	if lease := one.StaleAfter.Sub(one.Job.StartedAt.Time); lease != time.Minute {
		t.Errorf("the lease is %v", lease)
	}
	if limit := one.Deadline.Sub(one.Job.StartedAt.Time); limit != 90*time.Second {
		t.Errorf("the time limit is %v", limit)
	}
	if strings.Count(answer.text, `"deadline"`) != 1 || !two.Deadline.IsZero() {
		t.Error("a job without a timeout has a deadline")
	}
	if shown := s.get("jobs/" + first).text; strings.Contains(shown, one.LeaseToken) || one.LeaseToken == two.LeaseToken || len(one.LeaseToken) != 32 {
		t.Error("a lease token is shown, shared or malformed")
	}

	held := s.extend(one, `, "progress": {"done": 3}`)
	if held.Code != "ok" || held.Cancel || held.Reason != "" || !held.StaleAfter.Before(one.StaleAfter.Time) {
		t.Errorf("%+v", held) // 30 s, not the minute of the claim
	}
	if run := s.show(one.Job.ID).Run; string(run.Progress) != `{"done":3}` || !run.StaleAfter.Equal(held.StaleAfter.Time) {
		t.Errorf("%+v", run)
	}
	s.extend(one, "")
	if run := s.show(one.Job.ID).Run; string(run.Progress) != `{"done":3}` {
		t.Errorf("the progress is %s", run.Progress)
	}

	code := s.finish(one, `, "outcome": "Completed", "result": {"sent": 1}, "exit_code": 0, "rows_affected": 7, "artifacts": ["a.txt"]`)
	if run := s.show(one.Job.ID).Run; code != "ok" || run.Status != "COMPLETED" || string(run.Result) != `{"sent":1}` || *run.ExitCode != 0 || *run.RowsAffected != 7 || run.Artifacts[0] != "a.txt" {
		t.Errorf("%s %+v", code, run)
	}
	again := time.Now().Add(time.Hour).UTC().Truncate(time.Second)
	code = s.finish(two, `, "outcome": "failed", "error": "`+strings.Repeat("é", 20_000)+`", "error_code": "E7", "retry_at": "`+again.Format(time.RFC3339)+`"`)
	attempts := read[api.ExecutionDetail](s.get("executions/" + second).is(200)).Attempts
	if run := attempts[0].Run; code != "ok" || run.Status != "FAILED" || run.ErrorCode != "E7" || len(run.Error) > rota.ErrorMax || len(run.Error) < rota.ErrorMax-20 {
		t.Errorf("%s %+v", code, run)
	}
	if len(attempts) != 2 || !attempts[1].RunAt.Equal(again) {
		t.Errorf("%+v", attempts)
	}
	if code := s.finish(two, `, "outcome": "failed"`); code != "ok" {
		t.Errorf("finish repeated: %s", code)
	}
	if code := s.finish(two, `, "outcome": "completed"`); code != "lease_lost" {
		t.Errorf("finish with another outcome: %s", code)
	}
	if held := s.extend(two, ""); held.Code != "lease_lost" {
		t.Errorf("extend after the end: %+v", held)
	}
}

func TestFinalOutcomesAreNotRetried(t *testing.T) {
	s := newServer(t)
	s.declare("a")
	for outcome, want := range map[string]string{
		`"failed", "permanent": true`: "failed", `"SKIPPED"`: "skipped", `"cancelled"`: "cancelled",
	} {
		id := s.enqueue(`{"type": "a"}`)
		if code := s.finish(s.claimOne("a"), `, "outcome": `+outcome); code != "ok" {
			t.Error(code)
		}
		attempts := read[api.ExecutionDetail](s.get("executions/" + id).is(200)).Attempts
		if len(attempts) != 1 || attempts[0].State != want {
			t.Errorf("%s: %+v", outcome, attempts)
		}
	}
}

func TestClaimRespectsLimitAndTypes(t *testing.T) {
	s := newServer(t)
	s.declare("a", "b")
	for range 5 {
		s.enqueue(`{"type": "a"}`)
	}
	s.enqueue(`{"type": "b"}`)
	for _, test := range []struct {
		limit string
		want  int
	}{{"", 1}, {`, "limit": 3`, 3}, {`, "limit": 1000`, 1}, {"", 0}} {
		if got := s.claim(`{"worker": "w", "types": ["a", "a"]` + test.limit + `}`); len(got) != test.want {
			t.Errorf("%d jobs, want %d", len(got), test.want)
		}
	}
	if got := s.post("claim", `{"worker": "w", "types": ["a"]}`).is(200).text; got != `{"items":[]}`+"\n" {
		t.Error(got)
	}
}

func TestExtendReportsCancelAndTimeout(t *testing.T) {
	s, clock := newSkewedServer(t)
	s.declare("a")
	s.enqueue(`{"type": "a"}`)
	job := s.claimOne("a")
	s.post("jobs/"+job.Job.ID.String()+"/cancel", `{"reason": "sent by mistake"}`).is(200)
	if held := s.extend(job, ""); held.Code != "ok" || !held.Cancel || held.Reason != "sent by mistake" {
		t.Errorf("%+v", held)
	}
	if code := s.finish(job, `, "outcome": "failed", "error": "interrupted"`); code != "ok" {
		t.Error(code)
	}
	if job := s.show(job.Job.ID); job.State != "cancelled" || job.Run.ErrorCode != "cancelled" {
		t.Errorf("%+v", job.Run)
	}
	s.enqueue(`{"type": "a"}`)
	job = s.claimOne("a")
	s.post("jobs/"+job.Job.ID.String()+"/cancel", `{"reason": "timeout"}`).is(200) // a reason from a person; the run is not retried
	if held := s.extend(job, ""); !held.Cancel || held.Reason != "asked to stop: timeout" {
		t.Errorf("%+v", held)
	}
	s.finish(job, `, "outcome": "cancelled"`)
	s.enqueue(`{"type": "a", "timeout": "5s"}`)
	job = s.claimOne("a")
	if held := s.extend(job, ""); held.Cancel {
		t.Errorf("%+v", held)
	}
	clock.by = 6 * time.Second
	if held := s.extend(job, ""); held.Code != "ok" || !held.Cancel || held.Reason != "timeout" {
		t.Errorf("%+v", held)
	}
	s.finish(job, `, "outcome": "cancelled", "error_code": "timeout"`)
	if attempts := read[api.ExecutionDetail](s.get("executions/" + job.Job.ID.String()).is(200)).Attempts; len(attempts) != 2 {
		t.Errorf("a timeout must be retried: %+v", attempts)
	}
}

// TestFrozenWorkerLosesLease resumes a worker after its job was given to another. None of its requests
// changes anything.
func TestFrozenWorkerLosesLease(t *testing.T) {
	s, clock := newSkewedServer(t, func(c *httpapi.Config) { c.LogWriter = logWriter{c.Logs.(logReader).logDir} })
	s.declare("a")
	id := s.enqueue(`{"type": "a", "backoff": "0s"}`)
	frozen := s.claim(`{"worker": "frozen", "types": ["a"], "lease": "1s"}`)[0]
	clock.by = 3 * time.Second
	s.apply(&rota.Reap{Meta: rota.NewMeta("")})
	if run := s.show(frozen.Job.ID).Run; run.Status != "FAILED" || run.ErrorCode != "lease_expired" {
		t.Fatalf("%+v", run)
	}
	late := func() {
		t.Helper()
		before := s.dump()
		if held := s.extend(frozen, `, "progress": 99`); held.Code != "lease_lost" || held.Cancel || !held.StaleAfter.IsZero() {
			t.Errorf("%+v", held)
		}
		for _, outcome := range []string{"completed", "failed", "cancelled", "skipped"} {
			if code := s.finish(frozen, `, "outcome": "`+outcome+`", "result": 1, "log": "late", "error": "x"`); code != "lease_lost" {
				t.Errorf("%s: %s", outcome, code)
			}
		}
		if s.dump() != before {
			t.Error("it changed something")
		}
	}
	late()
	s.apply(&rota.Ready{Meta: rota.NewMeta("")})
	other := s.claim(`{"worker": "other", "types": ["a"]}`)[0]
	if other.Job.ExecutionID.String() != id || other.Job.Attempt != 2 || other.LeaseToken == frozen.LeaseToken {
		t.Errorf("%+v", other)
	}
	late()
	if code := s.finish(other, `, "outcome": "completed"`); code != "ok" {
		t.Error(code)
	}
	late()
	if text := s.get("jobs/" + frozen.Job.ID.String() + "/log").is(200).text; text != "" {
		t.Errorf("its log was written: %q", text)
	}
}

// TestLeaseWithWrongTokenIsLost uses the token of another run and an unknown run. Other items of the
// same request take effect.
func TestLeaseWithWrongTokenIsLost(t *testing.T) {
	s := newServer(t)
	s.declare("a")
	s.enqueue(`{"type": "a"}`)
	s.enqueue(`{"type": "a"}`)
	items := s.claim(`{"worker": "w", "types": ["a"], "limit": 2}`)
	forged := items[0]
	forged.LeaseToken = items[1].LeaseToken
	unknown := items[0]
	unknown.Job.ID.ID, unknown.RunID.ID = rota.NewID(), rota.NewID()
	before := s.show(items[0].Job.ID)
	three := lease(forged, `, "outcome": "completed"`) + `,` + lease(items[1], `, "outcome": "completed"`) + `,` + lease(unknown, `, "outcome": "failed"`)
	finished := read[api.Finished](s.post("finish", `{"items": [`+three+`]}`).is(200)).Items
	if finished[0].Code != "lease_lost" || finished[1].Code != "ok" || finished[2].Code != "lease_lost" || finished[2].RunID != unknown.RunID {
		t.Errorf("%+v", finished)
	}
	if held := s.extend(forged, ""); held.Code != "lease_lost" {
		t.Errorf("%+v", held)
	}
	if after := s.show(items[0].Job.ID); fmt.Sprintf("%+v", *after.Run) != fmt.Sprintf("%+v", *before.Run) {
		t.Errorf("%+v", after.Run)
	}
	if job := s.show(items[1].Job.ID); job.State != "completed" {
		t.Errorf("%+v", job)
	}
}

// TestFinishManyRuns finishes more than one command can contain.
func TestFinishManyRuns(t *testing.T) {
	s := newServer(t)
	s.declare("a")
	s.post("jobs/batch", `{"jobs": [`+strings.Repeat(`{"type": "a"},`, 399)+`{"type": "a"}]}`).is(201)
	items := s.claim(`{"worker": "w", "types": ["a"], "limit": 400}`)
	ends := make([]string, len(items))
	result := `, "outcome": "completed", "result": "` + strings.Repeat("x", 60<<10) + `"`
	for i, job := range items {
		ends[i] = lease(job, result)
	}
	finished := read[api.Finished](s.post("finish", `{"items": [`+strings.Join(ends, ",")+`]}`).is(200)).Items
	if len(finished) != 400 {
		t.Fatalf("%d are answered", len(finished))
	}
	for i := range finished {
		if finished[i].Code != "ok" || finished[i].RunID != items[i].RunID {
			t.Fatalf("%d: %+v", i, finished[i])
		}
	}
	if stats := read[api.Stats](s.get("stats").is(200)); stats.Running != 0 {
		t.Errorf("%+v", stats)
	}
}

func TestFinishRecordsWhenDelayedRunEnded(t *testing.T) {
	s := newServer(t)
	s.declare("a")
	s.post("jobs", `{"type": "a"}`).is(201)
	job := s.claim(`{"worker": "w", "types": ["a"]}`)[0]
	s.post("finish", `{"items": [`+lease(job, `, "outcome": "completed", "ended_ago": "-1s"`)+`]}`).field(422, "invalid", "items[0].ended_ago")
	s.post("finish", `{"items": [`+lease(job, `, "outcome": "completed", "ended_ago": "1h"`)+`]}`).is(200)
	ended := read[api.Job](s.get("jobs/" + job.Job.ID.String()).is(200))
	if !ended.FinishedAt.Equal(ended.StartedAt.Time) || !ended.Run.FinishedAt.Equal(ended.FinishedAt.Time) {
		t.Errorf("it started at %s and ended an hour before, so at its start; got %s, run %s", ended.StartedAt, ended.FinishedAt, ended.Run.FinishedAt)
	}
}

// TestClaimFailsJobsWithInvalidParams uses a schema that became stricter while the jobs waited.
func TestClaimFailsJobsWithInvalidParams(t *testing.T) {
	s := newServer(t)
	s.declare("mail")
	var bad []string
	for range 3 {
		bad = append(bad, s.enqueue(`{"type": "mail", "params": {"to": 7}, "priority": 5}`))
	}
	good := s.enqueue(`{"type": "mail", "params": {"to": "ada"}}`)
	s.send("PUT", "types/mail", `{"schema": {"type": "object", "properties": {"to": {"type": "string"}}}}`).is(200)
	if p := s.post("jobs", `{"type": "mail", "params": {"to": 7}}`).problem(422, "invalid"); p.Errors[0].Field != "params.to" {
		t.Errorf("%+v", p)
	}
	items := s.claim(`{"worker": "w", "types": ["mail"], "limit": 2}`)
	if len(items) != 1 || items[0].Job.ID.String() != good {
		t.Fatalf("%+v", items)
	}
	for _, id := range bad {
		attempts := read[api.ExecutionDetail](s.get("executions/" + id).is(200)).Attempts
		run := attempts[0].Run
		if len(attempts) != 1 || run.Status != "FAILED" || run.ErrorCode != "payload" || !strings.Contains(string(run.Error), "params.to") {
			t.Errorf("%d attempts, %+v", len(attempts), run)
		}
	}
	if dead := s.all("dead", 10); len(dead) != 3 {
		t.Errorf("%d are dead", len(dead))
	}
}

// TestClaimIgnoresUnusableSchema checks that a schema that cannot be evaluated fails no job: its
// params may be valid.
func TestClaimIgnoresUnusableSchema(t *testing.T) {
	s := newServer(t)
	deep := strings.Repeat(`{"x":`, 400) + `1` + strings.Repeat(`}`, 400)
	for _, schema := range []string{
		`{"$ref": "#"}`, `{"type": "nonsense"}`, `{"type": "object", "properties": {"x": {"anyOf": [{"$ref": "#"}, {"$ref": "#"}]}}}`,
	} {
		s.apply(&rota.PutType{Meta: rota.NewMeta(""), Name: "a"})
		id := s.enqueue(`{"type": "a", "params": ` + deep + `}`)
		s.apply(&rota.PutType{Meta: rota.NewMeta(""), Name: "a", Spec: rota.TypeSpec{Schema: json.RawMessage(schema)}})
		if job := s.claimOne("a"); job.Job.ID.String() != id {
			t.Errorf("%s: %+v", schema, job)
		}
	}
}

// TestTypesCountActiveWorkers covers workers that wait, are busy, or sent a request recently.
func TestTypesCountActiveWorkers(t *testing.T) {
	now := &clock{now: time.Now()}
	s, waiting := newPollServer(t, func(c *httpapi.Config) { c.Clock = now.read })
	s.declare("a", "b")
	handled := func(a, b int) {
		t.Helper()
		for _, typ := range read[api.List[api.Type]](s.get("types").is(200)).Items {
			want := map[string]int{"a": a, "b": b}[typ.Name]
			if one := read[api.Type](s.get("types/" + typ.Name).is(200)); typ.Workers != want || one.Workers != want {
				t.Errorf("%d and %d handle %s, not %d", typ.Workers, one.Workers, typ.Name, want)
			}
		}
	}
	handled(0, 0)
	for i, name := range []string{"w1", "w2", "w2"} {
		s.poll(`{"worker": "` + name + `", "types": ["a", "c"], "wait": "30s"}`)
		waiting.reach(i + 1)
	}
	s.claim(`{"worker": "w1", "types": ["b", "a"]}`)
	handled(2, 1)

	now.add(3 * time.Minute)
	s.enqueue(`{"type": "b"}`)
	held := s.claimOne("b")
	s.enqueue(`{"type": "b"}`)
	lost := s.claimOne("b")
	handled(0, 1)
	now.add(time.Minute + 59*time.Second)
	s.extend(held, "")
	now.add(time.Minute + 59*time.Second)
	handled(0, 1)
	s.finish(held, `, "outcome": "completed"`)
	now.add(time.Minute + 59*time.Second)
	handled(0, 1)
	now.add(time.Second)
	handled(0, 0)
	s.finish(lost, `, "outcome": "completed"`) // its lease has expired, but the worker is active
	handled(0, 1)
}

func TestWorkerRoutesRequireTokenAndPost(t *testing.T) {
	s := newServer(t)
	for _, path := range []string{"claim", "extend", "finish"} {
		s.post(path, `{}`, "Authorization", "Bearer wrong").problem(401, "denied")
		s.post(path, `{}`, "Authorization", "").problem(401, "denied")
		s.post(path, `{}`, "Content-Type", "text/plain").problem(415, "unsupported_media_type")
		for _, method := range []string{"GET", "PUT", "DELETE"} {
			a := s.send(method, path, nil)
			if a.problem(405, "method_not_allowed"); a.header.Get("Allow") != "POST" {
				t.Errorf("%s allows %s", path, a.header.Get("Allow"))
			}
		}
		s.send("HEAD", path, nil).is(405)
	}
}

func TestWorkerRequestReportsStoreError(t *testing.T) {
	down := &rota.Error{Code: rota.Unavailable, Reason: "the disk is full"}
	var fault error
	s := newServer(t, func(c *httpapi.Config) {
		c.Store = wrap.Flaky(c.Store, wrap.Fault{Before: func(rota.Batch) error { return fault }})
	})
	s.declare("a")
	s.enqueue(`{"type": "a"}`)
	job := s.claimOne("a")
	fault = down
	s.post("claim", `{"worker": "w", "types": ["a"]}`).problem(503, "unavailable")
	s.post("extend", `{"items": [`+lease(job, "")+`]}`).problem(503, "unavailable")
	s.post("finish", `{"items": [`+lease(job, `, "outcome": "completed"`)+`]}`).problem(503, "unavailable")
	fault = nil
	if code := s.finish(job, `, "outcome": "completed"`); code != "ok" {
		t.Error(code)
	}
}

// How long ago a run ended counts from the arrival of the request, however long the store holds it.
func TestFinishStatesWhenItArrived(t *testing.T) {
	var sent time.Time
	s := newServer(t, func(c *httpapi.Config) {
		c.Store = wrap.Flaky(c.Store, wrap.Fault{Before: func(b rota.Batch) error {
			if finish, is := b.Commands[0].(*rota.Finish); is {
				sent = finish.Sent
			}
			return nil
		}})
	})
	s.declare("a")
	s.enqueue(`{"type": "a"}`)
	job, before := s.claimOne("a"), time.Now()
	if code := s.finish(job, `, "outcome": "completed", "ended_ago": "1s"`); code != "ok" || sent.Before(before) || sent.After(time.Now()) {
		t.Errorf("%s; the command states %s, want a time after %s", code, sent, before)
	}
}

// A worker that ignores a cancel or its deadline loses the lease when the grace is over.
func TestWorkerThatDoesNotStopLosesLease(t *testing.T) {
	s, clock := newSkewedServer(t, func(c *httpapi.Config) { c.CancelGrace = 4 * time.Second })
	s.declare("mail")
	for _, test := range []struct {
		job    string
		toStop func(id string)
	}{
		{`{"type": "mail"}`, func(id string) { s.post("jobs/"+id+"/cancel", `{}`).is(200) }},
		{`{"type": "mail", "timeout": "5s"}`, func(string) { clock.by += 5 * time.Second }},
	} {
		s.enqueue(test.job)
		job := s.claimOne("mail")
		test.toStop(job.Job.ID.String())
		clock.by += 3 * time.Second
		if held := s.extend(job, ""); held.Code == string(rota.LeaseLost) {
			t.Errorf("%s: within the grace: %+v", test.job, held)
		}
		clock.by += 2 * time.Second
		if held := s.extend(job, ""); held.Code != string(rota.LeaseLost) {
			t.Errorf("%s: after the grace: %+v", test.job, held)
		}
		// No reap has ended the run yet.
		if code := s.finish(job, `, "outcome": "completed"`); code != string(rota.LeaseLost) {
			t.Errorf("%s: a finish after the grace: %s", test.job, code)
		}
		if code := s.finish(job, `, "outcome": "completed", "ended_ago": "3s"`); code != "ok" {
			t.Errorf("%s: the finish of a run that ended within the grace: %s", test.job, code)
		}
	}
}

// A worker that waits learns of a cancel when it happens.
func TestExtendWaitsForCancel(t *testing.T) {
	s := newServer(t)
	s.declare("a")
	s.enqueue(`{"type": "a"}`)
	job := s.claimOne("a")
	answers := make(chan string, 1)
	go func() {
		answers <- s.post("extend", `{"lease": "1h", "wait": "60s", "items": [`+lease(job, `, "progress": 7`)+`]}`).text
	}()
	for s.show(job.Job.ID).Run.Progress == nil { // the leases are extended before the wait
		time.Sleep(time.Millisecond)
	}
	s.post("jobs/"+job.Job.ID.String()+"/cancel", `{"reason": "sent by mistake"}`).is(200)
	if text := <-answers; !strings.Contains(text, `"cancel":true`) || !strings.Contains(text, "sent by mistake") {
		t.Errorf("the answer is %s", text)
	}
	if again := s.post("extend", `{"lease": "1h", "wait": "60s", "items": [`+lease(job, "")+`]}`).is(200).text; !strings.Contains(again, `"cancel":true`) {
		t.Errorf("a run that is stopping is answered with %s", again)
	}
	for body, wants := range map[string]string{
		`{"lease": "10s", "wait": "6s", "items": [` + lease(job, "") + `]}`: "allowed are 0s to 5s",
		`{"lease": "1h", "wait": "61s", "items": [` + lease(job, "") + `]}`: "allowed are 0s to 1m",
	} {
		if text := s.post("extend", body).is(422).text; !strings.Contains(text, wants) {
			t.Errorf("%s is refused with %s", body, text)
		}
	}
}

// Extends that wait have slots of their own: a claim that waits takes none of them. Without a free slot
// the server answers at once.
func TestExtendsThatWaitHaveTheirOwnSlots(t *testing.T) {
	s, waiting := newPollServer(t, func(c *httpapi.Config) { c.PollsMax = 1 })
	s.declare("a")
	s.enqueue(`{"type": "a"}`)
	job := s.claimOne("a")
	s.poll(`{"worker": "w", "types": ["b"], "wait": "60s"}`)
	waiting.reach(1)
	answers := make(chan string, 2)
	for range 2 {
		go func() {
			answers <- s.post("extend", `{"lease": "1h", "wait": "60s", "items": [`+lease(job, "")+`]}`).text
		}()
	}
	if text := <-answers; strings.Contains(text, `"cancel":true`) { // there is no second slot
		t.Errorf("the extend without a slot is answered with %s", text)
	}
	s.post("jobs/"+job.Job.ID.String()+"/cancel", "").is(200)
	if text := <-answers; !strings.Contains(text, `"cancel":true`) {
		t.Errorf("the extend did not wait: %s", text)
	}
}
