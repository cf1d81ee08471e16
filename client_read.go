package rota

import "context"

// Job returns a job with its run, or NotFound.
func (c *Client) Job(ctx context.Context, id ID) (*Job, error) {
	return withRetry(ctx, c, func() (*Job, error) { return c.store.Job(ctx, id) })
}

// Execution returns the attempts of one execution, first to last, or NotFound. The id may
// be that of any attempt. The last attempt has the state of the execution.
func (c *Client) Execution(ctx context.Context, id ID) ([]*Job, error) {
	return withRetry(ctx, c, func() ([]*Job, error) { return c.store.Execution(ctx, id) })
}

// Explain returns why a job does not run, the most important reason first, or NotFound.
// The id of an earlier attempt selects the last attempt of its execution.
func (c *Client) Explain(ctx context.Context, id ID) ([]Reason, error) {
	return withRetry(ctx, c, func() ([]Reason, error) { return c.store.Explain(ctx, id) })
}

// typeOf returns a declared type, or NotFound.
func (c *Client) typeOf(ctx context.Context, name string) (*Type, error) {
	return withRetry(ctx, c, func() (*Type, error) { return c.store.Type(ctx, name) })
}
