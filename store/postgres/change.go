package postgres

import (
	"slices"
	"strings"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/internal/rules"
	"github.com/rotajobs/rota/internal/storekit"
)

// updateJobs writes the changed fields of jobs and their runs. Jobs with the same changed fields
// share one statement. A job is updated only if it still has the version that was read, unless this
// transaction has inserted it.
func (t *tx) updateJobs(changes []rules.JobChange) {
	var order []rules.JobField
	groups := map[rules.JobField][]*rota.Job{}
	for _, c := range changes {
		if groups[c.Fields] == nil {
			order = append(order, c.Fields)
		}
		groups[c.Fields] = append(groups[c.Fields], c.Job)
	}
	for _, fields := range order {
		t.updateSameFields(fields, groups[fields])
		t.noteChanged(groups[fields])
	}
}

func (t *tx) updateSameFields(fields rules.JobField, jobs []*rota.Job) {
	slices.SortFunc(jobs, func(a, b *rota.Job) int { return a.ID.Compare(b.ID) }) // all transactions lock rows in this order
	ids, versions := newColumn(oidIDs, len(jobs)), newColumn(oidXids, len(jobs))
	for _, j := range jobs {
		ids.bytes(j.ID[:])
		versions.xid(t.readSet.jobs[j.ID])
	}
	params := []param{intParam(int64(len(jobs))), ids.param(), versions.param()}
	columns := storekit.ColumnsOf(fields)
	if fields&rules.JobRun != 0 {
		params = append(params, idParam(t.writer.claimID), idParam(jobs[0].ID))
	}
	for _, of := range columns {
		c := newColumn(arrayOf[of.Kind], len(jobs))
		for _, j := range jobs {
			of.Write(c, j)
		}
		params = append(params, c.param())
	}
	t.write(statement{sql: updateSQL(fields, columns), params: params, eachRow: func(r row) error {
		t.writer.xid = r.xid(1)
		return nil
	}})
}

// updateSQL returns the statement that updates fields. Version 0 stands for a job that this
// transaction has inserted. The statement returns the new version of the rows. The first job of a
// claim stores the claim's id. A job keeps the run id that it has.
//
// The condition = ANY (ARRAY[…]) forces the planner to look up each row by its key. With = alone it
// may also read the whole table in the order of the key, and compare each row with each row of the
// arrays. It prefers that if the table was empty when it was analysed, and keeps the plan when the
// table has grown. All statements that join arrays with a table do so.
func updateSQL(fields rules.JobField, columns []*storekit.Column[rota.Job]) string {
	names, places, set, first := []string{"id", "version_seen"}, []string{"$2", "$3"}, []string(nil), 4
	if fields&rules.JobRun != 0 {
		set, first = append(set, "claim_id = CASE j.id WHEN $5 THEN $4 END"), 6
	}
	for _, of := range columns {
		value := "v." + of.Name
		if of.Name == "run_id" {
			value = "coalesce(j.run_id, v.run_id)"
		}
		places = append(places, "$"+itoa(first+len(names)-2))
		names, set = append(names, of.Name), append(set, of.Name+" = "+value)
	}
	return `
WITH changed AS (
  UPDATE rota_jobs j
  SET ` + strings.Join(set, ", ") + `
  FROM unnest(` + strings.Join(places, ", ") + `) AS v (` + strings.Join(names, ", ") + `)
  WHERE j.id = ANY (ARRAY[v.id]) AND (j.xmin = v.version_seen OR v.version_seen = '0'::xid)
  RETURNING 1)
SELECT rota_expect(count(*), $1, $1), pg_current_xact_id()::xid
FROM changed`
}
