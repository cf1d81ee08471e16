package httpapi

import (
	"time"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/api"
	"github.com/rotajobs/rota/api/problem"
)

// checkFinish refuses a negative count, a retry that is delayed beyond the maximum delay, and a result that readers
// understand differently.
func (c *call) checkFinish(item *rota.FinishItem) error {
	last := c.Clock().Add(rota.DelayMax)
	switch {
	case item.RowsAffected != nil && *item.RowsAffected < 0:
		return rota.Invalidf("rows_affected", "is %d; it must not be negative", *item.RowsAffected)
	case item.RetryAt.After(last):
		return rota.Invalidf("retry_at", "is %s; the latest retry is at %s", item.RetryAt.UTC().Format(time.RFC3339), last.UTC().Format(time.RFC3339))
	}
	return rota.CheckDocument("result", item.Result, rota.ResultMax)
}

// finishRuns records outcomes. An invalid request is refused as a whole before anything is recorded,
// so the worker can fix it and no outcome is lost. The command is executed even if the client has
// disconnected.
func finishRuns(c *call, body *api.FinishRequest) (reply, error) {
	arrived := time.Now()
	items := make([]rota.FinishItem, len(body.Items))
	for i := range body.Items {
		item, err := body.Items[i].Item()
		if err == nil {
			err = c.checkFinish(&item)
		}
		if err == nil && body.Items[i].LogOffset != 0 { // a whole log of any length is cut
			err = checkLogPart(body.Items[i].Log, body.Items[i].LogOffset)
		}
		if err != nil {
			return reply{}, problem.AtItem("items", i, err)
		}
		items[i] = item
	}
	if err := (&rota.Finish{Items: items}).Validate(); err != nil {
		return reply{}, err
	}
	masks, err := c.masksOfRuns(body.Items)
	if err != nil {
		return reply{}, err
	}
	for i, m := range masks {
		m.outcome(&items[i], &body.Items[i])
	}
	logs, err := c.workerLogs(body.Items, masks)
	if err != nil {
		return reply{}, err
	}
	c.pendingLogs.add(logs)
	defer c.pendingLogs.finishAll(logs)
	for i, log := range logs {
		items[i].LogPath = log.path
	}
	answers, err := c.finishAll(items, arrived)
	if err != nil {
		return reply{}, err
	}
	answer := api.Finished{Items: make([]api.FinishedRun, len(answers))}
	for i := range answers {
		c.registry.updateRun(answers[i].RunID, time.Time{})
		answer.Items[i] = api.NewFinishedRun(answers[i])
	}
	c.storeLogs(logs, answers)
	return ok(answer)
}

// finishAll sends outcomes that arrived at a time in as few commands as possible.
func (c *call) finishAll(items []rota.FinishItem, sent time.Time) (answers []rota.FinishAnswer, err error) {
	ctx, done := c.detached()
	defer done()
	results, err := c.Store.Apply(ctx, rota.Batch{Commands: c.finishCommands(items, sent)})
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

func (c *call) finishCommands(items []rota.FinishItem, sent time.Time) (commands []rota.Command) {
	var last *rota.Finish
	from, entries, bytes := 0, 0, 0
	for i := range items {
		n, weight := rota.Weigh(&rota.Finish{Items: items[i : i+1]})
		if last == nil || entries+n > rota.ItemsMax || bytes+weight > rota.CommandBytesMax/2 {
			last = &rota.Finish{Meta: c.meta(), Grace: c.CancelGrace, Sent: sent}
			commands = append(commands, last)
			from, entries, bytes = i, 0, 0
		}
		last.Items = items[from : i+1]
		entries, bytes = entries+n, bytes+weight
	}
	return commands
}
