package model

import (
	"cmp"
	"slices"

	"github.com/rotajobs/rota"
)

// expire ends waits and the reservation whose time has passed.
func (s *step) expire(c *rota.Expire) (rota.Reply, *rota.Error) {
	due := s.pick(func(j *rota.Job) bool { return waitsForDependency(j) && !j.WaitUntil.After(s.now) })
	slices.SortFunc(due, func(a, b *rota.Job) int { return cmp.Or(a.WaitUntil.Compare(b.WaitUntil), byID(a, b)) })
	due, more := page(due, c.Limit)
	reply := &rota.Expired{More: more}
	for _, j := range due {
		if !waitsForDependency(j) {
			continue // the end of an earlier one released it
		}
		if missing := s.unmet(j); missing != "" {
			s.skip(j, rota.CodeDependency, "skipped: schedule "+missing+" did not complete in time")
			reply.Skipped = append(reply.Skipped, j.ID)
			continue
		}
		s.releaseHold(j, rota.HoldDependency)
		reply.Freed = append(reply.Freed, j.ID)
	}
	if r := s.active(); r != nil && !r.ExpiresAt.After(s.now) {
		s.expireReservation(r)
		reply.Reservation = r.ID
	}
	return reply, nil
}
