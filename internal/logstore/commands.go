package logstore

import (
	"errors"
	"slices"
	"time"

	"github.com/rotajobs/rota"
)

// EntryBytesMax is how large the commands of one entry are, about. A larger command has an entry of its own.
const EntryBytesMax = 16 << 20

// checked returns the commands that are valid and their places, and sets the results of the others. A
// replica does not check commands: a later version of the program may have other limits.
func (s *Store) checked(b rota.Batch, results []rota.Result) (valid []rota.Command, places []int) {
	valid, places = make([]rota.Command, 0, len(b.Commands)), make([]int, 0, len(b.Commands))
	for i, c := range b.Commands {
		err := rota.CheckCommand(c)
		if err == nil && b.Now.IsZero() {
			err = s.checkLease(c)
		}
		if err != nil {
			results[i].Err = refusal(c, err)
			continue
		}
		valid, places = append(valid, c), append(places, i)
	}
	return valid, places
}

func (s *Store) checkLease(c rota.Command) error {
	if lease := leaseOf(c); lease > 0 {
		return s.log.CheckLease(lease)
	}
	return nil
}

// CheckLease refuses a lease that the clocks of the processes cannot keep.
func (s *Store) CheckLease(lease time.Duration) error { return s.log.CheckLease(lease) }

// leaseOf returns the shortest lease of a command, or 0 if it has none.
func leaseOf(c rota.Command) (shortest time.Duration) {
	switch c := c.(type) {
	case *rota.Claim:
		return c.Lease
	case *rota.Extend:
		return c.Lease
	case *rota.All:
		for _, member := range c.Members {
			if lease := leaseOf(member); lease > 0 && (shortest == 0 || lease < shortest) {
				shortest = lease
			}
		}
	}
	return shortest
}

// refusal returns the error of a command that is not valid. It names the verb.
func refusal(c rota.Command, err error) *rota.Error {
	var known *rota.Error
	if !errors.As(err, &known) {
		return &rota.Error{Code: rota.Internal, Err: err}
	}
	named := *known
	if named.Field != "command" {
		named.Act = string(c.Verb())
	}
	return &named
}

// entryLen returns how many commands, from the first on, have space in one entry.
func entryLen(commands []rota.Command) int {
	entries, bytes := 0, 0
	for n, c := range commands {
		e, b := rota.Weigh(c)
		entries, bytes = entries+e, bytes+b
		if n > 0 && (bytes > EntryBytesMax || entries > rota.CommandEntriesMax) {
			return n
		}
	}
	return len(commands)
}

// withWaits returns commands that mean the same in all processes and at any time: how long a Finish has
// waited in this process is added to its items.
func withWaits(commands []rota.Command, now time.Time) []rota.Command {
	var changed []rota.Command
	for i, c := range commands {
		d := withWait(c, now)
		if d == c {
			continue
		}
		if changed == nil {
			changed = slices.Clone(commands)
		}
		changed[i] = d
	}
	if changed == nil {
		return commands
	}
	return changed
}

func withWait(c rota.Command, now time.Time) rota.Command {
	switch c := c.(type) {
	case *rota.Finish:
		if c.Sent.IsZero() {
			break
		}
		copied := *c
		copied.Sent, copied.Items = time.Time{}, slices.Clone(c.Items)
		for n := range copied.Items {
			copied.Items[n].EndedAgo += c.Waited(now)
		}
		return &copied
	case *rota.All:
		members := withWaits(c.Members, now)
		if len(members) == 0 || &members[0] == &c.Members[0] {
			break
		}
		copied := *c
		copied.Members = members
		return &copied
	}
	return c
}

// mayChangeNothing reports whether commands often change nothing: claims without a ready job,
// maintenance without work, and fires of a time that another process has fired. They would fill the log of an
// idle store.
func mayChangeNothing(commands []rota.Command) bool {
	for _, c := range commands {
		switch c.(type) {
		case *rota.Claim, *rota.Ready, *rota.Reap, *rota.Recover, *rota.Sweep, *rota.Expire, *rota.Prune, *rota.Normalise, *rota.Fire:
		default:
			return false
		}
	}
	return true
}
