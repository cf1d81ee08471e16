package model

import (
	"cmp"
	"slices"
	"time"

	"github.com/rotajobs/rota"
)

// requestKey is the key of a request. Each actor has its own keys.
type requestKey struct{ actor, key string }

// request is the command that a key is tied to, and since when.
type request struct {
	hash    string
	command rota.ID
	at      time.Time
}

// remember ties a key to a command, or returns the command that it is tied to. When it ties a
// key, it removes up to two expired ones.
func (s *step) remember(c *rota.Remember) (rota.Reply, *rota.Error) {
	name := requestKey{c.Actor, c.Key}
	held, tied := s.requests[name]
	switch {
	case !tied || s.requestExpired(held):
	case held.hash != c.Hash:
		return nil, s.refuse(rota.Conflict, "key", "the key was used for another request")
	default:
		return &rota.Remembered{Command: held.command, Known: held.command != c.Command}, nil
	}
	s.removeExpiredRequests(2)
	s.requests[name] = request{hash: c.Hash, command: c.Command, at: s.now}
	return &rota.Remembered{Command: c.Command}, nil
}

func (s *step) requestExpired(r request) bool { return !r.at.Add(rota.RequestKeep).After(s.now) }

// removeExpiredRequests removes expired keys, oldest first.
func (s *step) removeExpiredRequests(limit int) {
	var old []requestKey
	for name, r := range s.requests {
		if s.requestExpired(r) {
			old = append(old, name)
		}
	}
	slices.SortFunc(old, func(a, b requestKey) int {
		return cmp.Or(s.requests[a].at.Compare(s.requests[b].at), cmp.Compare(a.actor, b.actor), cmp.Compare(a.key, b.key))
	})
	for _, name := range old[:min(len(old), limit)] {
		delete(s.requests, name)
	}
}
