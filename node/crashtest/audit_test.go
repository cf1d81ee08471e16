//go:build unix

package main

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"strings"
	"time"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/store/sqlite"
)

// audit compares the contents of a store with the ledger and the answers.
type audit struct {
	*serverDir
	answers *answerLog
	store   rota.Store
	shared  bool // several processes use the store, so runs of a dead process are reaped, not recovered
	jobs    map[rota.ID]*rota.Job
	chains  map[rota.ID][]*rota.Job // attempts of each execution, in order
	lines   []line
	starts  map[rota.ID]line
	ends    map[rota.ID]string
}

// line is one line of the ledger.
type line struct {
	kind      string
	job       rota.ID
	execution rota.ID
	attempt   int
	pid       int
	worker    string
	result    string
	at        time.Time
}

// verifyBetweenStarts opens the store between two incarnations and checks every invariant.
func (c *crashTest) verifyBetweenStarts() {
	store := c.serverDir.openStore()
	defer store.Close()
	verifyStore(c.serverDir, store)
}

// openStore opens the store of a server that has ended.
func (s *serverDir) openStore() *sqlite.Store {
	s.Helper()
	store, err := sqlite.OpenWith(s.database(), sqlite.Config{Logger: slog.New(slog.DiscardHandler)})
	must(s, err)
	return store
}

func verifyStore(s *serverDir, store rota.Store) {
	s.Helper()
	for v, err := range store.Verify(context.Background()) {
		must(s, err)
		s.Errorf("%s: %s %v", v.Check, v.Detail, v.Rows)
	}
}

// auditAll compares the store with the answers of the server and the ledger of its
// handlers.
func (c *crashTest) auditAll(stopped time.Time) {
	a := c.serverDir.audit(c.answers)
	defer a.store.Close()
	a.checkAcknowledged()
	a.checkStarts()
	a.checkEndings()
	a.checkCancels()
	a.checkPauses()
	a.checkSchedules(stopped)
	a.checkGroups()
	a.checkReservations()
	a.checkLog()
	a.addCounts()
}

// audit reads the store of a server that has ended, and the ledger.
func (s *serverDir) audit(answers *answerLog) *audit {
	s.Helper()
	return s.auditOf(s.openStore(), answers)
}

// auditOf reads a store and the ledger, and makes the checks common to all tests.
func (s *serverDir) auditOf(store rota.Store, answers *answerLog) *audit {
	s.Helper()
	a := &audit{
		serverDir: s, answers: answers, store: store, jobs: map[rota.ID]*rota.Job{}, chains: map[rota.ID][]*rota.Job{},
		starts: map[rota.ID]line{}, ends: map[rota.ID]string{},
	}
	verifyStore(s, a.store)
	a.readStore()
	a.readLedger()
	return a
}

func (a *audit) readStore() {
	for query := (rota.JobQuery{Limit: rota.PageMax}); ; {
		page, err := a.store.Jobs(context.Background(), query)
		must(a, err)
		for _, j := range page {
			a.jobs[j.ID] = j
			chain := a.chains[j.ExecutionID]
			for len(chain) < j.Attempt {
				chain = append(chain, nil)
			}
			if chain[j.Attempt-1] != nil {
				a.Errorf("execution %s has two attempts %d", j.ExecutionID, j.Attempt)
			}
			chain[j.Attempt-1] = j
			a.chains[j.ExecutionID] = chain
		}
		if len(page) < rota.PageMax {
			return
		}
		query.Before = page[len(page)-1].ID
	}
}

func (a *audit) readLedger() {
	text, err := os.ReadFile(a.path("ledger"))
	must(a, err)
	for row := range strings.Lines(string(text)) {
		l := line{}
		job, execution, plan, at := "", "", "", ""
		row = strings.TrimRight(row, " \n")
		if n, _ := fmt.Sscanf(row, "start %s %s %d %s %d %s %s", &job, &execution, &l.attempt, &plan, &l.pid, &l.worker, &at); n == 7 {
			l.kind = "start"
		} else if n, _ := fmt.Sscanf(row, "end %s %s %s", &job, &l.result, &at); n == 3 {
			l.kind = "end"
		} else {
			a.Fatalf("the ledger has an invalid line: %q", row)
		}
		l.at, _ = time.Parse(time.RFC3339Nano, at)
		l.job, _ = rota.ParseID(job)
		l.execution, _ = rota.ParseID(execution)
		a.lines = append(a.lines, l)
	}
}

func (a *audit) checkReservations() {
	list, err := a.store.Reservations(context.Background(), rota.ID{}, rota.PageMax)
	must(a, err)
	for _, r := range list {
		if r.Status == rota.ReservationActive {
			a.Errorf("reservation %s of %s is still active", r.ID, r.Node)
		}
	}
}

// checkLog checks that kills cause no error in the log of the server. It may log
// errors only about handlers that ignore their cancellation, and about heartbeats that
// took long on a busy machine and are retried.
func (a *audit) checkLog() {
	text, err := os.ReadFile(a.path("log"))
	must(a, err)
	for row := range strings.Lines(string(text)) {
		if strings.Contains(row, "level=ERROR") && !strings.Contains(row, "a handler did not return after its context ended") && !strings.Contains(row, logDeadlineExceeded) {
			a.Errorf("the server logged an error: %s", row)
		}
	}
}

// addCounts adds the jobs of the store and the ledger to the summary.
func (a *audit) addCounts() {
	n := a.answers.counts
	n["executions"] = len(a.chains)
	for id, j := range a.jobs {
		n["jobs"]++
		if j.Attempt > 1 {
			n["retries"]++
		}
		if !j.PlanTime.IsZero() && j.Attempt == 1 {
			n["fires"]++
		}
		if j.Run != nil && j.Run.ErrorCode == rota.CodeLeaseExpired {
			n["interrupted runs"]++
		}
		n[string(j.State())]++
		if l := a.starts[id]; l.kind != "" {
			n["starts"]++
			if l.worker == staleWorkerName {
				n["stale claims"]++
			}
		}
	}
}
