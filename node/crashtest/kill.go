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

// killer ends the process at one chosen point. Points are the verbs of commands,
// before or after the store has applied them, and
//
//	start:opened     the store is open, nothing is recovered
//	start:ready      everything stands
//	claim:taken      a claim has brought jobs, and none has begun
//	handler:mid      a handler has begun and has not ended
//	shutdown:mid     at the first command after the signal to stop
//
// each at its n-th time. With :freeze behind it the process is stopped there
// instead, until somebody sends it SIGCONT.
type killer struct {
	verb, when string
	freezes    bool
	left       atomic.Int64 // how often the point is still to be passed, this one included
	stops      atomic.Bool  // the signal to stop has come
}

// newKiller reads verb:when:n or verb:when:n:freeze. An empty text kills nobody.
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
		return nil, fmt.Errorf("%s is %q; the last part is a number from 1 on", envKill, text)
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
		freeze()
	default:
		die()
	}
}

// freeze stops the process until it is sent SIGCONT. It takes a moment until all of
// its threads stand still: whoever is at the point waits for the end of it there.
func freeze() {
	continued := make(chan os.Signal, 1)
	signal.Notify(continued, syscall.SIGCONT)
	defer signal.Stop(continued)
	_ = syscall.Kill(os.Getpid(), syscall.SIGSTOP)
	<-continued
}

// shutdownKillAfter is how long a stop may go on before the process dies in the
// middle of it, if no command came.
const shutdownKillAfter = 100 * time.Millisecond

// stopping is called when the signal to stop has come.
func (k *killer) stopping() {
	k.stops.Store(true)
	if k.verb == "shutdown" {
		time.AfterFunc(shutdownKillAfter, die)
	}
}

// die ends the process as a power cut would. Nothing after it runs.
func die() {
	_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
	select {}
}

// wrap is a store that passes the points of its commands.
func (k *killer) wrap(store rota.Store) rota.Store { return &killingStore{store, k} }

type killingStore struct {
	rota.Store
	kill *killer
}

// Apply applies a batch, and may be the last thing that the process does.
func (d *killingStore) Apply(ctx context.Context, b rota.Batch) ([]rota.Result, error) {
	if d.kill.stops.Load() {
		d.kill.reached("shutdown", "mid")
	}
	d.each(b.Commands, "before")
	results, err := d.Store.Apply(ctx, b)
	if err == nil {
		d.each(b.Commands, "after")
		d.taken(results)
	}
	return results, err
}

// taken passes the point of claims that were not in vain.
func (d *killingStore) taken(results []rota.Result) {
	for i := range results {
		if claimed, ok := results[i].Reply.(*rota.Claimed); ok && len(claimed.Jobs) > 0 {
			d.kill.reached(string(rota.VerbClaim), "taken")
		}
	}
}

func (d *killingStore) each(commands []rota.Command, when string) {
	for _, c := range commands {
		d.kill.reached(string(c.Verb()), when)
	}
}
