package sqlite

import "github.com/rotajobs/rota"

// Watch calls a function with the events of each commit, before Apply returns and before the next
// commit. The function may keep the slice and must not change it.
func (s *Store) Watch(fn func([]rota.Event)) (stop func()) { return s.watch.Add(fn) }
