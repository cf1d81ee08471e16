package sqlite

import (
	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/internal/rules"
	"github.com/rotajobs/rota/internal/storekit"
)

var sqlThrottle = storekit.Throttle.ByKey()

// limitsCache holds the limits as last read. Every claim needs them, and decoding up to ThrottleMax
// entries would cost more than the claim.
type limitsCache struct{ last *rota.Throttle }

func (w *writer) loadThrottle(_ struct{}, u *rules.UnitOfWork) error {
	return w.Read(sqlThrottle, func(r storekit.Row) error {
		if last := w.limits.last; last != nil && last.Version == r.ID(storekit.Throttle.Col("version")) {
			rules.Throttle.Put(u, last)
			return nil
		}
		t, err := storekit.Throttle.Scan(r)
		if err == nil {
			w.limits.last = t
			rules.Throttle.Put(u, t)
		}
		return err
	})
}
