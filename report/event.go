package report

import (
	"cmp"
	"encoding/hex"
	"fmt"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/getsentry/sentry-go"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/engine"
	"github.com/rotajobs/rota/internal/scrub"
)

// Bounds of an event. Sentry truncates longer values at worse positions.
const (
	errorTextMax = 8 << 10
	paramsMax    = 16 << 10
	tagMax       = 200
)

// failure returns the event of a failed attempt.
func failure(r engine.Report) *sentry.Event {
	job, run := r.Job, r.Job.Run
	if run == nil { // a job without a run has not failed; report it all the same
		run = &rota.Run{ID: job.ID}
	}
	text, stack := splitPanic(errorText(run))
	text = scrub.Text(text)
	line := headline(text)
	event := sentry.NewEvent()
	event.EventID = eventID(run.ID)
	event.Timestamp = firstTime(run.FinishedAt, job.FinishedAt, time.Now())
	event.Level = sentry.LevelWarning
	if r.Dead {
		event.Level = sentry.LevelError
	}
	event.Transaction = job.DefinitionName()
	event.Logger = "rota"
	event.Fingerprint = []string{job.Type, run.ErrorCode, normalise(line)}
	event.Exception = []sentry.Exception{{
		Type: job.Type, Value: shorten(headlineFirst(line, text)), Stacktrace: stack,
		Mechanism: &sentry.Mechanism{Type: cmp.Or(run.ErrorCode, "error"), Handled: sentry.Pointer(stack == nil)},
	}}
	event.Tags = tags(r, run)
	event.Contexts["job"] = jobContext(job, run)
	if trace := traceContext(job.Trace); trace != nil {
		event.Contexts["trace"] = trace
	}
	return event
}

// eventID returns the id of an event, which is the id of its subject without dashes.
func eventID(id rota.ID) sentry.EventID { return sentry.EventID(hex.EncodeToString(id[:])) }

// errorText returns the error text of a run, or a text for its code.
func errorText(run *rota.Run) string {
	switch {
	case run.Error != "":
		return run.Error
	case run.ErrorCode == rota.CodeTimeout:
		return "the attempt timed out"
	case run.ErrorCode == rota.CodeLeaseExpired:
		return "the lease expired: the worker sent no heartbeat"
	}
	return cmp.Or(run.ErrorCode, "the attempt failed without an error text")
}

// headline returns the line of an error that states the problem. In Python tracebacks it is
// the last line.
func headline(text string) string {
	text = strings.TrimSpace(text)
	if strings.HasPrefix(text, "Traceback (most recent call last)") {
		return strings.TrimSpace(text[strings.LastIndexByte(text, '\n')+1:])
	}
	first, _, _ := strings.Cut(text, "\n")
	return strings.TrimSpace(first)
}

// headlineFirst returns the error with its headline first, because lists show the first line.
func headlineFirst(line, text string) string {
	if strings.HasPrefix(strings.TrimSpace(text), line) {
		return text
	}
	return line + "\n\n" + text
}

// shorten keeps the start and the end of a long text. One of them states the problem.
func shorten(text string) string {
	if len(text) <= errorTextMax {
		return text
	}
	const half = errorTextMax/2 - 8
	return cut(text, half) + "\n…\n" + strings.ToValidUTF8(text[len(text)-half:], "")
}

func cut(text string, most int) string {
	if len(text) <= most {
		return text
	}
	for most > 0 && !utf8.RuneStart(text[most]) {
		most--
	}
	return text[:most]
}

func tags(r engine.Report, run *rota.Run) map[string]string {
	job := r.Job
	tags := map[string]string{
		"type": job.Type, "template": job.Template, "schedule": job.Schedule, "error_code": run.ErrorCode, "runner": run.Runner,
		"attempt": strconv.Itoa(job.Attempt), "dead": strconv.FormatBool(r.Dead),
	}
	for name, value := range tags {
		if value == "" {
			delete(tags, name)
			continue
		}
		tags[name] = cut(strings.Join(strings.Fields(scrub.Text(value)), " "), tagMax)
	}
	return tags
}

// jobContext returns the facts of a job under the names of the HTTP API.
func jobContext(job *rota.Job, run *rota.Run) sentry.Context {
	facts := sentry.Context{
		"id": job.ID.String(), "execution_id": job.ExecutionID.String(), "run_id": run.ID.String(),
		"name": job.DefinitionName(), "attempt": fmt.Sprintf("%d of %d", job.Attempt, job.Policy.MaxAttempts), "params": params(job),
	}
	for name, at := range map[string]time.Time{
		"created_at": job.CreatedAt, "plan_time": job.PlanTime, "run_at": job.RunAt,
		"started_at": firstTime(run.StartedAt, job.StartedAt), "finished_at": firstTime(run.FinishedAt, job.FinishedAt),
	} {
		if !at.IsZero() {
			facts[name] = at.UTC().Format(time.RFC3339Nano)
		}
	}
	if d := ranFor(job); d > 0 {
		facts["duration"] = d.String()
	}
	if job.ScopeKind != "" {
		facts["scope"] = job.ScopeKind + "/" + scrub.Text(job.ScopeID)
	}
	if run.ExitCode != nil {
		facts["exit_code"] = *run.ExitCode
	}
	return facts
}

// ranFor returns how long a job ran, or 0 if it has not started or not ended.
func ranFor(job *rota.Job) time.Duration {
	if job.StartedAt.IsZero() || job.FinishedAt.IsZero() {
		return 0
	}
	return max(0, job.FinishedAt.Sub(job.StartedAt))
}

// traceContext returns the trace of a job, or nil.
func traceContext(traceparent string) sentry.Context {
	parts := strings.Split(traceparent, "-")
	if len(parts) != 4 || len(parts[1]) != 32 || len(parts[2]) != 16 {
		return nil
	}
	return sentry.Context{"trace_id": parts[1], "span_id": parts[2], "op": "rota.run"}
}

func firstTime(times ...time.Time) time.Time {
	for _, at := range times {
		if !at.IsZero() {
			return at
		}
	}
	return time.Time{}
}
