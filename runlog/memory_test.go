package runlog

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/rotajobs/rota"
)

// memoryStore is a rota.LogStore in memory that can fail.
type memoryStore struct {
	mu      sync.Mutex
	chunks  []rota.LogChunk
	appends int           // calls that succeeded
	durable []bool        // whether they had to be durable
	failing error         // returned by AppendLog, if not nil
	lossy   bool          // AppendLog stores the chunks and returns failing all the same
	hold    chan struct{} // AppendLog waits until it is closed; nil: it does not
}

var _ rota.LogStore = (*memoryStore)(nil)

func (s *memoryStore) AppendLog(ctx context.Context, chunks []rota.LogChunk, durable bool) error {
	s.mu.Lock()
	hold := s.hold
	s.mu.Unlock()
	if hold != nil {
		select {
		case <-hold:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.failing != nil && !s.lossy {
		return s.failing
	}
	for _, c := range chunks {
		if c.Replaces {
			s.chunks = slices.DeleteFunc(s.chunks, func(old rota.LogChunk) bool { return old.JobID == c.JobID })
		}
		if !slices.ContainsFunc(s.chunks, func(old rota.LogChunk) bool { return old.JobID == c.JobID && old.Offset == c.Offset }) {
			s.chunks = append(s.chunks, c)
		}
	}
	s.appends++
	s.durable = append(s.durable, durable)
	return s.failing
}

func (s *memoryStore) ReadLog(_ context.Context, job rota.ID, offset int64, bytes int) (found []rota.LogChunk, _ error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, c := range s.chunks {
		if c.JobID == job && c.Offset+int64(c.Length) > offset {
			found = append(found, c)
		}
	}
	slices.SortFunc(found, func(a, b rota.LogChunk) int { return int(a.Offset - b.Offset) })
	if offset < 0 && len(found) > 0 {
		return found[len(found)-1:], nil
	}
	for i, sum := 0, 0; i < len(found); i++ {
		if sum >= bytes {
			return found[:i], nil
		}
		sum += found[i].Length
	}
	return found, nil
}

func (s *memoryStore) PruneLogs(_ context.Context, before time.Time, limit int) (removed int, _ error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.chunks = slices.DeleteFunc(s.chunks, func(c rota.LogChunk) bool {
		if removed == limit || !c.StartedAt.Before(before) {
			return false
		}
		removed++
		return true
	})
	return removed, nil
}

func (s *memoryStore) set(change func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	change()
}

// stored returns the text of a log as the chunks have it, and how many bytes they take.
func (s *memoryStore) stored(job *rota.Job) (text string, bytes int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	var all []byte
	for i := range s.chunks {
		if c := &s.chunks[i]; c.JobID == job.ID {
			if c.Offset != int64(len(all)) {
				return "a gap", 0
			}
			all, _ = appendText(all, c)
			bytes += len(c.Data)
		}
	}
	return string(all), bytes
}

var errDown = errors.New("the store is down")
