package postgres

import (
	"strings"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/internal/rules"
	"github.com/rotajobs/rota/internal/verify"
)

// Each job with the rows that it refers to: its unique key and the job that it retries. They are
// read in pages by id. One sort and join of all jobs would be written to disk first, and a caller
// that stops would have to wait for it.
var (
	sqlVerifyJobs = `
SELECT ` + fullColumns + `, k.execution_id, k.free_at, k.ended, ` + strings.ReplaceAll(queuedColumns, "j.", "p.") + `
FROM rota_jobs j
LEFT JOIN rota_keys k ON k.type = j.type AND k.key = j.unique_key
LEFT JOIN rota_jobs p ON p.id = j.retry_of`
	sqlVerifyRecheck = `
SELECT ` + leanColumns + `
FROM rota_jobs j`
	verifyFrom = `
WHERE j.id > $1`
	verifyPage = `
ORDER BY j.id
LIMIT ` + itoa(checkedEvery)
)

const (
	colKey    = colResult + 1
	colParent = colKey + 3
)

const (
	sqlVerifyKeys = `
SELECT k.type, k.key, k.execution_id, k.free_at, k.ended, j.id, j.retry_of, j.type, j.unique_key, j.unique_for, j.created_at
FROM rota_keys k
LEFT JOIN rota_jobs j ON j.id = k.execution_id
ORDER BY k.type, k.key`
	sqlVerifyAudit = `
SELECT count(*)
FROM rota_audit`
	// The next statements read the indexes of the queue.
	sqlIndexScansOnly = `
SELECT set_config('enable_sort', 'off', true), set_config('enable_seqscan', 'off', true),
  set_config('enable_bitmapscan', 'off', true)`
	sqlVerifyQueue = `
SELECT '', priority, position, created_at, id
FROM rota_jobs
WHERE status LIKE 'QUEUED'
ORDER BY priority DESC, position, created_at, id`
	sqlVerifyClaim = `
SELECT type, priority, position, created_at, id
FROM rota_jobs
WHERE status = 'QUEUED' AND hold = 0
ORDER BY type, priority DESC, position, created_at, id`
)

// jobs checks jobs with their runs and with the rows that they refer to.
func (in *inspection) jobs() error {
	return in.eachJob(sqlVerifyJobs, func(r row) {
		row := verify.Row{Job: scanRaw(r), RunID: r.ID(colRunID)}
		if row.Job.Run == nil && hasRunColumns(r) {
			in.OrphanRun(row.Job.ID)
		}
		if !r.Null(colParent) {
			row.Parent = scanJob(r[colParent:])
		}
		if !r.Null(colKey) {
			row.Key = &rules.UniqueKeyRecord{
				Key: rules.UniqueKey{Type: row.Job.Type, Key: row.Job.UniqueKey}, ExecutionID: r.ID(colKey),
				FreeAt: r.Int(colKey + 1), Ended: r.Bool(colKey + 2),
			}
		}
		in.Job(row)
		in.countJob(row.Job)
	})
}

// hasRunColumns reports whether a column has a value that only a run has.
func hasRunColumns(r row) bool {
	for col := colToken; col <= colResult; col++ {
		if !r.Null(col) {
			return true
		}
	}
	return false
}

// scanRaw reads a job with all values of its row, also where it should have none. scanJob ignores
// incomplete relations.
func scanRaw(r row) *rota.Job {
	j := scanJob(r)
	j.GroupPosition, j.CountsAt = int(r.Int(colGroupPosition)), r.Time(colCountsAt)
	j.WaitFrom, j.WaitUntil = r.Time(colWaitFrom), r.Time(colWaitUntil)
	return j
}

// recheck reads the jobs a second time, if the first pass left doubts.
func (in *inspection) recheck() error {
	if !in.NeedsSecondPass() {
		return nil
	}
	return in.eachJob(sqlVerifyRecheck, func(r row) { in.SecondPass(scanJob(r)) })
}

// eachJob checks all jobs, page by page.
func (in *inspection) eachJob(sql string, check func(row)) error {
	var last rota.ID
	for page, params := sql+verifyPage, []param(nil); ; page, params = sql+verifyFrom+verifyPage, []param{{oidID, last[:]}} {
		n := 0
		err := in.each(page, func(r row) error {
			n++
			last = r.ID(colID)
			check(r)
			return nil
		}, params...)
		if err != nil || n < checkedEvery {
			return err
		}
	}
}

func (in *inspection) countJob(j *rota.Job) {
	in.checked.Jobs++
	if j.Run != nil {
		in.checked.Runs++
	}
	if in.checked.Jobs%checkedEvery == 0 {
		in.progress(in.checked)
	}
}

func (in *inspection) keys() error {
	return in.each(sqlVerifyKeys, func(r row) error {
		in.checked.Keys++
		k := rules.UniqueKeyRecord{
			Key: rules.UniqueKey{Type: r.Text(0), Key: r.Text(1)}, ExecutionID: r.ID(2), FreeAt: r.Int(3), Ended: r.Bool(4),
		}
		var first *rota.Job
		if !r.Null(5) {
			first = &rota.Job{
				ID: r.ID(5), RetryOf: r.ID(6), Type: r.Text(7), UniqueKey: r.Text(8), UniqueFor: r.Duration(9), CreatedAt: r.Time(10),
			}
		}
		in.Key(k, first)
		return nil
	})
}

func (in *inspection) audit() error {
	return in.each(sqlVerifyAudit, func(r row) error {
		in.checked.Audit = int(r.Int(0))
		return nil
	})
}

func (in *inspection) indexScansOnly() error {
	return in.each(sqlIndexScansOnly, func(row) error { return nil })
}

// order checks an index of the queue. If the index is missing, schema has reported it.
func (in *inspection) order(sql string, order *verify.OrderWalk) error {
	typ := ""
	err := in.each(sql, func(r row) error {
		if r.Text(0) != typ {
			typ = r.Text(0)
			order.NextType()
		}
		order.Next(&rota.Job{Priority: int(r.Int(1)), Position: r.Int(2), CreatedAt: r.Time(3), ID: r.ID(4)})
		return nil
	})
	if err == nil {
		order.End()
	}
	return err
}
