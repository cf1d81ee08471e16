package sqlite

import (
	"github.com/rotajobs/rota/internal/rules"
	"github.com/rotajobs/rota/internal/storekit"
)

var sqlExpiredRequests = storekit.Requests.Select() + ` INDEXED BY rota_requests_at
WHERE at <= $1
ORDER BY at, actor, key
LIMIT $2`

func (w *writer) loadExpiredRequests(q rules.ExpiredRequestsQuery, u *rules.UnitOfWork) error {
	return w.Read(sqlExpiredRequests,
		storekit.ScanInto(storekit.Requests, func(r *rules.Request) { u.PutExpiredRequest(q, r) }), q.By, q.Limit)
}
