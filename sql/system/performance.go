package system

import (
	"github.com/rotajobs/rota"
	"zombiezen.com/go/sqlite"
)

// Metric is one measured value.
type Metric struct {
	Name  string
	Type  string // the type of jobs that it is about; empty: all
	Value float64
	Unit  string
}

var performance = &table[Metric]{
	name: "performance", key: func(m *Metric) string { return m.Name + "\x00" + m.Type },
	columns: []column[Metric]{
		{name: "metric", kind: Text, value: func(m *Metric) sqlite.Value { return notNullText(m.Name) }, notNull: true},
		{name: "type", kind: Text, value: func(m *Metric) sqlite.Value { return text(m.Type) }},
		{name: "value", kind: Float, value: func(m *Metric) sqlite.Value { return sqlite.FloatValue(m.Value) }, notNull: true},
		{name: "unit", kind: Text, value: func(m *Metric) sqlite.Value { return text(m.Unit) }},
	},
	paths: []accessPath[Metric]{{rows: 100, read: func(q *query, _ readRequest) pages[Metric] {
		return once(func() ([]Metric, error) { return metrics(q) })
	}}},
}

// metrics returns the metrics of the store and of the process.
func metrics(q *query) ([]Metric, error) {
	view, err := q.store()
	if err != nil {
		return nil, err
	}
	stats, err := view.Stats(q.ctx)
	if err != nil {
		return nil, err
	}
	all := storeMetrics(stats)
	if q.source.Metrics == nil {
		return all, nil
	}
	own, err := q.source.Metrics(q.ctx)
	return append(all, own...), err
}

func storeMetrics(s *rota.Stats) []Metric {
	oldest := 0.0
	if !s.Oldest.IsZero() {
		oldest = max(0, float64(s.Now.Sub(s.Oldest).Milliseconds()))
	}
	all := []Metric{
		{Name: "scheduler_queue_depth", Value: float64(s.Queued), Unit: "jobs"},
		{Name: "jobs_scheduled", Value: float64(s.Scheduled), Unit: "jobs"},
		{Name: "jobs_blocked", Value: float64(s.Blocked), Unit: "jobs"},
		{Name: "jobs_running", Value: float64(s.Running), Unit: "jobs"},
		{Name: "jobs_dead", Value: float64(s.Dead), Unit: "jobs"},
		{Name: "schedules_enabled", Value: float64(s.Schedules), Unit: "schedules"},
		{Name: "queue_oldest_ms", Value: oldest, Unit: "ms"},
		{Name: "webhook_deliveries", Value: float64(s.Deliveries), Unit: "jobs"},
	}
	for _, t := range s.Types {
		all = append(all,
			Metric{Name: "scheduler_queue_depth", Type: t.Type, Value: float64(t.Queued), Unit: "jobs"},
			Metric{Name: "jobs_scheduled", Type: t.Type, Value: float64(t.Scheduled), Unit: "jobs"},
			Metric{Name: "jobs_blocked", Type: t.Type, Value: float64(t.Blocked), Unit: "jobs"},
			Metric{Name: "jobs_running", Type: t.Type, Value: float64(t.Running), Unit: "jobs"},
		)
	}
	return all
}
