package sqlite

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/store/sqlite/sqlitetest"
)

// TestRecoverSettlesRowsNoCommandLeaves damages a row in ways that the constraints allow. Recover
// settles it and the rows beside it.
func TestRecoverSettlesRowsNoCommandLeaves(t *testing.T) {
	for name, harm := range map[string]string{
		"a job with a run id and without a run": sqlitetest.WithoutRun(":job"),
		"an outcome without an end time":        `UPDATE rota_jobs SET outcome = 'FAILED' WHERE id = :job`,
	} {
		t.Run(name, func(t *testing.T) {
			s := openTest(t, Config{})
			jobs := running(t, s, 3)
			sqlitetest.Damage(t, s.path, []string{harm}, jobs[1].ID)
			again := at(time.Minute, &rota.Recover{Meta: rota.NewMeta(""), Runner: "node", Incarnation: nextIncarnation})
			reply := apply(t, s, again)[0].Reply.(*rota.Recovered)
			if len(reply.Jobs) != 3 || reply.More {
				t.Fatalf("%d of 3 jobs were settled", len(reply.Jobs))
			}
			verifyClean(t, s)
		})
	}
}

// TestPanicRollsBackTransaction lets a statement panic. The store continues to work.
func TestPanicRollsBackTransaction(t *testing.T) {
	armed := false
	s := openTest(t, Config{injectFault: func(int) error {
		if armed {
			panic("a defect")
		}
		return nil
	}})
	batch := at(0, enqueue(rota.NewJob{Type: "mail"}))
	armed = true
	func() {
		defer func() { _ = recover() }()
		_, _ = s.Apply(context.Background(), batch)
		t.Error("Apply did not panic")
	}()
	armed = false
	apply(t, s, batch)
	verifyClean(t, s)
}

// TestLongParamsSurviveEditClaimAndRetry uses params that are too long for the row of their job.
func TestLongParamsSurviveEditClaimAndRetry(t *testing.T) {
	s := openTest(t, Config{})
	long := func(letter string) []byte { return []byte(`{"x":"` + strings.Repeat(letter, 3*paramsInline) + `"}`) }
	job := apply(t, s, at(0, enqueue(rota.NewJob{Type: "mail", Params: long("a")})))[0].Reply.(*rota.Enqueued).Jobs[0].Job
	apply(t, s, at(0, &rota.Edit{Meta: rota.NewMeta(""), JobID: job.ID, Params: long("b")}))
	claimed := apply(t, s, at(0, claim(1)))[0].Reply.(*rota.Claimed).Jobs[0]
	if string(claimed.Params) != string(long("b")) {
		t.Fatalf("claimed with %.20q", claimed.Params)
	}
	apply(t, s, at(0, &rota.Finish{Meta: rota.NewMeta(""), Items: []rota.FinishItem{{LeaseRef: lease(claimed), Outcome: rota.OutcomeFailed}}}))
	attempts, err := s.Execution(context.Background(), job.ID)
	must(t, err)
	if len(attempts) != 2 || string(attempts[1].Params) != string(long("b")) {
		t.Fatalf("%d attempts; the retry has %.20q", len(attempts), attempts[1].Params)
	}
	apply(t, s, at(0, &rota.Edit{Meta: rota.NewMeta(""), JobID: attempts[1].ID, Params: []byte(`{"short":1}`)}))
	retry, err := s.Job(context.Background(), attempts[1].ID)
	must(t, err)
	if string(retry.Params) != `{"short":1}` {
		t.Fatalf("edited to %.20q", retry.Params)
	}
	verifyClean(t, s)
}

// TestClaimStopsAtByteLimit claims jobs with large params: the claim stops at ClaimBytesMax.
func TestClaimStopsAtByteLimit(t *testing.T) {
	s := openTest(t, Config{})
	big := []byte(`{"x":"` + strings.Repeat("p", rota.ParamsMax-8) + `"}`)
	for range 2 {
		jobs := make([]rota.NewJob, 20)
		for i := range jobs {
			jobs[i] = rota.NewJob{Type: "mail", Params: big}
		}
		apply(t, s, at(0, enqueue(jobs...)))
	}
	want := rota.ClaimBytesMax / len(big)
	if got := len(apply(t, s, at(0, claim(40)))[0].Reply.(*rota.Claimed).Jobs); got != want {
		t.Errorf("%d jobs of %d bytes were claimed at once, want %d", got, len(big), want)
	}
}
