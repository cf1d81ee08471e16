package sqlite

import (
	"fmt"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/internal/rules"
	"github.com/rotajobs/rota/internal/verify"
	"zombiezen.com/go/sqlite"
)

const (
	sqlVerifyJobs = `
SELECT ` + fullColumns + `
FROM rota_jobs j
ORDER BY j.id`
	sqlVerifyOpen = `
SELECT ` + fullColumns + `
FROM rota_jobs j INDEXED BY rota_jobs_open
WHERE j.status = 'RUNNING' AND j.sequel IS NULL
ORDER BY j.id`
	sqlVerifyParams = `
SELECT p.job_id
FROM rota_params p
WHERE NOT EXISTS (SELECT 1 FROM rota_jobs WHERE id = p.job_id)
ORDER BY p.job_id`
	sqlVerifyKeys = `
SELECT type, key, execution_id, free_at, ended
FROM rota_keys
ORDER BY type, key`
	sqlVerifyAudit = `
SELECT id
FROM rota_audit
ORDER BY id`
	sqlVerifyQueue = `
SELECT '', priority, position, created_at, id
FROM rota_jobs INDEXED BY rota_jobs_order
WHERE status = 'QUEUED'
ORDER BY priority DESC, position, created_at, id`
	sqlVerifyClaim = `
SELECT type, priority, position, created_at, id
FROM rota_jobs INDEXED BY rota_jobs_claim
WHERE status = 'QUEUED' AND hold = 0
ORDER BY type, priority DESC, position, created_at, id`
)

// idColumns are the columns of a job and its run that hold ids, and the token, which has the same
// length.
var idColumns = []struct {
	col  int
	name string
}{
	{colID, "id"},
	{colExecutionID, "execution_id"},
	{colRetryOf, "retry_of"},
	{colRunID, "run_id"},
	{colVersion, "version"},
	{colGroupID, "group_id"},
	{colRedriveOf, "redrive_of"},
	{colToken, "lease token"},
	{colLife, "life"},
}

// jobs checks jobs with their runs and with the rows that they refer to.
func (in *inspection) jobs(sql string) error {
	return in.each(sql, nil, func(s *sqlite.Stmt) (err error) {
		row := verify.Row{Job: scanRaw(s), RunID: scanID(s, colRunID)}
		for _, c := range idColumns {
			in.checkWidth(s, c.col, "job "+row.Job.ID.String(), c.name)
		}
		if row.Job.Run == nil && hasRunColumns(s) {
			in.OrphanRun(row.Job.ID)
		}
		if of := row.Job.RetryOf; !of.IsZero() {
			if row.Parent, err = in.job(of); err != nil {
				return err
			}
		}
		if row.Job.UniqueKey != "" {
			if row.Key, err = in.key(rules.UniqueKey{Type: row.Job.Type, Key: row.Job.UniqueKey}); err != nil {
				return err
			}
		}
		in.Job(row)
		in.countJob(row.Job)
		return nil
	})
}

// hasRunColumns reports whether a column has a value that only a run has.
func hasRunColumns(s *sqlite.Stmt) bool {
	for col := colToken; col <= colResult; col++ {
		if !s.ColumnIsNull(col) {
			return true
		}
	}
	return false
}

// scanRaw reads a job with all values of its row, also where it should have none. scanJob ignores
// incomplete relations.
func scanRaw(s *sqlite.Stmt) *rota.Job {
	j := scanJob(s)
	j.GroupPosition, j.CountsAt = int(s.ColumnInt64(colGroupPosition)), scanTime(s, colCountsAt)
	j.WaitFrom, j.WaitUntil = scanTime(s, colWaitFrom), scanTime(s, colWaitUntil)
	return j
}

// recheck reads the jobs a second time, if the first pass left doubts.
func (in *inspection) recheck() error {
	if !in.NeedsSecondPass() {
		return nil
	}
	return in.each(sqlVerifyJobs, nil, func(s *sqlite.Stmt) error {
		in.SecondPass(scanJob(s))
		return nil
	})
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

// checkWidth reports an id that does not have 16 bytes: scanID reads such an id wrongly.
func (in *inspection) checkWidth(s *sqlite.Stmt, col int, row, name string) {
	if n := s.ColumnLen(col); n != len(rota.ID{}) && !s.ColumnIsNull(col) {
		in.report(rota.Violation{
			Check: rota.CheckIDShape, Rows: []string{row}, Detail: fmt.Sprintf("its %s has %d bytes instead of 16", name, n),
		})
	}
}

func (in *inspection) job(id rota.ID) (j *rota.Job, err error) {
	err = in.each(sqlFullJob, func(s *sqlite.Stmt) { s.BindBytes(1, id[:]) }, func(s *sqlite.Stmt) error {
		j = scanJob(s)
		return nil
	})
	return j, err
}

func (in *inspection) key(k rules.UniqueKey) (record *rules.UniqueKeyRecord, err error) {
	bind := func(s *sqlite.Stmt) {
		s.BindText(1, k.Type)
		s.BindText(2, k.Key)
	}
	err = in.each(sqlKeyGet, bind, func(s *sqlite.Stmt) error {
		record = &rules.UniqueKeyRecord{Key: k, ExecutionID: scanID(s, 0), FreeAt: s.ColumnInt64(1), Ended: s.ColumnInt64(2) == 1}
		return nil
	})
	return record, err
}

func (in *inspection) orphanParams() error {
	return in.each(sqlVerifyParams, nil, func(s *sqlite.Stmt) error {
		in.report(rota.Violation{
			Check: rota.CheckOrphanParams, Rows: []string{"params of job " + scanID(s, 0).String()}, Detail: "there is no such job",
		})
		return nil
	})
}

func (in *inspection) keys() error {
	return in.each(sqlVerifyKeys, nil, func(s *sqlite.Stmt) error {
		in.checked.Keys++
		k := rules.UniqueKeyRecord{
			Key:         rules.UniqueKey{Type: s.ColumnText(0), Key: s.ColumnText(1)},
			ExecutionID: scanID(s, 2), FreeAt: s.ColumnInt64(3), Ended: s.ColumnInt64(4) == 1,
		}
		in.checkWidth(s, 2, "key "+k.Key.Key+" of type "+k.Key.Type, "execution_id")
		first, err := in.job(k.ExecutionID)
		if err == nil {
			in.Key(k, first)
		}
		return err
	})
}

func (in *inspection) audit() error {
	return in.each(sqlVerifyAudit, nil, func(s *sqlite.Stmt) error {
		in.checked.Audit++
		in.checkWidth(s, 0, "audit "+scanID(s, 0).String(), "id")
		return nil
	})
}

// order checks an index of the queue. If the index is missing, schema has reported it.
func (in *inspection) order(sql string, order *verify.OrderWalk) error {
	if _, err := in.conn.Prepare(sql); err != nil {
		return nil
	}
	typ := ""
	err := in.each(sql, nil, func(s *sqlite.Stmt) error {
		if s.ColumnText(0) != typ {
			typ = s.ColumnText(0)
			order.NextType()
		}
		order.Next(&rota.Job{
			Priority: int(s.ColumnInt64(1)), Position: s.ColumnInt64(2), CreatedAt: scanTime(s, 3), ID: scanID(s, 4),
		})
		return nil
	})
	if err == nil {
		order.End()
	}
	return err
}
