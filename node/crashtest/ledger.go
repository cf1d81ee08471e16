//go:build unix

package main

import (
	"fmt"
	"os"
	"time"

	"github.com/rotajobs/rota"
)

// ledger is a file in which handlers record what they did. It is outside of the data
// directory, and each line is one write, so that a kill cannot undo it:
//
//	start JOB EXECUTION ATTEMPT PLAN_TIME PID WORKER AT
//	end JOB RESULT AT
//
// Several processes may write to one ledger; its lines are in the order of the writes.
type ledger struct{ file *os.File }

func openLedger(path string) (*ledger, error) {
	file, err := os.OpenFile(path, os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o600)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", envLedger, err)
	}
	return &ledger{file}, nil
}

// recordStart records the start of a handler, before it does anything.
func (l *ledger) recordStart(j *rota.Job, worker string) {
	plan := "-"
	if !j.PlanTime.IsZero() {
		plan = j.PlanTime.UTC().Format(time.RFC3339Nano)
	}
	l.write("start %s %s %d %s %d %s %s", j.ID, j.ExecutionID, j.Attempt, plan, os.Getpid(), worker, machineTime())
}

// recordEnd records the end of a handler, before the engine records it in the store.
func (l *ledger) recordEnd(j *rota.Job, result string) {
	l.write("end %s %s %s", j.ID, result, machineTime())
}

// machineTime is the time of the machine, without the clock offset of the server.
func machineTime() string { return time.Now().UTC().Format(time.RFC3339Nano) }

// lineWidth is the length of every line. A kill can cut a write at the end of a page
// of the file, so no line may cross from one page into the next.
const lineWidth = 256

// write writes one line. If the ledger cannot be written the test proves nothing, so
// the process exits with an error.
func (l *ledger) write(format string, args ...any) {
	if _, err := fmt.Fprintf(l.file, "%-*s\n", lineWidth-1, fmt.Sprintf(format, args...)); err != nil {
		fmt.Fprintln(os.Stderr, "crashtest: the ledger cannot be written:", err)
		os.Exit(1)
	}
}
