package postgres

import (
	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/internal/storekit"
)

// The columns of jobs that queries select. Within a transaction the version of the row is the last
// column.
var (
	fullColumns   = storekit.FullJob
	leanColumns   = storekit.LeanJob
	queuedColumns = storekit.QueuedJob
	leaseColumns  = storekit.LeasedJob
)

const rowVersion = `, j.xmin`

func scanJob(r row) *rota.Job { return storekit.ScanJob(r) }

func scanLease(r row) *rota.Job { return storekit.ScanLease(r) }

// TakeJob reads a job and adds its version to the read set.
func (t *tx) TakeJob(r storekit.Row) *rota.Job { return t.scanJob(r.(row)) }
