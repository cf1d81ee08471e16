package sys

import "zombiezen.com/go/sqlite"

// dependency is a row of sys.job_dependencies: which job waits for which.
type dependency struct{ job, on string }

var dependencies = &table[dependency]{
	name: "job_dependencies", key: func(d *dependency) string { return d.job + "\x00" + d.on },
	columns: []column[dependency]{
		{name: "job_uuid", kind: UUID, value: func(d *dependency) sqlite.Value { return definition(d.job) }, must: true},
		{name: "depends_on_job_uuid", kind: UUID, value: func(d *dependency) sqlite.Value { return definition(d.on) }, must: true},
		{name: "job_name", kind: Text, value: func(d *dependency) sqlite.Value { return word(d.job) }, must: true},
		{name: "depends_on_job_name", kind: Text, value: func(d *dependency) sqlite.Value { return word(d.on) }, must: true},
	},
	ways: []way[dependency]{
		{by: "job_uuid", rows: 10, read: func(q *query, w want) pages[dependency] {
			return edges(jobNamed(q, q.named(w.is["job_uuid"].Text())))
		}},
		{by: "job_name", rows: 10, read: func(q *query, w want) pages[dependency] { return edges(jobNamed(q, w.is["job_name"].Text())) }},
		{
			order: []term{{column: "job_name"}, {column: "depends_on_job_name"}}, rows: schedulesGuess,
			read: func(q *query, w want) pages[dependency] {
				w.most = 0 // most jobs depend on nothing
				return edges(jobsByName(q, w))
			},
		},
	},
}

// edges are what jobs depend on, by name. It goes on until there is an edge, since
// a page without rows is the end.
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
