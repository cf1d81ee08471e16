package httpapi

import (
	"strconv"
	"strings"
	"time"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/api"
)

func explainJob(c *call) (reply, error) {
	reasons, err := c.Store.Explain(c.ctx, c.id)
	if err != nil {
		return reply{}, err
	}
	v := api.Explanation{JobID: api.ID{ID: c.id}, Reasons: make([]api.Reason, len(reasons))}
	if attempts, err := c.Store.Execution(c.ctx, c.id); err == nil {
		tail := attempts[len(attempts)-1]
		v.JobID = api.ID{ID: tail.ID}
		c.explainWorkers(tail, reasons)
		c.explainCancel(tail, reasons)
	}
	for i, r := range reasons {
		v.Reasons[i] = api.NewReason(r)
	}
	return ok(v)
}

// explainCancel adds who cancelled a job before it started, and why. Only the audit has it.
func (c *call) explainCancel(job *rota.Job, reasons []rota.Reason) {
	if job.Status != rota.StatusCancelled || reasons[0].Code != rota.ReasonEnded {
		return
	}
	page, err := c.Store.Audit(c.ctx, rota.AuditQuery{ExecutionID: job.ExecutionID, Acts: []string{rota.AuditJobCancelled}, Limit: rota.PageMax})
	if err != nil { // the explanation is right without it
		return
	}
	for _, e := range page.Entries {
		if e.JobID != job.ID {
			continue
		}
		why := "; " + e.Actor + " cancelled it"
		if e.Detail != "" {
			why += ": " + e.Detail
		}
		reasons[0].Text = strings.TrimSuffix(reasons[0].Text, ".") + strings.TrimSuffix(why, ".") + "."
		return
	}
}

// explainWorkers adds the remote workers to the reasons of a queued job that this server does not
// handle. The store does not know them.
func (c *call) explainWorkers(job *rota.Job, reasons []rota.Reason) {
	if c.Engine == nil || job.Status != rota.StatusQueued || c.Engine.Handles(job.Type) {
		return
	}
	workers := c.registry.workersByType()[job.Type]
	if workers > 0 && c.longPoll.CountFor(job.Type) > 0 { // a waiting claim is about to take the job
		return
	}
	claimedAt, runs := c.registry.lastClaim(job.Type)
	when := claimedAt.UTC().Format(time.RFC3339)
	for i := range reasons {
		r := &reasons[i]
		switch {
		case r.Code != rota.ReasonOrder:
		case workers == 0 && job.Type == execType:
			why := c.noPrograms()
			r.Text = strings.ToUpper(why[:1]) + why[1:] + ", and no remote worker has claimed jobs of type exec since " + when + "."
			r.Remedy = "Add the section exec to the configuration of a server and restart it (docs/commands.md), start a worker with rota worker --types exec, or cancel the job."
			r.Jobs = nil
		case workers == 0:
			r.Text = "This server does not handle type " + job.Type + ", and no remote worker has claimed jobs of it since " + when + "."
			r.Remedy = "Start a worker that handles the type (docs/workers.md), register a handler for it in a program (node.Config.Register), or cancel the job."
			r.Jobs = nil
		case runs == 0:
			r.Text = handledBy(workers, job.Type) + "; the last claim was at " + when + ". " + r.Text
		default:
			r.Text = handledBy(workers, job.Type) + ", busy with " + plural(runs, "job") + ". " + r.Text
			remedy, _, _ := strings.Cut(r.Remedy, "; if ") // workers are running, so this part does not apply
			r.Remedy = strings.TrimSuffix(remedy, ".") + ". Start more workers to run more jobs at the same time (docs/workers.md)."
		}
	}
}

// noPrograms says why this server runs no programs.
func (c *call) noPrograms() string {
	if c.ExecRemote {
		return "the configuration of this server leaves programs to remote workers (exec: {remote: true})"
	}
	return "this server runs no programs, because its configuration has no section exec"
}

func handledBy(workers int, typ string) string {
	return "Type " + typ + " is handled by " + plural(workers, "remote worker")
}

func plural(n int, what string) string {
	if n != 1 {
		what += "s"
	}
	return strconv.Itoa(n) + " " + what
}
