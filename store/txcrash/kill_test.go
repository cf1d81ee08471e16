//go:build unix

package txcrash

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
)

// Points of a transaction at which a process kills itself.
const (
	afterRow       = "after row"       // the row of the program is written
	afterEnqueue   = "after enqueue"   // the jobs are written
	afterComplete  = "after complete"  // the end of the run is written
	beforeCommit   = "before commit"   // all is written
	duringCommit   = "during commit"   // PostgreSQL has been sent the commit
	afterCommit    = "after commit"    // the commit was answered
	afterRollback  = "after rollback"  // the rollback was answered
	afterSavepoint = "after savepoint" // the work was rolled back to a savepoint
)

var killPoints = []string{duringCommit, afterRow, afterEnqueue, afterComplete, beforeCommit, afterCommit, afterRollback, afterSavepoint}

// killPoint kills the process when it passes a point for the n-th time.
type killPoint struct {
	name string
	left atomic.Int64
}

// newKillPoint reads name:n. An empty text never kills.
func newKillPoint(text string) (*killPoint, error) {
	k := &killPoint{}
	if text == "" {
		return k, nil
	}
	name, times, _ := strings.Cut(text, ":")
	n, err := strconv.Atoi(times)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", envPoint, err)
	}
	k.name = name
	k.left.Store(int64(n))
	return k, nil
}

func (k *killPoint) pass(name string) {
	if name == k.name && k.left.Add(-1) == 0 {
		killSelf()
	}
}

// killSelf kills the process at once.
func killSelf() {
	_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
	select {}
}

// ledger is a file in which processes record what they know of their transactions, each
// line with one write, so that a kill cannot undo it.
//
//	order ID committed|rolledback|unknown
//	run JOB committed|rolledback|unknown
//	lost before|after
type ledger struct{ file *os.File }

func openLedger(path string) (*ledger, error) {
	file, err := os.OpenFile(path, os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o600)
	return &ledger{file}, err
}

// What a program knows of a transaction.
const (
	committed  = "committed"  // the commit was acknowledged
	rolledBack = "rolledback" // no commit was sent, or the work was rolled back to a savepoint
	unknown    = "unknown"    // the commit was sent, and answered with an error or not at all
)

// lineWidth is the length of every line: a kill can cut a write at the end of a page of
// the file, so no line crosses it.
const lineWidth = 128

func (l *ledger) write(kind, id, outcome string) {
	if _, err := fmt.Fprintf(l.file, "%-*s\n", lineWidth-1, strings.Join([]string{kind, id, outcome}, " ")); err != nil {
		fmt.Fprintln(os.Stderr, "txcrash: the ledger cannot be written:", err)
		os.Exit(1)
	}
}
