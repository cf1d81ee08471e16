package session

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/sql/ddl"
	"github.com/rotajobs/rota/sql/kind"
	"github.com/rotajobs/rota/sql/system"
)

var runColumns = []system.Column{{Name: "job_run_uuid", Kind: system.UUID}}

const sqlShowJobs = `
SELECT job_name, job_type, state, schedule_kind || ' ' || coalesce(cron_expression, interval_seconds || 's', starts_at_ts::text) AS schedule,
  schedule_tz AS time_zone, next_run_time_ts AS next_run, greatest(last_run_time_ts, last_triggered_at_ts) AS last_run
FROM sys.jobs
ORDER BY job_name`

// query answers a SELECT.
func (s *Session) query(ctx context.Context, text string, args []any) (*Answer, error) {
	q, err := s.console.catalogue.Prepare(text, kindsOf(args), s.sysSession())
	if err != nil {
		return nil, err
	}
	return s.answer(ctx, q, args)
}

// kindsOf returns the types of arguments. A text has none, because it may be of any type.
func kindsOf(args []any) []kind.Kind {
	kinds := make([]kind.Kind, len(args))
	for i, a := range args {
		switch a := a.(type) {
		case bool:
			kinds[i] = kind.Boolean
		case int, int64:
			kinds[i] = kind.Integer
		case float64:
			kinds[i] = kind.Float
			if float64(int64(a)) == a { // JSON has no integers
				kinds[i] = kind.Integer
			}
		case []byte:
			kinds[i] = kind.Bytea
		case time.Time:
			kinds[i] = kind.Timestamp
		}
	}
	return kinds
}

// sysSession describes the session for functions of a query such as current_user.
func (s *Session) sysSession() system.Session {
	version, _ := s.Setting("server_version")
	return system.Session{View: s.store.View, User: s.user, Version: version, Setting: s.Setting, Set: func(name, value string, local bool) error {
		_, err := s.set(&ddl.Set{Name: strings.ToLower(name), Values: []string{value}, Local: local})
		return err
	}}
}

// answer answers a query that was prepared.
func (s *Session) answer(ctx context.Context, q *system.Query, args []any) (*Answer, error) {
	a := &Answer{Columns: q.Columns}
	s.memory.count(a)
	if _, err := s.console.catalogue.Run(ctx, q, args, s.sysSession(), a.add); err != nil {
		a.Release()
		return nil, err
	}
	a.Tag = fmt.Sprintf("SELECT %d", len(a.Rows))
	if s.tx != nil {
		s.tx.queried = true
	}
	if tx := s.tx; tx != nil && tx.writes > 0 && !tx.noticeSent {
		tx.noticeSent = true
		a.notice("queries do not see the changes of this transaction until COMMIT")
	}
	return a, nil
}

var explainColumns = []system.Column{
	{Name: "reason", Kind: system.Text}, {Name: "explanation", Kind: system.Text}, {Name: "remedy", Kind: system.Text}, {Name: "until", Kind: system.Timestamp},
}

// explainRun returns the reasons why a run does not run.
func (s *Session) explainRun(ctx context.Context, id string) (*Answer, error) {
	parsed, err := rota.ParseID(id)
	if err != nil {
		return nil, err
	}
	reasons, err := s.store.Explain(ctx, parsed)
	if rota.CodeOf(err) == rota.NotFound {
		return nil, noRun(id)
	}
	if err != nil {
		return nil, err
	}
	a := rowsAnswer("EXPLAIN", explainColumns)
	for _, r := range reasons {
		a.Rows = append(a.Rows, []any{string(r.Code), r.Text, textOrNil(r.Remedy), timestampOrNil(r.Until)})
	}
	return a, nil
}

func textOrNil(text string) any {
	if text == "" {
		return nil
	}
	return text
}

func timestampOrNil(t time.Time) any {
	if t.IsZero() {
		return nil
	}
	return t.UTC().Format(system.TimeLayout)
}
