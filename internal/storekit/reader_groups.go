package storekit

import (
	"context"

	"github.com/rotajobs/rota"
)

// Group returns a group with its tally.
func (s *Reader) Group(ctx context.Context, id rota.ID) (*rota.Group, error) {
	groups, err := s.groups(ctx, s.on.Reads.Group, id)
	switch {
	case err != nil:
		return nil, err
	case len(groups) == 0:
		return nil, notFound("group", id.String())
	}
	return groups[0], nil
}

// Groups lists groups with their tallies, newest first.
func (s *Reader) Groups(ctx context.Context, before rota.ID, limit int) ([]*rota.Group, error) {
	most, err := PageLimit(limit)
	if err != nil {
		return nil, err
	}
	return s.groups(ctx, s.on.Reads.Groups, Before(before), most)
}

// groups reads groups. The columns of a group are followed by the state of some of its members,
// their number first. A group has as many rows as its members have states, or one without members.
func (s *Reader) groups(ctx context.Context, sql string, args ...any) (groups []*rota.Group, err error) {
	width := len(Groups.read)
	err = s.on.Query(ctx, "groups", sql, func(r Row) error {
		if n := len(groups); n == 0 || groups[n-1].ID != r.ID(0) {
			g, err := Groups.Scan(r)
			if err != nil {
				return err
			}
			g.Tally = g.Pruned
			groups = append(groups, g)
		}
		tail := ScanAttempt(From(r, width+1))
		for range r.Int(width) {
			groups[len(groups)-1].Tally.Count(tail)
		}
		return nil
	}, args...)
	if err != nil {
		return nil, err
	}
	return groups, nil
}
