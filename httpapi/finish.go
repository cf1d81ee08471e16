package httpapi

import (
	"encoding/json"
	"strings"
	"time"

	"github.com/rotajobs/rota"
)

// FinishRequest reports the outcomes of runs.
type FinishRequest struct {
	Items []FinishRun `json:"items" doc:"Runs to finish, 1 to 10,000."`
}

// FinishRun is the outcome of one run.
type FinishRun struct {
	LeaseRequest
	Outcome      string          `json:"outcome" enum:"completed,failed,skipped,cancelled" doc:"Outcome. A failure is retried unless it is permanent, was the last attempt, or a person asked the run to stop."`
	Result       json.RawMessage `json:"result,omitempty" doc:"Result: any JSON up to 64 KiB, nested up to 500 deep."`
	Error        string          `json:"error,omitempty" doc:"Error text, for people. It is cut after 16 KiB, and NUL characters are replaced."`
	ErrorCode    string          `json:"error_code,omitempty" doc:"Error code, for programs. timeout: the run exceeded its timeout, finish it as cancelled; shutdown: the worker had to stop, the job is retried immediately."`
	Permanent    bool            `json:"permanent,omitempty" doc:"Whether a retry of the failure is useless."`
	RetryAt      Time            `json:"retry_at,omitzero" doc:"Time of the retry, instead of the usual backoff."`
	ExitCode     *int            `json:"exit_code,omitempty" doc:"Exit code of the process, if it ran one."`
	RowsAffected *int64          `json:"rows_affected,omitempty" doc:"Number of rows changed."`
	Artifacts    []string        `json:"artifacts,omitempty" doc:"Paths of the files created, up to 1,000."`
	Log          string          `json:"log,omitempty" doc:"Log text. Only the last 1 MiB is kept."`
}

// Finished lists the results of a finish request.
type Finished struct {
	Items []FinishedRun `json:"items" nullable:"false" doc:"One result per run, in request order."`
}

// FinishedRun is the result for one run.
type FinishedRun struct {
	RunID ID     `json:"run_id" nullable:"false" doc:"Id of the run."`
	Code  string `json:"code" enum:"ok,lease_lost" doc:"Whether the outcome was recorded. lease_lost: nothing changed."`
}

var outcomes = []string{
	string(rota.OutcomeCompleted), string(rota.OutcomeFailed), string(rota.OutcomeSkipped), string(rota.OutcomeCancelled),
}

// item converts the outcome to an item of the command.
func (r *FinishRun) item() (rota.FinishItem, error) {
	ref, err := r.ref()
	item := rota.FinishItem{
		LeaseRef: ref, Outcome: rota.Outcome(r.Outcome), ExitCode: r.ExitCode, Error: replaceNUL(r.Error), ErrorCode: r.ErrorCode,
		RowsAffected: r.RowsAffected, Result: nullAsNil(r.Result), Artifacts: r.Artifacts, Permanent: r.Permanent, RetryAt: r.RetryAt.Time,
	}
	if word := oneOf(r.Outcome, outcomes); word != "" {
		item.Outcome = rota.Outcome(word)
	} else if err == nil {
		err = rota.Invalidf("outcome", "must be one of %s", strings.ToLower(strings.Join(outcomes, ", ")))
	}
	return item, err
}

// checkFinish refuses a negative count, and a retry that is delayed beyond the maximum delay.
func (c *call) checkFinish(item *rota.FinishItem) error {
	last := c.Clock().Add(rota.DelayMax)
	switch {
	case item.RowsAffected != nil && *item.RowsAffected < 0:
		return rota.Invalidf("rows_affected", "is %d; it must not be negative", *item.RowsAffected)
	case item.RetryAt.After(last):
		return rota.Invalidf("retry_at", "is %s; the latest retry is at %s", item.RetryAt.UTC().Format(time.RFC3339), last.UTC().Format(time.RFC3339))
	}
	return nil
}

// replaceNUL replaces NUL characters, which no store accepts. The last output of a crashed program may
// contain them, and must not prevent its run from being finished.
func replaceNUL(text string) string { return strings.ReplaceAll(text, "\x00", "\uFFFD") }

// finishRuns records outcomes. An invalid request is refused as a whole before anything is recorded,
// so the worker can fix it and no outcome is lost. The command is executed even if the client has
// disconnected.
func finishRuns(c *call, body *FinishRequest) (reply, error) {
	items := make([]rota.FinishItem, len(body.Items))
	for i := range body.Items {
		item, err := body.Items[i].item()
		if err == nil {
			err = c.checkFinish(&item)
		}
		if err != nil {
			return reply{}, atItem("items", i, err)
		}
		items[i] = item
	}
	if err := (&rota.Finish{Items: items}).Validate(); err != nil {
		return reply{}, err
	}
	logs, err := c.workerLogs(body.Items)
	if err != nil {
		return reply{}, err
	}
	c.pendingLogs.add(logs)
	defer c.pendingLogs.finishAll(logs)
	for i, log := range logs {
		items[i].LogPath = log.path
	}
	answers, err := c.finishAll(items)
	if err != nil {
		return reply{}, err
	}
	answer := Finished{Items: make([]FinishedRun, len(answers))}
	for i := range answers {
		c.registry.updateRun(answers[i].RunID, time.Time{})
		answer.Items[i] = FinishedRun{RunID: ID{answers[i].RunID}, Code: leaseCode(answers[i].Code)}
		if log, has := logs[i]; has && answers[i].Code == "" {
			c.storeLog(log)
			c.pendingLogs.finish(log)
		}
	}
	return ok(answer)
}

// finishAll sends outcomes in as few commands as possible.
func (c *call) finishAll(items []rota.FinishItem) (answers []rota.FinishAnswer, err error) {
	ctx, done := c.detached()
	defer done()
	results, err := c.Store.Apply(ctx, rota.Batch{Commands: c.finishCommands(items)})
	if err != nil {
		return nil, err
	}
	for _, result := range results {
		if result.Err != nil {
			return nil, result.Err
		}
		answers = append(answers, result.Reply.(*rota.Finished).Items...)
	}
	return answers, nil
}

func (c *call) finishCommands(items []rota.FinishItem) (commands []rota.Command) {
	var last *rota.Finish
	from, entries, bytes := 0, 0, 0
	for i := range items {
		n, weight := rota.Weigh(&rota.Finish{Items: items[i : i+1]})
		if last == nil || entries+n > rota.ItemsMax || bytes+weight > rota.CommandBytesMax/2 {
			last = &rota.Finish{Meta: c.meta()}
			commands = append(commands, last)
			from, entries, bytes = i, 0, 0
		}
		last.Items = items[from : i+1]
		entries, bytes = entries+n, bytes+weight
	}
	return commands
}
