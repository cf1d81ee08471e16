package httpapi

import (
	"encoding/json"
	"strings"
	"time"

	"github.com/rotajobs/rota"
)

// FinishRequest tells how some runs ended.
type FinishRequest struct {
	Items []FinishRun `json:"items" doc:"1 to 10,000 runs."`
}

// FinishRun is the end of one run.
type FinishRun struct {
	LeaseRequest
	Outcome      string          `json:"outcome" enum:"completed,failed,skipped,cancelled" doc:"How it ended. A failure is tried again, unless it is permanent or was the last attempt; what a person asked to stop is not."`
	Result       json.RawMessage `json:"result,omitempty" doc:"What it has to show: any JSON of up to 64 KiB, nested up to 500 deep."`
	Error        string          `json:"error,omitempty" doc:"What went wrong, for people. What is longer than 16 KiB is cut, and a NUL in it is replaced."`
	ErrorCode    string          `json:"error_code,omitempty" doc:"What went wrong, for programs. timeout: its time ran out, finish it as cancelled; shutdown: the worker had to stop, it is tried again at once."`
	Permanent    bool            `json:"permanent,omitempty" doc:"Of a failure: trying again would not help."`
	RetryAt      Time            `json:"retry_at,omitzero" doc:"Of a failure: try again then, and not after the usual wait."`
	ExitCode     *int            `json:"exit_code,omitempty" doc:"Of a process, if it ran one."`
	RowsAffected *int64          `json:"rows_affected,omitempty" doc:"How many rows it changed."`
	Artifacts    []string        `json:"artifacts,omitempty" doc:"The paths of what it made, up to 1,000."`
	Log          string          `json:"log,omitempty" doc:"The text of its log. Of one that is longer than 1 MiB the end is kept."`
}

// Finished says what came of some ends.
type Finished struct {
	Items []FinishedRun `json:"items" nullable:"false" doc:"One for each run, in the order in which they were named."`
}

// FinishedRun is what came of one.
type FinishedRun struct {
	RunID ID     `json:"run_id" nullable:"false" doc:"Of the run."`
	Code  string `json:"code" enum:"ok,lease_lost" doc:"Whether this end is the one that counts. lease_lost: nothing was changed."`
}

var outcomes = []string{
	string(rota.OutcomeCompleted), string(rota.OutcomeFailed), string(rota.OutcomeSkipped), string(rota.OutcomeCancelled),
}

// item is the end for the library.
func (r *FinishRun) item() (rota.FinishItem, error) {
	ref, err := r.ref()
	item := rota.FinishItem{
		LeaseRef: ref, Outcome: rota.Outcome(r.Outcome), ExitCode: r.ExitCode, Error: replaceNUL(r.Error), ErrorCode: r.ErrorCode,
		RowsAffected: r.RowsAffected, Result: nullAsNil(r.Result), Artifacts: r.Artifacts, Permanent: r.Permanent, RetryAt: r.RetryAt.Time,
	}
	if word := oneOf(r.Outcome, outcomes); word != "" {
		item.Outcome = rota.Outcome(word)
	} else if err == nil {
		err = rota.Invalidf("outcome", "is none of %s", strings.ToLower(strings.Join(outcomes, ", ")))
	}
	return item, err
}

// checkFinish refuses a count below zero, and a retry that is put off for longer
// than anything else may be.
func (c *call) checkFinish(item *rota.FinishItem) error {
	last := c.Clock().Add(rota.DelayMax)
	switch {
	case item.RowsAffected != nil && *item.RowsAffected < 0:
		return rota.Invalidf("rows_affected", "is %d; it is a count", *item.RowsAffected)
	case item.RetryAt.After(last):
		return rota.Invalidf("retry_at", "is %s; a retry may be put off until %s", item.RetryAt.UTC().Format(time.RFC3339), last.UTC().Format(time.RFC3339))
	}
	return nil
}

// replaceNUL is a text without what no store takes. What a program said as it died
// may have anything in it, and is no reason to refuse its end.
func replaceNUL(text string) string { return strings.ReplaceAll(text, "\x00", "\uFFFD") }

// finishRuns records ends. A request that is wrong is refused whole, before
// anything is recorded: its sender mends it, and no outcome is lost. The request
// of a client that has gone is carried out all the same.
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

// finishAll sends ends in as few commands as can carry them.
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
