package session

import (
	"context"
	"encoding/json"
	"strings"
	"time"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/sql/ddl"
	"github.com/rotajobs/rota/sql/system"
)

var createColumns = []system.Column{{Name: "job_name", Kind: system.Text}, {Name: "create_statement", Kind: system.Text}}

// showCreate returns the statement that creates a job.
func (s *Session) showCreate(ctx context.Context, name string) (*Answer, error) {
	changes := newOverlay()
	if s.tx != nil {
		changes = s.tx.changes
	}
	p := s.planner(ctx, changes)
	job, err := p.schedule(name)
	if err != nil {
		return nil, err
	}
	if job == nil {
		return nil, noJob(name)
	}
	t, err := p.template(job.Spec.Template)
	if err != nil {
		return nil, err
	}
	if t == nil {
		t = &rota.Template{Name: job.Spec.Template}
	}
	statement, notes := CreateStatement(job, t)
	text := strings.Join(append(notes, statement+";"), "\n")
	return rowsAnswer("SHOW", createColumns, []any{name, text}), nil
}

// CreateStatement returns the statement that creates a job, without a semicolon, and comments about what differs between
// the job and the one that the statement creates.
func CreateStatement(s *rota.Schedule, t *rota.Template) (statement string, comments []string) {
	return ddl.Print(&ddl.CreateJob{Name: s.Name, Job: clausesOf(s, t)}), differences(s, t)
}

// clausesOf returns the clauses of a schedule and its template.
func clausesOf(s *rota.Schedule, t *rota.Template) ddl.Clauses {
	spec, policy := s.Spec, s.Spec.Policy.Or(t.Spec.Policy)
	c := ddl.Clauses{
		Schedule: scheduleOf(&spec), MaxRetries: policy.MaxRetries, RetryBackoff: wholeSeconds(policy.Backoff), Timeout: wholeSeconds(policy.Timeout),
		Priority: spec.Priority, DependsOn: spec.DependsOn, DependsGiven: len(spec.DependsOn) > 0,
	}
	c.Class, c.TimeZone = unlessEmpty(spec.Class), unlessEmpty(spec.Zone)
	c.Description = unlessEmpty(spec.Description)
	if spec.Description == "" {
		c.Description = unlessEmpty(t.Spec.Description)
	}
	if c.Priority == nil {
		c.Priority = t.Spec.Priority
	}
	if spec.CatchUp != rota.CatchUpLast {
		c.CatchUp = unlessEmpty(spec.CatchUp)
	}
	if spec.Overlap != rota.OverlapAllow {
		c.Overlap = unlessEmpty(spec.Overlap)
	}
	if !spec.At.IsZero() && spec.OnCompletion != rota.CompletionPreserve {
		c.OnCompletion = unlessEmpty(spec.OnCompletion)
	}
	if s.State != rota.ScheduleEnabled {
		c.State = unlessEmpty(s.State)
	}
	if p := spec.Partition; !p.IsZero() {
		c.Partition = &ddl.Partition{Strategy: string(p.Strategy), Shards: p.Shards, Expression: p.Expression}
	}
	actionOf(&c, s, t)
	return c
}

func unlessEmpty[W ~string](w W) *string {
	if w == "" {
		return nil
	}
	text := string(w)
	return &text
}

func scheduleOf(spec *rota.ScheduleSpec) *ddl.Schedule {
	at := func(t time.Time) string {
		if t.IsZero() {
			return ""
		}
		return t.UTC().Format(time.RFC3339Nano)
	}
	switch {
	case spec.Cron != "":
		return &ddl.Schedule{Kind: ddl.Cron, Cron: spec.Cron, Starts: at(spec.StartsAt), Ends: at(spec.EndsAt)}
	case spec.Every != 0:
		return &ddl.Schedule{Kind: ddl.Every, Every: system.WholeSeconds(spec.Every), Starts: at(spec.StartsAt), Ends: at(spec.EndsAt)}
	}
	return &ddl.Schedule{Kind: ddl.At, At: at(spec.At)}
}

// actionOf sets the action. Params that are not part of the action become WITH PARAMS.
func actionOf(c *ddl.Clauses, s *rota.Schedule, t *rota.Template) {
	var action actionParams
	params := rota.MergeParams(t.Spec.Params, s.Spec.Params)
	_ = json.Unmarshal(params, &action)
	written := []string{"target", "run_as"} // params that clauses express
	switch kind := t.Spec.Type; kind {
	case typeSQL:
		c.Action = &ddl.Action{Kind: ddl.SQL, Text: action.Statement}
		written = append(written, "statement")
	case typeCall:
		c.Action = &ddl.Action{Kind: ddl.Call, Procedure: action.Procedure}
		written = append(written, "procedure")
		if list, plain := valuesOf(action.Args); plain {
			c.Action.Args, written = list, append(written, "args")
		}
		if action.Target == "" {
			action.Target = mainTarget // without a target, CALL names a handler
		}
	case typeExec:
		var args []string
		written = []string{"command"}
		if len(action.Args) == 0 || json.Unmarshal(action.Args, &args) == nil {
			written = append(written, "args")
		}
		c.Action = &ddl.Action{Kind: ddl.Exec, Text: joinWords(append([]string{action.Command}, args...))}
		action.Target, action.RunAs = "", ""
	default:
		c.Action = &ddl.Action{Kind: ddl.Call, Procedure: kind}
		c.Params = nonEmptyParams(params)
		return
	}
	c.Target, c.RunAs = unlessEmpty(action.Target), unlessEmpty(action.RunAs)
	c.Params = nonEmptyParams(rota.MergeParams(without(t.Spec.Params, written...), s.Spec.Params))
}

// without returns params without some keys.
func without(params json.RawMessage, keys ...string) json.RawMessage {
	var fields map[string]json.RawMessage
	if json.Unmarshal(params, &fields) != nil {
		return nil
	}
	for _, key := range keys {
		delete(fields, key)
	}
	return rota.EncodeSpec(fields)
}

func nonEmptyParams(params json.RawMessage) *string {
	if len(params) == 0 || string(params) == "{}" {
		return nil
	}
	text := string(params)
	return &text
}

// valuesOf returns arguments as literals. It reports false if one of them is a list or an object, which no literal is.
func valuesOf(args json.RawMessage) (list []ddl.Value, plain bool) {
	var raw []json.RawMessage
	if len(args) > 0 && json.Unmarshal(args, &raw) != nil {
		return nil, false
	}
	for _, one := range raw {
		if one[0] == '[' || one[0] == '{' {
			return nil, false
		}
		list = append(list, valueOf(one))
	}
	return list, true
}

func valueOf(raw json.RawMessage) ddl.Value {
	var text string
	switch {
	case string(raw) == "null":
		return ddl.Value{Kind: ddl.Null}
	case string(raw) == "true" || string(raw) == "false":
		return ddl.Value{Kind: ddl.Bool, Text: string(raw)}
	case json.Unmarshal(raw, &text) == nil:
		return ddl.Value{Kind: ddl.String, Text: text}
	}
	return ddl.Value{Kind: ddl.Number, Text: string(raw)}
}
