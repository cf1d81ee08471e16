package storetest

import (
	"fmt"
	"strings"
	"time"

	"github.com/rotajobs/rota"
)

// text is the form in which rows and answers are compared. It writes nil and empty values alike
// and all times in UTC, and its differences are readable.
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
	b.line(in, "hold", nonZero(int64(j.Hold)))
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
	b.line(in, "plan_time", timeText(j.PlanTime))
	b.line(in, "run_at", timeText(j.RunAt))
	b.line(in, "unique_key", j.UniqueKey)
	b.line(in, "unique_for", nonZero(int64(j.UniqueFor)))
	b.relations(in, j)
	b.line(in, "owner", j.Owner)
	b.line(in, "created_by", j.CreatedBy)
	b.line(in, "created_at", timeText(j.CreatedAt))
	b.line(in, "queued_at", timeText(j.QueuedAt))
	b.line(in, "started_at", timeText(j.StartedAt))
	b.line(in, "finished_at", timeText(j.FinishedAt))
	b.run(in, j.Run)
}

// relations writes the fields that relate a job to definitions, groups, keys and other jobs.
func (b *text) relations(in string, j *rota.Job) {
	b.line(in, "template", j.Template)
	b.line(in, "schedule", j.Schedule)
	b.line(in, "group", j.GroupID.String())
	b.line(in, "group_position", nonZero(int64(j.GroupPosition)))
	b.line(in, "concurrency_key", j.ConcurrencyKey)
	b.line(in, "counts_at", timeText(j.CountsAt))
	b.line(in, "wait_from", timeText(j.WaitFrom))
	b.line(in, "wait_until", timeText(j.WaitUntil))
	b.line(in, "redrive_of", j.RedriveOf.String())
	b.line(in, "trace", j.Trace)
}

func (b *text) run(indent string, r *rota.Run) {
	if r == nil {
		return
	}
	b.line(indent, "run", r.ID.String())
	in := indent + "  "
	b.line(in, "runner", r.Runner)
	b.line(in, "life", r.Incarnation.String())
	if !r.Token.IsZero() {
		b.line(in, "token", fmt.Sprintf("%x", r.Token[:]))
	}
	b.line(in, "started_at", timeText(r.StartedAt))
	b.line(in, "heartbeat_at", timeText(r.HeartbeatAt))
	b.line(in, "stale_after", timeText(r.StaleAfter))
	b.line(in, "progress", brief(string(r.Progress)))
	b.line(in, "cancel_at", timeText(r.CancelAt))
	b.line(in, "cancel_by", r.CancelBy)
	b.line(in, "cancel_reason", brief(r.CancelReason))
	b.line(in, "outcome", string(r.Outcome))
	b.line(in, "finished_at", timeText(r.FinishedAt))
	if r.ExitCode != nil {
		b.line(in, "exit_code", fmt.Sprint(*r.ExitCode))
	}
	if r.ErrorCode != rota.CodeLeaseExpired { // each store words this error itself
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

func (b *text) typ(indent string, t *rota.Type) {
	if t == nil {
		b.line(indent, "type", "none")
		return
	}
	b.line(indent, "type", t.Name)
	b.line(indent+"  ", "paused", yesIf(t.Paused))
	b.definition(indent+"  ", t.Spec, t.Version, t.CreatedBy, t.CreatedAt, t.UpdatedAt)
}

func (b *text) template(indent string, t *rota.Template) {
	if t == nil {
		b.line(indent, "template", "none")
		return
	}
	b.line(indent, "template", t.Name)
	b.line(indent+"  ", "state", string(t.State))
	b.line(indent+"  ", "owner", t.Owner)
	b.line(indent+"  ", "since", timeText(t.Since))
	b.definition(indent+"  ", t.Spec, t.Version, t.CreatedBy, t.CreatedAt, t.UpdatedAt)
}

func (b *text) schedule(indent string, s *rota.Schedule) {
	if s == nil {
		b.line(indent, "schedule", "none")
		return
	}
	b.line(indent, "schedule", s.Name)
	in := indent + "  "
	b.line(in, "state", string(s.State))
	b.line(in, "reason", brief(s.Reason))
	b.line(in, "anchor", timeText(s.Anchor))
	b.line(in, "next_fire", timeText(s.NextFire))
	b.line(in, "last_fire", timeText(s.LastFire))
	b.line(in, "moved_at", timeText(s.MovedAt))
	b.line(in, "resumed_at", timeText(s.ResumedAt))
	b.line(in, "triggered_at", timeText(s.TriggeredAt))
	b.line(in, "owner", s.Owner)
	b.line(in, "since", timeText(s.Since))
	b.definition(in, s.Spec, s.Version, s.CreatedBy, s.CreatedAt, s.UpdatedAt)
}

func (b *text) throttle(indent string, t *rota.Throttle) {
	if t == nil {
		b.line(indent, "throttle", "none")
		return
	}
	b.line(indent, "throttle", specText(rota.EncodeSpec(t.Spec)))
	in := indent + "  "
	b.line(in, "version", t.Version.String())
	b.line(in, "updated_by", t.UpdatedBy)
	b.line(in, "updated_at", timeText(t.UpdatedAt))
}

func (b *text) webhooks(indent string, h *rota.Webhooks) {
	b.line(indent, "webhooks", specText(rota.EncodeSpec(h.Spec)))
	in := indent + "  "
	b.line(in, "version", h.Version.String())
	b.line(in, "updated_by", h.UpdatedBy)
	b.line(in, "updated_at", timeText(h.UpdatedAt))
}

func (b *text) principal(indent string, p *rota.Principal) {
	if p == nil {
		b.line(indent, "principal", "none")
		return
	}
	b.line(indent, "principal", fmt.Sprintf("%s %s", p.Name, p.Kind))
	b.definition(indent+"  ", p.Spec, p.Version, p.CreatedBy, p.CreatedAt, p.UpdatedAt)
}

func (b *text) token(indent string, t *rota.AccessToken) {
	if t == nil {
		b.line(indent, "token", "none")
		return
	}
	b.line(indent, "token", fmt.Sprintf("%s user %s scope %s type %s job %s", t.ID, t.User, t.Scope, t.Type, t.Job))
	in := indent + "  "
	b.line(in, "hash", t.Hash)
	b.line(in, "verifier", t.Verifier)
	b.line(in, "created_by", t.CreatedBy)
	b.line(in, "created_at", timeText(t.CreatedAt))
	b.line(in, "expires_at", timeText(t.ExpiresAt))
	b.line(in, "last_used_at", timeText(t.LastUsedAt))
	b.line(in, "revoked_at", timeText(t.RevokedAt))
	b.line(in, "revoked_by", t.RevokedBy)
}

// definition writes the fields that all definitions have.
func (b *text) definition(in string, spec any, version rota.ID, by string, created, changed time.Time) {
	b.line(in, "spec", specText(rota.EncodeSpec(spec)))
	b.line(in, "version", version.String())
	b.line(in, "created_by", by)
	b.line(in, "created_at", timeText(created))
	b.line(in, "updated_at", timeText(changed))
}

func (b *text) group(indent string, g *rota.Group) {
	if g == nil {
		b.line(indent, "group", "none")
		return
	}
	b.line(indent, "group", g.ID.String())
	in := indent + "  "
	b.line(in, "name", g.Name)
	b.line(in, "mode", fmt.Sprintf("%s, on failure %s, size %d", g.Mode, g.OnFailure, g.Size))
	b.line(in, "status", string(g.Status()))
	b.line(in, "ending", string(g.Ending))
	b.line(in, "ending_reason", brief(g.EndingReason))
	b.line(in, "ending_by", g.EndingBy)
	b.line(in, "created_by", g.CreatedBy)
	b.line(in, "created_at", timeText(g.CreatedAt))
	b.line(in, "tally", tallyText(g.Tally))
	b.line(in, "pruned", tallyText(g.Pruned))
}

func (b *text) reservation(indent string, r *rota.Reservation) {
	if r == nil {
		b.line(indent, "reservation", "none")
		return
	}
	b.line(indent, "reservation", r.ID.String())
	in := indent + "  "
	b.line(in, "node", r.Node)
	b.line(in, "life", r.Incarnation.String())
	b.line(in, "status", string(r.Status))
	b.line(in, "reserved_by", r.ReservedBy)
	b.line(in, "reserved_at", timeText(r.ReservedAt))
	b.line(in, "expires_at", timeText(r.ExpiresAt))
	b.line(in, "ended_at", timeText(r.EndedAt))
	b.line(in, "job", r.JobID.String())
}

func (b *text) secret(indent string, s *rota.Secret) {
	if s == nil {
		b.line(indent, "secret", "none")
		return
	}
	b.line(indent, "secret "+s.Template+"/"+s.Key, fmt.Sprintf("%s version %s by %s at %s, %s", brief(s.Sealed), s.Version, s.CreatedBy, timeText(s.CreatedAt), timeText(s.UpdatedAt)))
}

func (b *text) due(d rota.Due) {
	b.line("", "next ready", timeText(d.Ready))
	b.line("", "next fire", timeText(d.Fire))
	b.line("", "next expire", timeText(d.Expire))
	b.line("", "sweep", yesIf(d.Sweep))
}

// tallyText is empty if nothing was counted.
func tallyText(t rota.GroupTally) string {
	if t == (rota.GroupTally{}) {
		return ""
	}
	return fmt.Sprintf("%d queued, %d running, %d completed, %d dead, %d skipped, %d cancelled",
		t.Queued, t.Running, t.Completed, t.Dead, t.Skipped, t.Cancelled)
}

func yesIf(is bool) string {
	if is {
		return "yes"
	}
	return ""
}

// specText returns a whole specification, unless it is very long.
func specText(doc []byte) string {
	const shown = 4 << 10
	if len(doc) <= shown {
		return string(doc)
	}
	return brief(string(doc))
}

// brief shortens a long text to its beginning, its length and its end.
func brief(s string) string {
	const shown = 120
	if len(s) <= shown {
		return s
	}
	return fmt.Sprintf("%s… (%d bytes, ending in %q)", s[:shown], len(s), s[len(s)-20:])
}

func timeText(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format("2006-01-02T15:04:05.999999999Z")
}

func nonZero(n int64) string {
	if n == 0 {
		return ""
	}
	return fmt.Sprint(n)
}
