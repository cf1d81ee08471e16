package system

import "zombiezen.com/go/sqlite"

// dependency is a row of sys.job_dependencies: which job waits for which.
type dependency struct{ job, on string }

var dependencies = &table[dependency]{
	name: "job_dependencies", key: func(d *dependency) string { return d.job + "\x00" + d.on }, alwaysFull: true,
	columns: []column[dependency]{
		{name: "job_uuid", kind: UUID, value: func(d *dependency) sqlite.Value { return definitionUUID(d.job) }, notNull: true},
		{name: "depends_on_job_uuid", kind: UUID, value: func(d *dependency) sqlite.Value { return definitionUUID(d.on) }, notNull: true},
		{name: "job_name", kind: Text, value: func(d *dependency) sqlite.Value { return notNullText(d.job) }, notNull: true},
		{name: "depends_on_job_name", kind: Text, value: func(d *dependency) sqlite.Value { return notNullText(d.on) }, notNull: true},
	},
	paths: []accessPath[dependency]{
		{key: "job_uuid", rows: 10, read: func(q *query, w readRequest) pages[dependency] {
			return edges(jobNamed(q, q.definitionName(w.equal["job_uuid"].Text())))
		}},
		{key: "job_name", rows: 10, read: func(q *query, w readRequest) pages[dependency] { return edges(jobNamed(q, w.equal["job_name"].Text())) }},
		{
			order: []orderTerm{{column: "job_name"}, {column: "depends_on_job_name"}}, rows: schedulesEstimate,
			read: func(q *query, w readRequest) pages[dependency] {
				w.limit = 0 // most jobs depend on nothing
				return edges(jobsByName(q, w))
			},
		},
	},
}

// edges lists the dependencies of jobs by name. It reads pages until one has a dependency, because an empty page ends
// the scan.
func edges(of pages[job]) pages[dependency] {
	return func() (rows []dependency, err error) {
		for len(rows) == 0 {
			list, err := of()
			if len(list) == 0 || err != nil {
				return nil, err
			}
			for _, j := range list {
				for _, on := range j.Spec.DependsOn {
					rows = append(rows, dependency{j.Name, on})
				}
			}
		}
		return rows, nil
	}
}
