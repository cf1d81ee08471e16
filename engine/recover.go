package engine

import (
	"context"

	"github.com/rotajobs/rota"
)

// recover settles what an earlier incarnation of this worker left open, before the
// first claim. Each settled job is logged.
func (e *Engine) recover(ctx context.Context) error {
	for more := true; more; {
		recovered, err := do[*rota.Recovered](ctx, e, &rota.Recover{Meta: rota.NewMeta(""), Runner: e.config.Name, Incarnation: e.incarnation})
		if err != nil {
			return err
		}
		for _, s := range recovered.Jobs {
			e.config.Logger.Warn("an earlier process left a job unfinished; its end was recorded", "job", s.JobID, "act", s.Act, "sequel", s.Sequel, "retry", s.RetryID)
		}
		if !recovered.Reservation.IsZero() {
			e.config.Logger.Warn("a reservation of an earlier incarnation was released", "reservation", recovered.Reservation)
		}
		more = recovered.More
	}
	return nil
}
