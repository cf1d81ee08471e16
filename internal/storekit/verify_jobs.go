package storekit

import (
	"strconv"
	"strings"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/internal/rules"
	"github.com/rotajobs/rota/internal/verify"
)

// Each job with the rows that it refers to: its unique key and the job that it retries. They are
// read in pages by id: one sort and join of all jobs would be written to disk first, and a caller
// that stops would have to wait for it.
var (
	sqlVerifyJobs = `
SELECT ` + FullJob + `, k.execution_id, k.free_at, k.ended, ` + strings.ReplaceAll(QueuedJob, "j.", "p.") + `
FROM rota_jobs j`
	sqlVerifyRefers = `
LEFT JOIN rota_keys k ON k.type = j.type AND k.key = j.unique_key
LEFT JOIN rota_jobs p ON p.id = j.retry_of`
	sqlVerifyRecheck = `
SELECT ` + LeanJob + `
FROM rota_jobs j`
	sqlVerifyPage = `
ORDER BY j.id
LIMIT ` + strconv.Itoa(CheckedEvery)

	sqlVerifyKeys = `
SELECT k.type, k.key, k.execution_id, k.free_at, k.ended, j.id, j.retry_of, j.type, j.unique_key, j.unique_for, j.created_at
FROM rota_keys k
LEFT JOIN rota_jobs j ON j.id = k.execution_id
ORDER BY k.type, k.key`
	sqlVerifyAudit = `
SELECT count(*)
FROM rota_audit`
)

// jobs checks jobs with their runs and with the rows that they refer to. It reads the given index,
// or the table if that is empty.
func (in *Inspection) jobs(index, condition string) error {
	colKey, colParent := JobWidth, JobWidth+3
	return in.eachJob(sqlVerifyJobs+index+sqlVerifyRefers, condition, func(r Row) {
		row := verify.Row{Job: ScanJob(r), RunID: r.ID(ColRunID)}
		in.checkJobWidths(r, row.Job)
		if row.Job.Run == nil && hasRunColumns(r) {
			in.OrphanRun(row.Job.ID)
		}
		if !r.Null(colParent) {
			row.Parent = scanJob(From(r, colParent), jobColumns[:QueuedWidth], &rota.Job{})
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

func (in *Inspection) checkJobWidths(r Row, j *rota.Job) {
	for col, c := range jobColumns {
		if c.Kind == ID && r.Size(col) != len(rota.ID{}) {
			name := c.Name
			if name == "token" {
				name = "lease token"
			}
			in.checkWidth(r, col, "job "+j.ID.String(), name)
		}
	}
}

// hasRunColumns reports whether a column has a value that only a run has. A job keeps the id of a
// run.
func hasRunColumns(r Row) bool {
	for col := ColRunID + 1; col < JobWidth; col++ {
		if !r.Null(col) {
			return true
		}
	}
	return false
}

// recheck reads the jobs a second time, if the first pass left doubts.
func (in *Inspection) recheck() error {
	if !in.NeedsSecondPass() {
		return nil
	}
	return in.eachJob(sqlVerifyRecheck, "", func(r Row) { in.SecondPass(ScanJob(r)) })
}

// eachJob checks jobs page by page.
func (in *Inspection) eachJob(sql, condition string, check func(Row)) error {
	var last rota.ID
	for after := ">="; ; after = ">" {
		n := 0
		err := in.each(sql+"\nWHERE j.id "+after+" $1"+condition+sqlVerifyPage, func(r Row) {
			n++
			last = r.ID(0)
			check(r)
		}, last)
		if err != nil || n < CheckedEvery {
			return err
		}
	}
}

func (in *Inspection) countJob(j *rota.Job) {
	in.checked.Jobs++
	if j.Run != nil {
		in.checked.Runs++
	}
	if in.checked.Jobs%CheckedEvery == 0 {
		in.progress(in.checked)
	}
}

func (in *Inspection) keys() error {
	return in.each(sqlVerifyKeys, func(r Row) {
		in.checked.Keys++
		k, _ := UniqueKeys.Scan(r) // it has no document
		checkWidths(in, UniqueKeys, r, "key "+k.Key.Key+" of type "+k.Key.Type)
		var first *rota.Job
		if !r.Null(5) {
			first = &rota.Job{
				ID: r.ID(5), RetryOf: r.ID(6), Type: r.Text(7), UniqueKey: r.Text(8), UniqueFor: r.Duration(9), CreatedAt: r.Time(10),
			}
		}
		in.Key(*k, first)
	})
}

// audit counts the audit entries and reports those with a wrong id. The database finds them:
// entries may be many, and almost none has one.
func (in *Inspection) audit() error {
	err := in.each(sqlVerifyAudit, func(r Row) { in.checked.Audit = int(r.Int(0)) })
	if err != nil {
		return err
	}
	return in.on.EachWrongAuditID(in.untilStopped(func(r Row) { in.checkWidth(r, 0, "audit "+r.ID(0).String(), "id") }))
}

// order checks an index of the queue.
func (in *Inspection) order(index Index, order *verify.OrderWalk) error {
	typ := ""
	exists, err := in.on.EachInIndex(index, in.untilStopped(func(r Row) {
		if name := r.Text(0); name != typ {
			typ = name
			order.NextType()
		}
		order.Next(&rota.Job{Priority: int(r.Int(1)), Position: r.Int(2), CreatedAt: r.Time(3), ID: r.ID(4)})
	}))
	if err == nil && exists {
		order.End()
	}
	return err
}
