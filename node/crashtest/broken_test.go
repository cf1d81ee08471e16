//go:build unix

package main

import (
	"fmt"
	"net/http"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/httpapi"
	"github.com/rotajobs/rota/store/postgres/pgtest"
)

// Here are tests of what several processes on one store should do and do not yet.
// Each says where the cause lies, and is passed over unless somebody asks for it.
// Once it is kept, it belongs among the others.

// broken passes over a test of a promise that is not kept yet.
func broken(t *testing.T, why string) {
	t.Helper()
	if os.Getenv(envBroken) == "" {
		t.Skipf("not kept yet: %s; set %s to see it", why, envBroken)
	}
}

// envBroken has those tests run.
const envBroken = "ROTA_CRASH_BROKEN"

// TestServersInPeaceLoseNothing: nothing happens to three servers but work.
func TestServersInPeaceLoseNothing(t *testing.T) {
	t.Parallel()
	broken(t, "leases of two seconds get lost on a machine that is busy with other tests")
	cluster, err := pgtest.Start("", pgtest.Options{Durable: true})
	must(t, err)
	t.Cleanup(cluster.Close)
	f := newFleet(t, cluster, 3)
	f.sail()
	f.declare()
	l := begin(f.caller, f.book, fleetActions(), 10)
	time.Sleep(10 * time.Second)
	f.settle(l)
	a := f.audit()
	defer a.store.Close()
	for _, j := range a.jobs {
		if reaped(j) {
			t.Errorf("job %s lost its lease: %s", j.ID, j.Run.Error)
		}
	}
	rows := pgtest.Query(t, cluster.URL(f.database), "SELECT deadlocks FROM pg_stat_database WHERE datname = current_database()")
	if n := rows[0][0]; n != "0" {
		t.Errorf("%s deadlocks, with %d requests", n, f.caller.answered.Load())
	}
}

// TestAHungDatabaseIsNotSilentWhileNothingRuns: no lease is to be kept, so no
// heart beats in vain. It is the hung call of river #1251.
func TestAHungDatabaseIsNotSilentWhileNothingRuns(t *testing.T) {
	t.Parallel()
	f := newFleet(t, pgtest.Shared(t), 1)
	c := f.ticking("3s")
	c.comesToRest()
	time.Sleep(500 * time.Millisecond) // until the next fire there is nothing to do
	f.hangs(c)
	f.stop()
}

// TestAClaimThatWasAnsweredTooLateStartsNothing: a process freezes, or its answer
// is held up, right after its claim was applied. When it goes on its lease has run
// out, and another attempt runs.
func TestAClaimThatWasAnsweredTooLateStartsNothing(t *testing.T) {
	t.Parallel()
	broken(t, "engine/desk.go: what was claimed is started however long ago the claim was sent")
	f := newFleet(t, pgtest.Shared(t), 2, "ROTA_WORKERS=1")
	late, other := f.ships[0], f.ships[1]
	other.rise()
	first := f.holds("first") // the only slot is taken
	job := f.caller.enqueue(object{"until": f.path("second")}, nil)
	frozen := f.faults.begin("freeze", late)
	late.begin(envKill + "=claim:taken:1:freeze")
	f.until("it is claimed", func() bool { return f.chain(job)[0].State() == rota.StateRunning })
	f.release("first")
	f.until("another attempt runs", func() bool { return len(f.chain(job)) == 2 && len(f.ledgerOf(f.tail(job).ID)) == 1 })
	late.life().signal(syscall.SIGCONT)
	f.faults.end(frozen)
	time.Sleep(fleetLease)
	if lines := f.ledgerOf(job.ID.ID); len(lines) > 0 {
		t.Errorf("the first attempt was started at %s, when its lease had been lost since %s", lines[0].at, f.chain(job)[0].Run.FinishedAt)
	}
	f.release("second")
	f.until("all is done", func() bool { return f.caller.state(first) == "completed" && f.tail(job).State() == rota.StateCompleted })
}

// TestADirectRunSentAgainElsewhereIsAnswered: whoever asked one server, and
// heard nothing, asks another under the same key while the run goes on.
func TestADirectRunSentAgainElsewhereIsAnswered(t *testing.T) {
	t.Parallel()
	broken(t, "httpapi/direct.go: awaitEnd waits for an event of its own process, and the run ends in another")
	f := newFleet(t, pgtest.Shared(t), 2)
	f.sail()
	body := []byte(`{"type": "ledger", "params": {"behave": "sleep", "for": "1s"}, "wait": "5s"}`)
	answers := make(chan string, len(f.ships))
	for i := range f.ships {
		c := f.of(i)
		c.patience = 10 * time.Second
		addr, _ := c.where()
		go func() {
			began := time.Now()
			a, err := c.once(t.Context(), "POST", "http://"+addr+"/api/v1/direct", body, "the same key")
			answers <- fmt.Sprint(i, ": ", a.status, " ", err, " after ", time.Since(began).Round(100*time.Millisecond))
		}()
		time.Sleep(300 * time.Millisecond)
	}
	deadline := time.After(5 * time.Second)
	for range f.ships {
		select {
		case answer := <-answers:
			t.Log(answer)
		case <-deadline:
			t.Fatal("the run has ended, and somebody who asked for it has no answer")
		}
	}
}

// TestDirectRunsGoOnWhenAServerDies: it was killed while it waited for a slot.
func TestDirectRunsGoOnWhenAServerDies(t *testing.T) {
	t.Parallel()
	broken(t, "the reservation of a dead server holds up the direct runs of all for five minutes: nothing reaps it, and its name never comes back to recover it")
	f := newFleet(t, pgtest.Shared(t), 2, "ROTA_WORKERS=1")
	first, second := f.ships[0], f.ships[1]
	first.rise()
	f.holds("open")
	addr, _ := first.where()
	go func() {
		_, _ = f.of(0).once(t.Context(), "POST", "http://"+addr+"/api/v1/direct", []byte(`{"type": "ledger", "params": {}, "wait": "15s"}`), "")
	}()
	f.until("it has reserved", func() bool {
		list, err := f.looker().Reservations(t.Context(), rota.ID{}, 1)
		must(t, err)
		return len(list) == 1
	})
	second.rise()
	f.sink(first)
	f.release("open")
	a, err := f.of(1).write(t.Context(), "POST", "/direct", object{"type": "ledger", "params": object{}, "wait": "10s"})
	must(t, err)
	if a.status != http.StatusOK {
		t.Errorf("10 seconds after a server died, with a lease of %s: %d %s", fleetLease, a.status, a.body)
	}
}

// TestAScheduleBeginsByTheDatabasesClock: where it is declared, the clock is wrong.
func TestAScheduleBeginsByTheDatabasesClock(t *testing.T) {
	t.Parallel()
	broken(t, "httpapi declares, resumes and backfills schedules by the clock of its own process")
	f := newFleet(t, pgtest.Shared(t), 1)
	f.skew(f.ships[0], skewMost)
	f.sail()
	c, declared := f.of(0), time.Now()
	c.must("POST", "/templates", object{"name": "tick", "type": "ledger"}, nil)
	c.must("POST", "/schedules", object{"name": "tick", "template": "tick", "every": "1s"}, nil)
	f.until("it was fired", func() bool {
		var list httpapi.List[httpapi.Job]
		c.see("/jobs?schedule=tick&limit=5", &list)
		return len(list.Items) > 0
	})
	if late := time.Since(declared); late > 3*time.Second {
		t.Errorf("every second, and the first time after %s", late.Round(100*time.Millisecond))
	}
	ago := func(d time.Duration) string { return time.Now().Add(-d).UTC().Format(time.RFC3339Nano) }
	f.skew(f.ships[0], -skewMost)
	time.Sleep(2 * time.Second)
	a, err := c.write(t.Context(), "POST", "/schedules/tick/backfill", object{"from": ago(3 * time.Second), "to": ago(time.Second)})
	must(t, err)
	if a.status >= 300 {
		t.Errorf("a backfill of what has passed is refused: %s", a.body)
	}
}

// TestARateGoesByTheDatabasesClock: the clock of the server that starts is wrong.
func TestARateGoesByTheDatabasesClock(t *testing.T) {
	t.Parallel()
	broken(t, "engine/desk.go: when a rate has room again is told by the store's clock and waited for by this process's")
	for _, by := range []time.Duration{skewMost, -skewMost} {
		t.Run(by.String(), func(t *testing.T) {
			t.Parallel()
			f := newFleet(t, pgtest.Shared(t), 1)
			f.skew(f.ships[0], by)
			f.sail()
			c := f.of(0)
			c.must("PUT", "/limits", object{"types": object{narrow: object{"rate": "4/1s"}}}, nil)
			batches := c.batches()
			began := time.Now()
			for range 16 {
				c.must("POST", "/jobs", object{"type": narrow, "params": object{}}, nil)
			}
			c.comesToRest()
			took, sent := time.Since(began), c.batches()-batches
			t.Logf("16 jobs at 4 a second took %s and %d batches", took.Round(100*time.Millisecond), sent)
			if took > 6*time.Second || sent > 400 {
				t.Errorf("with a clock that is wrong by %s they took %s and %d batches", by, took.Round(100*time.Millisecond), sent)
			}
		})
	}
}

// batches is how often the server has written to its store.
func (c *caller) batches() (n int) {
	c.site.Helper()
	addr, _ := c.where()
	a, err := c.once(c.site.Context(), "GET", "http://"+addr+"/metrics", nil, "")
	must(c.site, err)
	_, text, _ := strings.Cut(string(a.body), "\nrota_store_apply_seconds_count ")
	if _, err := fmt.Sscanf(text, "%d", &n); err != nil {
		c.site.Fatalf("%v in %s", err, a.body)
	}
	return n
}
