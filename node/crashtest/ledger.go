//go:build unix

package main

import (
	"fmt"
	"os"
	"time"

	"github.com/rotajobs/rota"
)

// ledger is the file that says what handlers did. It stands outside of the data
// directory, and each line is one write, so that no kill can take it back:
//
//	start JOB EXECUTION ATTEMPT PLAN PID WHO AT
//	end JOB HOW AT
//
// Several processes may write to one: their lines stand in the order in which
// they were written.
type ledger struct{ file *os.File }

func openLedger(path string) (*ledger, error) {
	file, err := os.OpenFile(path, os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o600)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", envLedger, err)
	}
	return &ledger{file}, nil
}

// started is written before a handler does anything.
func (l *ledger) started(j *rota.Job, worker string) {
	plan := "-"
	if !j.PlanTime.IsZero() {
		plan = j.PlanTime.UTC().Format(time.RFC3339Nano)
	}
	l.line("start %s %s %d %s %d %s %s", j.ID, j.ExecutionID, j.Attempt, plan, os.Getpid(), worker, stamp())
}

// ended is written when a handler has done what it does, before it says so.
func (l *ledger) ended(j *rota.Job, how string) { l.line("end %s %s %s", j.ID, how, stamp()) }

// stamp is the machine's time, whatever the server takes it for.
func stamp() string { return time.Now().UTC().Format(time.RFC3339Nano) }

// lineWidth is that of every line. A kill can cut a write short where a page of
// the file ends, so no line may reach from one page into the next.
const lineWidth = 256

// line writes one line. A ledger that cannot be written shows nothing, so the
// test has to fail.
func (l *ledger) line(format string, args ...any) {
	if _, err := fmt.Fprintf(l.file, "%-*s\n", lineWidth-1, fmt.Sprintf(format, args...)); err != nil {
		fmt.Fprintln(os.Stderr, "crashtest: the ledger cannot be written:", err)
		os.Exit(1)
	}
}
