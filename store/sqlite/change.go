package sqlite

import (
	"strings"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/internal/rules"
	"github.com/rotajobs/rota/internal/storekit"
	"zombiezen.com/go/sqlite"
)

// updateJobs writes only the changed fields of jobs and their runs: SQLite runs a trigger only for
// the columns that a statement names. Jobs with the same changed fields share a statement, because
// a statement opens each index of the table once, however many rows it changes.
func (w *writer) updateJobs(changes []rules.JobChange) error {
	for len(changes) > 0 {
		n := 1
		if sameFields(changes, jobsPerStatement) {
			n = jobsPerStatement
		}
		if err := w.updateSameFields(changes[:n]); err != nil {
			return err
		}
		changes = changes[n:]
	}
	return nil
}

// sameFields reports whether the first n changes have the same fields, all in the rows of jobs.
func sameFields(changes []rules.JobChange, n int) bool {
	if len(changes) < n || changes[0].Fields&rules.JobParams != 0 {
		return false
	}
	for _, c := range changes[1:n] {
		if c.Fields != changes[0].Fields {
			return false
		}
	}
	return true
}

// updateSameFields writes one change, or several with the same fields.
func (w *writer) updateSameFields(changes []rules.JobChange) error {
	fields := changes[0].Fields
	if fields&rules.JobParams != 0 {
		if err := w.updateParams(changes[0].Job); err != nil {
			return err
		}
	}
	fields &^= rules.JobParams
	if fields == 0 {
		return nil
	}
	key := updateKey{fields, len(changes)}
	if w.caller != nil {
		columns := storekit.ColumnsOf(fields)
		return w.caller.changeRows(updateJobsSQL(columns, key.rows), func(p storekit.Param) { bindChanges(p, columns, changes) })
	}
	u, err := w.jobUpdate(key)
	if err != nil {
		return err
	}
	bindChanges(&binder{stmt: u.stmt}, u.columns, changes)
	for _, c := range changes {
		w.dispatched.update(c)
	}
	return w.write(u.stmt)
}

func bindChanges(p storekit.Param, columns []*storekit.Column[rota.Job], changes []rules.JobChange) {
	for _, c := range changes {
		for _, column := range columns {
			column.Write(p, c.Job)
		}
		p.ID(c.Job.ID)
	}
}

// updateKey identifies a statement by the fields and the number of rows that it changes.
type updateKey struct {
	fields rules.JobField
	rows   int
}

// jobUpdate is a prepared update of jobs and the columns that it changes.
type jobUpdate struct {
	stmt    *sqlite.Stmt
	columns []*storekit.Column[rota.Job]
}

func (w *writer) jobUpdate(key updateKey) (jobUpdate, error) {
	if u, known := w.stmts.jobUpdate[key]; known {
		return u, u.stmt.ClearBindings()
	}
	columns := storekit.ColumnsOf(key.fields)
	s, _, err := w.conn.PrepareTransient(rewrite(updateJobsSQL(columns, key.rows)))
	if err != nil {
		return jobUpdate{}, err
	}
	u := jobUpdate{s, columns}
	w.stmts.jobUpdate[key] = u
	return u, nil
}

// updateJobsSQL returns the update of some rows. It keeps a run_id that a job already has.
func updateJobsSQL(columns []*storekit.Column[rota.Job], rows int) string {
	var names, set []string
	for _, c := range columns {
		value := "?"
		if rows > 1 {
			value = "v." + c.Name
		}
		if c.Name == "run_id" {
			value = "coalesce(rota_jobs.run_id, " + value + ")"
		}
		names, set = append(names, c.Name), append(set, c.Name+" = "+value)
	}
	update := "UPDATE rota_jobs\nSET " + strings.Join(set, ", ")
	if rows == 1 {
		return update + "\nWHERE id = ?"
	}
	row := "(" + strings.Repeat("?, ", len(names)) + "?)"
	return "WITH v (" + strings.Join(names, ", ") + ", id) AS (VALUES " + row + strings.Repeat(", "+row, rows-1) + ")\n" +
		update + "\nFROM v WHERE rota_jobs.id = v.id"
}
