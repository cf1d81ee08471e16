package postgres

import (
	"time"

	"github.com/rotajobs/rota"
)

// Used columns are a fast path of inserts. The plain way names every column. The fast path leaves
// out columns that are empty in all new jobs, and the table supplies their defaults. It assumes
// nothing. Connections keep one prepared statement for each set of columns, so an INSERT uses one of
// four sets.

// columnsOf returns the columns of an insert.
func (t *tx) columnsOf(jobs []*rota.Job) fieldsUsed {
	used := usedFields(jobs)
	if !t.store.uses(UsedColumns) {
		used |= allFields &^ startedFields
	}
	return used
}

// fieldsUsed is a bit set of the insertColumns that have a value.
type fieldsUsed uint64

// usedFields returns the columns that any of the jobs uses. It iterates over the jobs in the outer
// loop, which reads each job's memory once.
func usedFields(jobs []*rota.Job) (used fieldsUsed) {
	for _, j := range jobs {
		if isStarted(j) {
			used |= startedFields
		}
		for i := range newFields {
			if bit := fieldsUsed(1) << i; used&bit == 0 && insertColumns[i].HasValue(j) {
				used |= bit
			}
		}
	}
	return used
}

// roundUp returns one of four supersets: the columns of a simple job or all columns, with or
// without those of a run. Connections keep one prepared statement for each set.
func (u fieldsUsed) roundUp() fieldsUsed {
	common := basicFields
	if u&^basicFields&^startedFields != 0 {
		common = allFields &^ startedFields
	}
	if u&startedFields != 0 {
		common |= startedFields
	}
	return common
}

var basicFields = usedFields([]*rota.Job{{Attempt: 1, QueuedAt: time.Unix(1, 0), CreatedBy: "x", Trace: "x"}})

func (u fieldsUsed) names() (names []string) {
	for i, of := range insertColumns {
		if u&(1<<i) != 0 {
			names = append(names, of.Name)
		}
	}
	return names
}
