package logstore

import (
	"sync"

	"github.com/rotajobs/rota"
)

// claims remembers which workers found jobs with their last claims. The next claim of such a worker is appended
// without a try, which would only cost time. The other worker of the process, which delivers webhooks, is
// mostly idle, and its claims would fill the log.
type claims struct {
	mu    sync.Mutex
	found map[string]bool // by the name of the worker; only those that found jobs
}

// expectJobs reports whether commands have a claim that is likely to find jobs.
func (c *claims) expectJobs(commands []rota.Command) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, one := range commands {
		if claim, is := one.(*rota.Claim); is && c.found[claim.Worker] {
			return true
		}
	}
	return false
}

// note remembers what the claims among commands found.
func (c *claims) note(commands []rota.Command, results []rota.Result) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for i, one := range commands {
		claim, is := one.(*rota.Claim)
		if !is {
			continue
		}
		claimed, is := results[i].Reply.(*rota.Claimed)
		if !is || len(claimed.Jobs) == 0 {
			delete(c.found, claim.Worker)
			continue
		}
		if c.found == nil {
			c.found = map[string]bool{}
		}
		c.found[claim.Worker] = true
	}
}
