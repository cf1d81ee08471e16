package storetest

import (
	"fmt"
	"strings"
	"time"

	"github.com/rotajobs/rota"
)

// A page of text is the form in which rows and answers are compared: it does
// not tell nil from empty, nor one time zone from another, and a difference in
// it can be read.
type text struct{ strings.Builder }

// line writes a field, unless it is empty.
func (b *text) line(indent, name, value string) {
	if value == "" {
		return
	}
	for _, part := range [...]string{indent, name, ": ", value, "\n"} {
		b.WriteString(part)
	}
}

func (b *text) job(indent string, j *rota.Job) {
	if j == nil {
		b.line(indent, "job", "none")
		return
	}
	b.line(indent, "job", j.ID.String())
	in := indent + "  "
	b.line(in, "execution", j.ExecutionID.String())
	b.line(in, "type", j.Type)
	b.line(in, "name", j.Name)
	b.line(in, "params", brief(string(j.Params)))
	b.line(in, "status", string(j.Status))
	b.line(in, "hold", number(int64(j.Hold)))
	b.line(in, "priority", fmt.Sprint(j.Priority))
	b.line(in, "position", fmt.Sprint(j.Position))
	b.line(in, "version", j.Version.String())
	b.line(in, "attempt", fmt.Sprintf("%d of %d", j.Attempt, j.Policy.MaxAttempts))
	b.line(in, "retry_of", j.RetryOf.String())
	b.line(in, "sequel", string(j.Sequel))
	b.line(in, "backoff", fmt.Sprintf("%s up to %s jitter %v", j.Policy.Backoff, j.Policy.BackoffMax, j.Policy.Jitter))
	b.line(in, "timeout", j.Policy.Timeout.String())
	b.line(in, "scope_kind", j.ScopeKind)
	b.line(in, "scope_id", j.ScopeID)
	b.line(in, "plan_time", clock(j.PlanTime))
	b.line(in, "run_at", clock(j.RunAt))
	b.line(in, "unique_key", j.UniqueKey)
	b.line(in, "unique_for", number(int64(j.UniqueFor)))
	b.line(in, "created_by", j.CreatedBy)
	b.line(in, "created_at", clock(j.CreatedAt))
	b.line(in, "queued_at", clock(j.QueuedAt))
	b.line(in, "started_at", clock(j.StartedAt))
	b.line(in, "finished_at", clock(j.FinishedAt))
	b.run(in, j.Run)
}

func (b *text) run(indent string, r *rota.Run) {
	if r == nil {
		return
	}
	b.line(indent, "run", r.ID.String())
	in := indent + "  "
	b.line(in, "runner", r.Runner)
	b.line(in, "life", r.Life.String())
	if !r.Token.IsZero() {
		b.line(in, "token", fmt.Sprintf("%x", r.Token[:]))
	}
	b.line(in, "started_at", clock(r.StartedAt))
	b.line(in, "heartbeat_at", clock(r.HeartbeatAt))
	b.line(in, "stale_after", clock(r.StaleAfter))
	b.line(in, "progress", brief(string(r.Progress)))
	b.line(in, "cancel_at", clock(r.CancelAt))
	b.line(in, "cancel_by", r.CancelBy)
	b.line(in, "cancel_reason", brief(r.CancelReason))
	b.line(in, "outcome", string(r.Outcome))
	b.line(in, "finished_at", clock(r.FinishedAt))
	if r.ExitCode != nil {
		b.line(in, "exit_code", fmt.Sprint(*r.ExitCode))
	}
	if r.ErrorCode != rota.CodeLeaseExpired { // there the words are the store's own
		b.line(in, "error", brief(r.Error))
	}
	b.line(in, "error_code", r.ErrorCode)
	if r.RowsAffected != nil {
		b.line(in, "rows_affected", fmt.Sprint(*r.RowsAffected))
	}
	b.line(in, "result", brief(string(r.Result)))
	for _, path := range r.Artifacts {
		b.line(in, "artifact", path)
	}
	b.line(in, "log_path", r.LogPath)
}

// brief keeps a long text recognisable without printing all of it.
func brief(s string) string {
	const shown = 120
	if len(s) <= shown {
		return s
	}
	return fmt.Sprintf("%s… (%d bytes, ending in %q)", s[:shown], len(s), s[len(s)-20:])
}

func clock(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format("2006-01-02T15:04:05.999999999Z")
}

func number(n int64) string {
	if n == 0 {
		return ""
	}
	return fmt.Sprint(n)
}
