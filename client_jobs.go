package rota

import "context"

// Edit changes a job that has not started, or a retry that waits. The id of an earlier
// attempt selects the last attempt of its execution. The options At and
// After set its earliest start: a ready job is delayed again, and a delayed one becomes
// ready if the time is not in the future. Priority moves the job to the end of that
// priority. SetParams changes params; the params as changed are checked
// as those of Enqueue.
func (c *Client) Edit(ctx context.Context, id ID, options ...Option) (*Job, error) {
	r := request{call: callEdit}
	if err := r.take(options); err != nil {
		return nil, withAct(string(VerbEdit), err)
	}
	command := &Edit{Meta: NewMeta(c.actor), JobID: id, Priority: r.job.Priority, RunAt: r.job.RunAt, MergeParams: r.job.Params}
	if r.given["After"] {
		command.Delay = &r.job.Delay
	}
	if err := command.Validate(); err != nil {
		return nil, err
	}
	if command.MergeParams != nil {
		if err := c.checkEdit(ctx, id, command.MergeParams); err != nil {
			return nil, withAct(string(VerbEdit), err)
		}
	}
	return c.edit(ctx, command)
}

// RunNow ends the delay of a job or of a waiting retry. The id of an earlier attempt
// selects the last attempt of its execution. A job that is not delayed stays as
// it is, also one that a limit of its concurrency key holds back; Explain says why
// it waits. A job that waits for its group, a schedule or an earlier execution is a
// Conflict, and so is one that runs or has ended.
func (c *Client) RunNow(ctx context.Context, id ID) (*Job, error) {
	return c.edit(ctx, &Edit{Meta: NewMeta(c.actor), JobID: id, RunNow: true})
}

func (c *Client) edit(ctx context.Context, command *Edit) (*Job, error) {
	edited, err := apply[*Edited](ctx, c, command)
	if err != nil {
		return nil, err
	}
	return edited.Job, nil
}

// Retry runs an execution again that is dead, cancelled or skipped, as a new job with
// the same params. The option SetParams changes some of them; the params as changed are
// checked as those of Enqueue. The id may be that of any attempt.
func (c *Client) Retry(ctx context.Context, id ID, options ...Option) (*Job, error) {
	return c.redrive(ctx, callRetry, id, options)
}

// RunAgain runs an execution that has ended again, as a new job. Other than Retry it also
// repeats an execution that completed, any number of times. The option SetParams changes
// some params.
func (c *Client) RunAgain(ctx context.Context, id ID, options ...Option) (*Job, error) {
	return c.redrive(ctx, callRunAgain, id, options)
}

func (c *Client) redrive(ctx context.Context, by call, id ID, options []Option) (*Job, error) {
	r := request{call: by}
	if err := r.take(options); err != nil {
		return nil, withAct(string(VerbRedrive), err)
	}
	command := &Redrive{Meta: NewMeta(c.actor), JobID: id, Params: r.job.Params, Again: by == callRunAgain}
	if err := command.Validate(); err != nil {
		return nil, err
	}
	if command.Params != nil {
		if err := c.checkRepeat(ctx, id, command.Params); err != nil {
			return nil, withAct(string(VerbRedrive), err)
		}
	}
	redriven, err := apply[*Redriven](ctx, c, command)
	if err != nil {
		return nil, err
	}
	return redriven.Job, nil
}
