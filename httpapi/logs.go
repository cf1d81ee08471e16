package httpapi

import (
	"bytes"
	"io"
	"net/http"
	"time"

	"github.com/rotajobs/rota"
)

const (
	logPollEvery = 200 * time.Millisecond // how often a log that is followed is looked at
	logTailMax   = 100_000                // lines
)

func (a *api) logRoutes() {
	get(a, operation{
		method: "GET", path: "/jobs/{id}/log", id: "get-log", tag: "Jobs", summary: "Read the log of a job's run",
		description: "The job's own; if it has not run, that of the last attempt of its execution. With follow it goes on until the run ends.",
		query: []param{
			{name: "follow", form: formFlag, doc: "Go on until the run ends."},
			{name: "tail", form: formInteger, doc: "Only the last so many lines.", example: 100},
		}, mediaType: "text/plain", errors: []int{404}, class: classStream,
	}, sendLog)
}

func sendLog(c *call) (reply, error) {
	id, err := c.id()
	if err != nil {
		return reply{}, err
	}
	follow, err := c.boolParam("follow")
	if err != nil {
		return reply{}, err
	}
	tail, err := c.intParam("tail", -1, 0, logTailMax)
	if err != nil {
		return reply{}, err
	}
	job, err := c.jobWithLog(id)
	if err != nil {
		return reply{}, err
	}
	if job.Run == nil && !follow {
		return reply{}, &rota.Error{
			Code: rota.NotFound, Reason: "job " + job.ID.String() + " has no log: it has not started", Hint: "GET /jobs/ID/explain says why",
		}
	}
	clearDeadlines(c.w)
	c.w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	if follow {
		return reply{written: true}, c.followLog(job, tail)
	}
	return reply{written: true}, c.copyLog(job, tail)
}

// jobWithLog is the job whose log is meant: the one named, or the last of its
// execution if that one never started.
func (c *call) jobWithLog(id rota.ID) (*rota.Job, error) {
	attempts, err := c.Store.Execution(c.ctx, id)
	if err != nil {
		return nil, err
	}
	for _, job := range attempts {
		if job.ID == id && job.Run != nil {
			return job, nil
		}
	}
	return attempts[len(attempts)-1], nil
}

// copyLog sends a log as it stands. A run that wrote nothing has an empty one.
func (c *call) copyLog(job *rota.Job, tail int) error {
	log, err := c.openLog(job)
	if err != nil {
		return err
	}
	c.w.WriteHeader(http.StatusOK)
	if log == nil {
		return nil
	}
	defer log.Close()
	if err := seekTail(log, tail); err != nil {
		abortResponse()
	}
	if _, err := copyBody(c.w, log); err != nil {
		abortResponse()
	}
	return nil
}

// openLog is nil where there is nothing yet.
func (c *call) openLog(job *rota.Job) (io.ReadSeekCloser, error) {
	if c.Logs == nil || job.Run == nil {
		return nil, nil
	}
	if job.Ended() {
		if err := c.pendingLogs.wait(c.ctx, job.ID); err != nil {
			return nil, err
		}
	}
	log, err := c.Logs.Open(job)
	if rota.CodeOf(err) == rota.NotFound {
		return nil, nil
	}
	return log, err
}

// followLog sends a log as it grows, until its run has ended and all of it is
// sent. A job that has not started is waited for. An answer that is cut before,
// since the server stops or the client is too slow, is not ended as if it were
// whole.
func (c *call) followLog(job *rota.Job, tail int) error {
	c.w.WriteHeader(http.StatusOK)
	control := http.NewResponseController(c.w)
	_ = control.Flush() // the client sees at once that it is heard
	var log io.ReadSeekCloser
	defer func() {
		if log != nil {
			log.Close()
		}
	}()
	ticker := time.NewTicker(logPollEvery)
	defer ticker.Stop()
	for {
		ended := job.Ended() // known before the log is read: what is written until then is read
		if log == nil {
			if log, _ = c.openLog(job); log != nil {
				_ = seekTail(log, tail)
			}
			if c.ctx.Err() != nil {
				abortResponse()
			}
		}
		if log != nil {
			if n, err := copyBody(c.w, log); err != nil || n > 0 && control.Flush() != nil {
				abortResponse()
			}
		}
		if ended {
			return nil
		}
		select {
		case <-ticker.C:
		case <-c.ctx.Done():
			abortResponse()
		}
		if next, err := c.jobWithLog(job.ID); err == nil {
			job = next
		}
	}
}

// seekTail goes to the beginning of the last so many lines; all of them if the
// number is negative. It reads backwards, a block at a time.
func seekTail(log io.ReadSeeker, lines int) error {
	if lines < 0 {
		return nil
	}
	end, err := log.Seek(0, io.SeekEnd)
	if err != nil || lines == 0 {
		return err
	}
	block := make([]byte, 32<<10)
	seen := 0
	for at := end; at > 0; {
		size := min(at, int64(len(block)))
		at -= size
		if _, err := log.Seek(at, io.SeekStart); err != nil {
			return err
		}
		part := block[:size]
		if _, err := io.ReadFull(log, part); err != nil {
			return err
		}
		if at+size == end {
			part = bytes.TrimSuffix(part, []byte("\n")) // it ends the last line and begins none
		}
		for i := bytes.LastIndexByte(part, '\n'); i >= 0; i = bytes.LastIndexByte(part[:i], '\n') {
			if seen++; seen == lines {
				_, err := log.Seek(at+int64(i)+1, io.SeekStart)
				return err
			}
		}
	}
	_, err = log.Seek(0, io.SeekStart)
	return err
}
