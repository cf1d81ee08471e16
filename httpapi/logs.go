package httpapi

import (
	"bytes"
	"io"
	"net/http"
	"time"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/api/problem"
)

const (
	logPollEvery = 200 * time.Millisecond // interval between reads of a followed log
	logPollMax   = 2 * time.Second        // the same for a quiet log whose reader signals changes, and before the run starts
	logChangeGap = 100 * time.Millisecond // between a signal and the read, which has all lines of this time
	logTailMax   = 100_000                // lines
)

func (a *server) logRoutes() {
	get(a, operation{
		method: "GET", path: "/jobs/{id}/log", id: "get-log", scope: readScope, tag: "Jobs", summary: "Read the log of a job",
		description: "The log of the job; if it has not run, the log of the last attempt of its execution. The log of a run that wrote nothing is empty; a log that was removed is answered with 404. While the run continues at another server on a PostgreSQL store, the last second of its log may be missing. With follow the response continues until the run ends.",
		query: []param{
			{name: "follow", form: formFlag, doc: "Continue until the run ends."},
			{name: "tail", form: formInteger, doc: "Number of lines from the end of the log.", example: 100, high: logTailMax},
		}, mediaType: "text/plain", errors: []int{404}, class: classStream,
	}, sendLog)
}

func sendLog(c *call) (reply, error) {
	follow, tail := c.flag("follow"), c.number("tail", -1)
	job, err := c.jobWithLog(c.id)
	if err != nil {
		return reply{}, err
	}
	if job.Run == nil && !follow {
		return reply{}, problem.New(rota.NotFound, "", "GET /jobs/ID/explain shows why", "job %s has no log: it has not started", job.ID)
	}
	log, err := c.openLog(job)
	if err != nil {
		return reply{}, err
	}
	clearDeadlines(c.w)
	c.w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	c.w.WriteHeader(http.StatusOK)
	if follow {
		c.followLog(job, log, tail)
	} else {
		c.copyLog(log, tail)
	}
	return reply{written: true}, nil
}

// jobWithLog returns the job whose log is requested: the named job, or the last attempt of its
// execution if the named job never started.
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

// copyLog sends the current log.
func (c *call) copyLog(log io.ReadSeekCloser, tail int) {
	if log == nil {
		return
	}
	defer log.Close()
	if err := seekTail(log, tail); err != nil {
		abortResponse()
	}
	if _, err := copyBody(c.w, log); err != nil {
		abortResponse()
	}
}

// openLog returns nil if there is no log yet, or the server stores none.
func (c *call) openLog(job *rota.Job) (io.ReadSeekCloser, error) {
	if c.Logs == nil || job.Run == nil {
		return nil, nil
	}
	if job.Ended() {
		if err := c.pendingLogs.wait(c.ctx, job.ID); err != nil {
			return nil, err
		}
	}
	return c.Logs.ReadLog(c.ctx, job)
}

// followLog sends a log as it grows, until its run has ended and all of it is sent. It waits for a job
// that has not started. If the response is cut short because the server stops or the client is too
// slow, the connection is aborted, so that the client does not take the log as complete.
func (c *call) followLog(job *rota.Job, log io.ReadSeekCloser, tail int) {
	control := http.NewResponseController(c.w)
	_ = control.Flush() // send the headers immediately
	defer func() {
		if log != nil {
			log.Close()
		}
	}()
	open := func() {
		var err error
		if log, err = c.openLog(job); err != nil && rota.CodeOf(err) != rota.NotFound {
			abortResponse()
		}
		if log != nil {
			_ = seekTail(log, tail)
		}
	}
	if log != nil {
		_ = seekTail(log, tail)
	}
	wait, sent, text, checked := logPollEvery, int64(0), int64(0), time.Now()
	for {
		ended := job.Ended()                               // read the state before the log, so that no final output is missed
		if ended && log != nil && sent == 0 && tail != 0 { // the log of a remote worker is stored after the end of its run
			_ = log.Close()
			log = nil
		}
		if log == nil {
			open()
		} else if ended && c.pendingLogs.wait(c.ctx, job.ID) != nil { // a remote worker sends the rest with the end
			abortResponse()
		}
		if text = 0; log != nil {
			var err error
			text, err = copyBody(c.w, log)
			if err != nil || text > 0 && control.Flush() != nil {
				abortResponse()
			}
			sent += text
		}
		if ended {
			return
		}
		changed, signals := changesOf(log)
		if wait = min(2*wait, logPollMax); text > 0 || log != nil && !signals {
			wait = logPollEvery
		}
		select {
		case <-changed:
			if !c.pause(logChangeGap) {
				abortResponse()
			}
			if time.Since(checked) < streamCheck {
				continue // a run that writes has not ended
			}
		case <-time.After(wait):
		case <-c.ctx.Done():
			abortResponse()
		}
		checked = time.Now()
		switch next, err := c.jobWithLog(job.ID); {
		case err == nil:
			job = next
		case mayNotSee(err):
			abortResponse()
		}
	}
}

// mayNotSee reports whether a read says that its caller may not see a job, or not any more.
func mayNotSee(err error) bool {
	code := rota.CodeOf(err)
	return code == rota.Denied || code == rota.NotFound
}

// pause waits, and reports whether the request continues.
func (c *call) pause(d time.Duration) bool {
	select {
	case <-time.After(d):
		return true
	case <-c.ctx.Done():
		return false
	}
}

// changesOf returns the signals of a log that another process may write. Other logs have none: to read
// them again costs little.
func changesOf(log io.ReadSeekCloser) (changed <-chan struct{}, signals bool) {
	if reader, ok := log.(interface{ Changed() <-chan struct{} }); ok {
		return reader.Changed(), true
	}
	return nil, false
}

// seekTail seeks to the start of the last lines, or to the start if lines is negative. It reads
// backwards in blocks.
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
		if err := readSpan(log, at, part); err != nil {
			return err
		}
		if at+size == end {
			part = bytes.TrimSuffix(part, []byte("\n")) // it ends the last line and starts none
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

// readSpan reads the bytes from a position on. A log in the store may have gaps: there the reader returns
// a notice and moves behind the gap, whose bytes are 0 here.
func readSpan(log io.ReadSeeker, at int64, part []byte) error {
	clear(part)
	for done := int64(0); done < int64(len(part)); {
		n, err := log.Read(part[done:])
		if n == 0 && err != nil {
			return err
		}
		now, err := log.Seek(0, io.SeekCurrent)
		if err != nil {
			return err
		}
		if moved := now - at - done; moved != int64(n) {
			clear(part[done : done+int64(n)])
		}
		done = now - at
	}
	return nil
}
