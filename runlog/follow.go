package runlog

import (
	"slices"
	"time"

	"github.com/rotajobs/rota"
)

// A reader that waits at the end of a log tells the other processes so. The one that runs the job then
// stores its lines almost at once, and sends a message when it has, so that the reader need not ask
// the store all the time. Messages may get lost: then the lines arrive seconds later.
const (
	followTopic = "runlog.follow"        // its text is the id of the job
	storedTopic = "runlog.stored"        // the same
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

// Changed returns a channel that receives a value when the log may have more text, until Close. The
// value may be missing if a message of another process was lost.
func (r *chunkReader) Changed() <-chan struct{} {
	if r.changed == nil {
		r.changed = make(chan struct{}, 1)
		c := r.logs
		c.mu.Lock()
		defer c.mu.Unlock()
		c.readers[r.job] = append(c.readers[r.job], r.changed)
	}
	return r.changed
}

// Close ends the reading.
func (r *chunkReader) Close() error {
	c := r.logs
	c.mu.Lock()
	defer c.mu.Unlock()
	left := slices.DeleteFunc(c.readers[r.job], func(changed chan struct{}) bool { return changed == r.changed })
	if c.readers[r.job] = left; len(left) == 0 {
		delete(c.readers, r.job)
	}
	return nil
}

// signalReaders wakes the readers of a log in this process. The caller holds the mutex.
func (c *Chunks) signalReaders(job rota.ID) {
	for _, changed := range c.readers[job] {
		select {
		case changed <- struct{}{}:
		default:
		}
	}
}

// receiveStored handles the message that another process has stored text of a log.
func (c *Chunks) receiveStored(text string) {
	job, err := rota.ParseID(text)
	if err != nil {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.signalReaders(job)
}

// notifyReaders tells the readers of a log, in all processes, that text of it is stored.
func (c *Chunks) notifyReaders(job rota.ID) {
	c.mu.Lock()
	c.signalReaders(job)
	followed := c.bus != nil && time.Now().Before(c.followed[job])
	c.mu.Unlock()
	if followed {
		_ = c.bus.Send(storedTopic, job.String()) // without it, the readers ask later
	}
}

// sendStored tells the processes that follow logs that text of them is stored.
func (c *Chunks) sendStored(b *chunkBatch) {
	if c.bus == nil {
		return
	}
	c.mu.Lock()
	var jobs []rota.ID
	for now, i := time.Now(), 0; i < len(b.parts); i++ {
		if job := b.parts[i].log.job.ID; now.Before(c.followed[job]) {
			jobs = append(jobs, job)
		}
	}
	c.mu.Unlock()
	for _, job := range jobs {
		_ = c.bus.Send(storedTopic, job.String()) // without it, the readers ask later
	}
}
