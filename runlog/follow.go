package runlog

import (
	"time"

	"github.com/rotajobs/rota"
)

// A reader that waits at the end of a log tells the other processes so. The one that runs the job then
// stores its lines almost at once. Messages may get lost: then the lines arrive a second later.
const (
	followTopic = "runlog.follow"        // its text is the id of the job
	followDelay = 100 * time.Millisecond // of lines while a reader follows the log
	followFor   = 5 * time.Second        // how long one message is valid
	followEvery = 2 * time.Second        // between two messages of a reader
	followMax   = 1_000                  // logs that are followed at once; readers of more wait a second
)

// follow tells the process that runs the job that its log is followed.
func (r *chunkReader) follow() {
	c := r.logs
	if c.bus == nil || !r.grows || r.local || time.Since(r.asked) < followEvery {
		return
	}
	r.asked = time.Now()
	_ = c.bus.Send(followTopic, r.job.String()) // without it, the lines arrive later
}

// receiveFollow notes that a reader of another process follows a log. The job may run anywhere.
func (c *Chunks) receiveFollow(text string) {
	job, err := rota.ParseID(text)
	if err != nil {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	now := time.Now()
	if len(c.followed) >= followMax {
		for id, until := range c.followed {
			if until.Before(now) {
				delete(c.followed, id)
			}
		}
	}
	if len(c.followed) < followMax {
		c.followed[job] = now.Add(followFor)
	}
	if log := c.logs[job]; log != nil && len(log.buffer) > 0 && log.due.After(now) {
		log.due = now
		c.flushAt(now)
	}
}

// delay is how long lines of a log may wait to be stored.
func (c *Chunks) delay(job rota.ID) time.Duration {
	if time.Now().Before(c.followed[job]) {
		return followDelay
	}
	return flushEvery
}
