package sqlite

import (
	"github.com/rotajobs/rota/internal/rules"
	"github.com/rotajobs/rota/internal/storekit"
)

var sqlActive = storekit.Reservations.Select() + ` INDEXED BY rota_reservations_active
WHERE status = 'ACTIVE'`

func (w *writer) loadActive(_ struct{}, u *rules.UnitOfWork) error {
	return w.Read(sqlActive, storekit.ScanInto(storekit.Reservations, u.PutActive))
}
