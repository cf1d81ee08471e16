package console

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/console/sys"
)

var runColumns = []sys.Column{{Name: "job_run_uuid", Kind: sys.UUID}}

const sqlShowJobs = `
SELECT job_name, job_type, state, schedule_kind || ' ' || coalesce(cron_expression, interval_seconds || 's', starts_at_ts) AS schedule,
  schedule_tz AS time_zone, next_run_time_ts AS next_run, last_run_time_ts AS last_run
FROM sys.jobs
ORDER BY job_name`

// query answers a SELECT.
func (s *Session) query(ctx context.Context, text string, args []any) (*Answer, error) {
	a := &Answer{}
	if _, err := s.console.catalogue.Select(ctx, text, args, a.sink()); err != nil {
		return nil, err
	}
	a.Tag = fmt.Sprintf("SELECT %d", len(a.Rows))
	if tx := s.open; tx != nil && tx.size > 0 && !tx.told {
		tx.told = true
		a.notice("what this transaction changes is seen after COMMIT")
	}
	return a, nil
}

// explainRun says why a run does not run.
func (s *Session) explainRun(ctx context.Context, id string) (*Answer, error) {
	parsed, err := rota.ParseID(id)
	if err != nil {
		return nil, err
	}
	reasons, err := s.console.config.Store.Explain(ctx, parsed)
	if err != nil {
		return nil, err
	}
	a := table("EXPLAIN", []sys.Column{
		{Name: "reason", Kind: sys.Text}, {Name: "explanation", Kind: sys.Text}, {Name: "remedy", Kind: sys.Text}, {Name: "until", Kind: sys.Timestamp},
	})
	for _, r := range reasons {
		a.Rows = append(a.Rows, []any{string(r.Code), r.Text, orNil(r.Remedy), stampOf(r.Until)})
	}
	return a, nil
}

func orNil(text string) any {
	if text == "" {
		return nil
	}
	return text
}

func stampOf(t time.Time) any {
	if t.IsZero() {
		return nil
	}
	return t.UTC().Format(sys.TimeLayout)
}

// settings are what SHOW tells, for clients that ask.
func (s *Session) settings() map[string]string {
	return map[string]string{
		"server_version": s.console.config.Version, "time zone": "UTC", "timezone": "UTC", "transaction isolation level": "read committed",
		"transaction_isolation": "read committed", "standard_conforming_strings": "on", "client_encoding": "UTF8", "server_encoding": "UTF8",
		"search_path": "sys",
	}
}

func (s *Session) show(name string) (*Answer, error) {
	value, known := s.settings()[name]
	if !known {
		return nil, refuse(StateUnknown, "SHOW JOBS lists the jobs, SHOW CREATE JOB name shows how one is made", "there is no setting %s", name)
	}
	column := strings.ReplaceAll(name, " ", "_")
	return table("SHOW", []sys.Column{{Name: column, Kind: sys.Text}}, []any{value}), nil
}
