//go:build unix

package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/rotajobs/rota"
)

// killer kills the process at one chosen point. Points are the verbs of commands,
// before or after the store has applied them, and
//
//	start:opened     the store is open, nothing is recovered
//	start:ready      the node is ready
//	claim:returned   a claim has returned jobs, and none has started
//	handler:mid      a handler has started and has not ended
//	shutdown:mid     at the first command after the signal to stop
//
// each at its n-th time. With the suffix :freeze the process is stopped there
// instead, until it receives SIGCONT.
type killer struct {
	verb, when    string
	freezes       bool
	left          atomic.Int64 // passes of the point that are left, including the last one
	stopSignalled atomic.Bool  // the process has received the signal to stop
}

// newKiller reads verb:when:n or verb:when:n:freeze. An empty text never kills.
func newKiller(text string) (*killer, error) {
	k := &killer{}
	if text == "" {
		return k, nil
	}
	text, k.freezes = strings.CutSuffix(text, ":freeze")
	parts := strings.Split(text, ":")
	if len(parts) != 3 {
		return nil, fmt.Errorf("%s is %q; write verb:when:n", envKill, text)
	}
	n, err := strconv.Atoi(parts[2])
	if err != nil || n < 1 {
		return nil, fmt.Errorf("%s is %q; the last part must be a number of at least 1", envKill, text)
	}
	k.verb, k.when = parts[0], parts[1]
	k.left.Store(int64(n))
	return k, nil
}

// reached is called at each point.
func (k *killer) reached(verb, when string) {
	switch {
	case k.verb != verb || k.when != when || k.left.Add(-1) != 0:
	case k.freezes:
		freezeSelf()
	default:
		killSelf()
	}
}

// logFrozen is what a process writes to its log before it freezes itself.
const logFrozen = "crashtest: frozen at a point"

// freezeSelf stops the process until it receives SIGCONT. The threads stop some time
// after the signal, so the goroutine at the point waits here for SIGCONT.
func freezeSelf() {
	continued := make(chan os.Signal, 1)
	signal.Notify(continued, syscall.SIGCONT)
	defer signal.Stop(continued)
	fmt.Fprintln(os.Stderr, logFrozen)
	_ = syscall.Kill(os.Getpid(), syscall.SIGSTOP)
	<-continued
}

// shutdownKillAfter is the time after which the process dies during a stop, if no
// command reached the point before.
const shutdownKillAfter = 100 * time.Millisecond

// stopSignal is called when the process receives the signal to stop the server.
func (k *killer) stopSignal() {
	k.stopSignalled.Store(true)
	if k.verb == "shutdown" {
		time.AfterFunc(shutdownKillAfter, killSelf)
	}
}

// killSelf kills the process at once, as a power cut would.
func killSelf() {
	_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
	select {}
}

// wrap returns a store that calls reached before and after each command.
func (k *killer) wrap(store rota.Store) rota.Store { return &killingStore{store, k} }

type killingStore struct {
	rota.Store
	kill *killer
}

// Unwrap returns the store that applies the batches.
func (s *killingStore) Unwrap() rota.Store { return s.Store }

// Apply applies a batch, and may kill the process before or after.
func (s *killingStore) Apply(ctx context.Context, b rota.Batch) ([]rota.Result, error) {
	return s.apply(b, func() ([]rota.Result, error) { return s.Store.Apply(ctx, b) })
}

// ApplyTx is Apply in a transaction of the caller, whose commit comes later.
func (s *killingStore) ApplyTx(ctx context.Context, tx any, b rota.Batch) (results []rota.Result, pending *rota.PendingTx, err error) {
	results, err = s.apply(b, func() (answer []rota.Result, err error) {
		answer, pending, err = rota.ApplyTx(ctx, s.Store, tx, b)
		return answer, err
	})
	return results, pending, err
}

func (s *killingStore) apply(b rota.Batch, apply func() ([]rota.Result, error)) ([]rota.Result, error) {
	if s.kill.stopSignalled.Load() {
		s.kill.reached("shutdown", "mid")
	}
	s.reachedEach(b.Commands, "before")
	results, err := apply()
	if err == nil {
		s.reachedEach(b.Commands, "after")
		s.returnedJobs(results)
	}
	return results, err
}

// returnedJobs calls reached once for each claim that returned jobs.
func (s *killingStore) returnedJobs(results []rota.Result) {
	for i := range results {
		if claimed, ok := results[i].Reply.(*rota.Claimed); ok && len(claimed.Jobs) > 0 {
			s.kill.reached(string(rota.VerbClaim), "returned")
		}
	}
}

func (s *killingStore) reachedEach(commands []rota.Command, when string) {
	for _, c := range commands {
		s.kill.reached(string(c.Verb()), when)
	}
}
