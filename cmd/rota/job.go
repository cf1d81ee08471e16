package main

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"net/url"
	"slices"

	"github.com/spf13/cobra"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/api"
)

func newJobCommand(a *app) *cobra.Command {
	return newParentCommand("job", "List, create, change, run, cancel and retry jobs",
		newJobListCommand(a), newJobShowCommand(a), newJobCreateCommand(a), newJobRunsCommand(a), newJobCancelCommand(a),
		newJobMoveCommand(a), newJobPriorityCommand(a), newJobEditCommand(a), newJobRunNowCommand(a), newJobRetryCommand(a),
		newJobRunAgainCommand(a), newExplainCommand(a, "explain ID|NAME"), newJobLogsCommand(a), newJobWaitCommand(a),
	)
}

// jobFilters adds the flags that select jobs or executions; noun names them in help.
func jobFilters(cmd *cobra.Command, noun string, states []string) filters {
	f := filters{}
	if states != nil {
		f.add(cmd, "state", "only "+noun+" in this `STATE`; several with commas between them", states...)
	}
	f.add(cmd, "type", "only "+noun+" of this `TYPE`")
	f.add(cmd, "template", "only "+noun+" of the template `NAME`")
	f.add(cmd, "schedule", "only "+noun+" of the schedule `NAME`")
	f.add(cmd, "group", "only "+noun+" of the group with this `ID`")
	return f
}

func newJobListCommand(a *app) *cobra.Command {
	cmd := &cobra.Command{
		Use: "list", Short: "List jobs, newest first",
		Example: `  rota job list --state failed --type report.build
  rota job list --state failed,cancelled --since 24h
  rota job list --code timeout --until 2026-11-15
  rota job list --schedule nightly --limit 5 --output json`,
	}
	f := jobFilters(cmd, "jobs", api.JobStates)
	f.add(cmd, "execution", "only the attempts of the execution with this `ID` or name")
	search := &searchFlags{}
	search.flags(cmd, "jobs")
	return listing[api.Job]{path: "/jobs", filters: f, search: search, empty: a.noJobs, heads: jobHeads, drop: jobDrop, row: a.jobRow}.command(a, cmd)
}

// noJobs is the text for an empty list of jobs.
func (a *app) noJobs(ctx context.Context, _ url.Values) (string, error) {
	if a.viewsAll(ctx) {
		return "no jobs", nil
	}
	return "no jobs that you may see; jobs of templates and schedules of others need VIEW JOB HISTORY: rota me", nil
}

// viewsAll reports whether the user may see all jobs. If the server does not say, it may.
func (a *app) viewsAll(ctx context.Context) bool {
	me, _, err := fetch[api.Me](ctx, a, newGet("/me"))
	return err != nil || me.Admin && (me.Token == nil || me.Token.Job == "") || slices.ContainsFunc(me.Privileges, func(p api.MyPrivilege) bool {
		return p.Privilege == string(rota.ViewJobHistory) && p.Job == "" && (me.Token == nil || me.Token.Job == "")
	})
}

// The columns of a list of jobs.
var (
	jobHeads = []string{"ID", "^NAME", "!STATE", "?PROGRESS", "PRIORITY", "ATTEMPT", "SINCE", "~NOTE"}
	jobDrop  = []string{"PRIORITY", "ATTEMPT", "SINCE", "NOTE", "PROGRESS"}
)

func (a *app) jobRow(j api.Job) []string {
	return []string{
		j.ID.String(), j.Name, j.State, cutText(jobProgress(j), progressMax), fmt.Sprint(j.Priority), fmt.Sprintf("%d/%d", j.Attempt, j.MaxAttempts), a.jobSince(j), a.jobNote(j),
	}
}

// jobSince formats the time of the last change: finished, started or created.
func (a *app) jobSince(j api.Job) string {
	switch {
	case !j.FinishedAt.IsZero():
		return a.ago(j.FinishedAt.Time)
	case !j.StartedAt.IsZero():
		return a.ago(j.StartedAt.Time)
	}
	return a.ago(j.CreatedAt.Time)
}

// jobNote is the note of a job in lists: its error, its start time, or the command that explains it.
func (a *app) jobNote(j api.Job) string {
	switch {
	case j.Run != nil && j.Run.Error != "":
		return firstLine(string(j.Run.Error))
	case j.Run != nil && !j.Run.CancelAt.IsZero() && j.FinishedAt.IsZero():
		return "asked to stop"
	case j.State == string(rota.StateScheduled):
		return "starts " + a.ago(j.RunAt.Time)
	case j.State == string(rota.StateBlocked):
		return "see rota job explain"
	}
	return ""
}

func (a *app) jobKeyValues(j api.Job) *keyValues {
	s := &keyValues{}
	s.add("id", j.ID.String())
	if j.ExecutionID != j.ID {
		s.add("execution", j.ExecutionID.String())
	}
	s.add("type", j.Type)
	if j.Name != j.Type {
		s.add("name", j.Name)
	}
	s.add("state", j.State)
	s.add("attempt", fmt.Sprintf("%d of %d", j.Attempt, j.MaxAttempts))
	s.add("retry of", j.RetryOf.String())
	s.add("redrive of", j.RedriveOf.String())
	s.add("priority", fmt.Sprint(j.Priority))
	s.add("position", fmt.Sprint(j.Position))
	a.addOrigin(s, j)
	s.add("params", string(j.Params))
	s.add("created", a.timestamp(j.CreatedAt.Time)+byActor(j.CreatedBy))
	if j.FinishedAt.IsZero() && j.StartedAt.IsZero() {
		s.add("runs at", a.timestamp(j.RunAt.Time))
	}
	s.add("queued", a.timestamp(j.QueuedAt.Time))
	s.add("started", a.timestamp(j.StartedAt.Time))
	s.add("finished", a.timestamp(j.FinishedAt.Time))
	s.add("policy", policyText(j))
	if j.Run != nil {
		a.addRun(s, j)
	}
	return s
}

func byActor(actor api.Text) string {
	if actor == "" {
		return ""
	}
	return " by " + string(actor)
}

// addOrigin adds the origin of a job: template, schedule, group, scope and keys.
func (a *app) addOrigin(s *keyValues, j api.Job) {
	s.add("template", string(j.Template))
	s.add("schedule", string(j.Schedule))
	s.add("planned for", a.timestamp(j.PlanTime.Time))
	if !j.GroupID.IsZero() {
		s.add("group", fmt.Sprintf("%s, member %d", j.GroupID, *cmp.Or(j.GroupPosition, new(int))))
	}
	if j.ScopeKind != rota.GlobalScopeKind {
		s.add("scope", j.ScopeKind+" "+j.ScopeID)
	}
	s.add("unique key", string(j.UniqueKey))
	s.add("concurrency key", string(j.ConcurrencyKey))
}

func policyText(j api.Job) string {
	text := plural(j.MaxAttempts-1, "retry", "retries") + ", backoff " + durationText(&j.Backoff)
	if j.BackoffMax != nil {
		text += " up to " + durationText(j.BackoffMax)
	}
	if j.Jitter > 0 {
		text += fmt.Sprintf(", jitter %g", j.Jitter)
	}
	if j.Timeout != nil {
		text += ", timeout " + durationText(j.Timeout)
	}
	return text
}

func (a *app) addRun(s *keyValues, j api.Job) {
	r := j.Run
	s.add("took", a.elapsed(r.StartedAt.Time, r.FinishedAt.Time))
	s.add("worker", string(r.Runner))
	s.add("progress", progressText(r.Progress))
	if !r.CancelAt.IsZero() {
		s.add("asked to stop", a.timestamp(r.CancelAt.Time)+byActor(r.CancelBy))
		s.add("because", string(r.CancelReason))
	}
	s.block("error", string(r.Error))
	s.add("error code", string(r.ErrorCode))
	s.add("result", nonNull(r.Result))
	if r.ExitCode != nil {
		s.add("exit code", fmt.Sprint(*r.ExitCode))
	}
	if r.RowsAffected != nil {
		s.add("rows", fmt.Sprint(*r.RowsAffected))
	}
	for _, path := range r.Artifacts {
		s.add("artifact", path)
	}
	s.add("log", string(r.LogPath))
}

func nonNull(doc json.RawMessage) string {
	if string(doc) == "null" {
		return ""
	}
	return string(doc)
}
