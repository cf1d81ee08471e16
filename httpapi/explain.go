package httpapi

import "github.com/rotajobs/rota"

func explainJob(c *call) (reply, error) {
	id, err := c.id()
	if err != nil {
		return reply{}, err
	}
	reasons, err := c.Store.Explain(c.ctx, id)
	if err != nil {
		return reply{}, err
	}
	v := Explanation{JobID: ID{id}, Reasons: make([]Reason, len(reasons))}
	if attempts, err := c.Store.Execution(c.ctx, id); err == nil {
		tail := attempts[len(attempts)-1]
		v.JobID = ID{tail.ID}
		c.explainUnhandled(tail, reasons)
	}
	for i, r := range reasons {
		v.Reasons[i] = NewReason(r)
	}
	return ok(v)
}

// explainUnhandled says of a job that nothing but its turn keeps from running
// that its turn does not come: the store does not know who handles what.
func (c *call) explainUnhandled(job *rota.Job, reasons []rota.Reason) {
	if c.Engine == nil || job.Status != rota.StatusQueued || c.Engine.Handles(job.Type) {
		return
	}
	for i := range reasons {
		if reasons[i].Code == rota.ReasonOrder {
			reasons[i].Text = "No worker of this server handles type " + job.Type + ", so nobody takes it."
			reasons[i].Remedy = "Register a handler for it, in a program with node.Config.Register, or cancel it."
			reasons[i].Jobs = nil
		}
	}
}
