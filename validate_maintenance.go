package rota

import "fmt"

// Validate checks the limit.
func (c *Expire) Validate() error { return asError(checkInt("limit", c.Limit, 0, SweepMax)) }

// Validate checks the limit.
func (c *Sweep) Validate() error { return asError(checkInt("limit", c.Limit, 0, SweepMax)) }

// Validate checks the list of executions.
func (c *Prune) Validate() error {
	if err := checkCount("executions", len(c.Executions), 1, PruneMax); err != nil {
		return err
	}
	seen := make(map[ID]bool, len(c.Executions))
	for i, id := range c.Executions {
		field := fmt.Sprintf("executions[%d]", i)
		if err := checkID(field, id); err != nil {
			return err
		}
		if seen[id] {
			return Invalidf(field, "is given twice")
		}
		seen[id] = true
	}
	return asError(checkTime("before", c.Before))
}

// Validate requires a job.
func (c *Redrive) Validate() error { return asError(checkID("job_id", c.JobID)) }
