package rota

import "context"

// EnqueueTx is Enqueue in a transaction that the caller has begun on the database of the
// store: the job exists if and only if the caller commits.
//
//	tx, err := db.BeginTx(ctx, nil)
//	...
//	_, err = tx.ExecContext(ctx, "INSERT INTO orders ...")
//	...
//	_, err = client.EnqueueTx(ctx, tx, Receipt{Order: 7})
//	...
//	err = tx.Commit()
//
// The packages of the stores say which Go types tx may have. A store that is a server
// (package client) refuses every tx: Invalid with the field tx.
//
// The client neither commits the transaction nor rolls it back. After the commit the job
// is in the queue, and workers start it. After a rollback there was no job. Until the
// commit no other transaction sees the returned job, and the methods of the client, such
// as Job and Cancel, do not find it.
//
// A refusal has the errors of Enqueue, and leaves the transaction usable: the caller
// decides whether to commit the rest. If another transaction holds a lock, such as that of
// the same unique key, EnqueueTx waits for it for TxLockWait; then the error is Busy, and
// the caller may try again in the same transaction. After any other error, such as
// Unavailable, roll back. The client repeats nothing here: a transaction does not outlive
// its connection.
//
// The type of the payload is declared in the transaction too if the store does not have it
// yet. A declaration that the transaction rolls back is repeated by the next call.
func (c *Client) EnqueueTx(ctx context.Context, tx any, p Payload, options ...Option) (*Job, error) {
	submitted, err := c.SubmitTx(ctx, tx, p, options...)
	return submitted.Job, err
}

// SubmitTx is Submit in a transaction of the caller; see EnqueueTx. A job that the same
// transaction has enqueued with the same unique key is a duplicate, too.
func (c *Client) SubmitTx(ctx context.Context, tx any, p Payload, options ...Option) (Submitted, error) {
	send, err := c.inTx(tx)
	if err != nil {
		return Submitted{}, withAct("enqueue", err)
	}
	return c.submit(ctx, send, p, options)
}

// EnqueueManyTx is EnqueueMany in a transaction of the caller; see EnqueueTx.
func (c *Client) EnqueueManyTx(ctx context.Context, tx any, payloads []Payload, options ...Option) ([]Submitted, error) {
	send, err := c.inTx(tx)
	if err != nil {
		return nil, withAct("enqueue", err)
	}
	return c.submitMany(ctx, send, payloads, options)
}

// ScheduleTx is Schedule in a transaction of the caller: the template and the schedule
// exist, or change, if and only if the caller commits; see EnqueueTx. Until the end of the
// transaction, other declarations of the same names wait for it.
func (c *Client) ScheduleTx(ctx context.Context, tx any, name string, p Payload, options ...Option) error {
	send, err := c.inTx(tx)
	if err != nil {
		return withAct("schedule "+quote(name), err)
	}
	return c.schedule(ctx, send, name, p, options)
}

// inTx returns the sender of calls that take effect with a transaction of the caller.
func (c *Client) inTx(tx any) (sender, error) {
	if _, err := txStoreOf(c.store, tx); err != nil {
		return nil, err
	}
	return func(ctx context.Context, payloads []Payload, command Command) (Result, error) {
		if err := c.declareTx(ctx, tx, payloads); err != nil {
			return Result{}, err
		}
		reply, err := doTx[Reply](ctx, c.store, tx, command)
		return Result{Reply: reply}, err
	}, nil
}

// declareTx declares the types of payloads in a transaction of the caller. It reads the
// declared types outside of the transaction: the client remembers only types that are
// committed. The declarations precede the command in a batch of their own, so that the
// command is not applied if one of them is refused. If other transactions declare the same
// types, the first commit of them suffices.
func (c *Client) declareTx(ctx context.Context, tx any, payloads []Payload) error {
	batch, err := c.declarations(ctx, payloads)
	if err != nil || len(batch.Commands) == 0 {
		return err
	}
	results, _, err := ApplyTx(ctx, c.store, tx, batch)
	if CodeOf(err) == Busy {
		if left, readErr := c.declarations(ctx, payloads); readErr == nil && len(left.Commands) == 0 {
			return nil
		}
	}
	if err != nil {
		return err
	}
	for i, command := range batch.Commands {
		if _, err := replyOf[*TypePut](command, results[i]); unlessDeclared(err) != nil {
			return err
		}
	}
	return nil
}

// declarations returns a batch that declares the types of payloads that the store does not
// have.
func (c *Client) declarations(ctx context.Context, payloads []Payload) (batch Batch, err error) {
	declares := map[string]bool{}
	for _, p := range payloads {
		if declares[p.JobType()] {
			continue
		}
		command, err := c.declaration(ctx, p)
		if err != nil {
			return Batch{}, err
		}
		if command != nil {
			declares[command.Name] = true
			batch.Commands = append(batch.Commands, command)
		}
	}
	return batch, nil
}
