package engine

import (
	"context"

	"github.com/rotajobs/rota"
)

// recover settles what an earlier life of this worker left open, before the
// first claim. Each act is logged, as any failure is.
func (e *Engine) recover(ctx context.Context) error {
	for more := true; more; {
		recovered, err := do[*rota.Recovered](ctx, e, &rota.Recover{Meta: rota.NewMeta(""), Runner: e.config.Name, Incarnation: e.incarnation})
		if err != nil {
			return err
		}
		for _, s := range recovered.Jobs {
			e.config.Logger.Warn("a job of an earlier life was settled", "job", s.JobID, "act", s.Act, "sequel", s.Sequel, "retry", s.RetryID)
		}
		if !recovered.Reservation.IsZero() {
			e.config.Logger.Warn("a reservation of an earlier life was given up", "reservation", recovered.Reservation)
		}
		more = recovered.More
	}
	return nil
}
