package storekit

import (
	"context"

	"github.com/rotajobs/rota"
)

// QueueStart returns the job after which a page of the queue begins, nil for its head.
func QueueStart(ctx context.Context, s *Reader, after rota.ID) (*rota.Job, error) {
	if after.IsZero() {
		return nil, nil
	}
	from, err := s.Job(ctx, after)
	if err == nil && !from.Ready() {
		return nil, &rota.Error{
			Code: rota.NotFound, Act: "queue", Field: "after", Reason: "job " + after.String() + " has left the queue",
			Hint: "list the queue again from its head",
		}
	}
	return from, err
}
