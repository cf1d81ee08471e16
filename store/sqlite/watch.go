package sqlite

import "github.com/rotajobs/rota"

// Watch calls a function with what happened, after each commit and before the
// next: whoever applied it has not been answered yet, and the writer is held.
// Each function may keep the slice, and must not change it.
func (s *Store) Watch(fn func([]rota.Event)) (stop func()) { return s.watch.Add(fn) }
