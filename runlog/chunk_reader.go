package runlog

import (
	"context"
	"io"
	"time"

	"github.com/rotajobs/rota"
)

const (
	readBytes = 256 << 10 // bytes of text that are read at once

	// A worker's log is stored after the end of its run. A reader that arrives in between waits for it.
	lateWithin = 5 * time.Second       // of the end of the run
	lateWait   = 2 * time.Second       // at most
	latePoll   = 20 * time.Millisecond // between two reads
)

// ReadLog returns the log of a job at its beginning. A run that has not ended may still append to it:
// the text of this process is complete, that of others at most about a second old. A run that
// wrote nothing has an empty log. NotFound: the text is not known any more.
func (c *Chunks) ReadLog(ctx context.Context, job *rota.Job) (io.ReadSeekCloser, error) {
	if job.Run == nil {
		return nil, noLog(job, "it has not started")
	}
	r := &chunkReader{logs: c, ctx: ctx, job: job.ID, grows: job.Run.Open()}
	if err := r.fetch(); err != nil || len(r.text) > 0 {
		return r, err
	}
	why := c.config.missing(job, c.Path(job))
	for waited := time.Duration(0); why != nil && len(r.text) == 0; waited += latePoll {
		if waited >= lateWait || job.Run.LogPath != c.Path(job) || c.config.Clock().Sub(job.Run.FinishedAt) > lateWithin {
			return nil, why
		}
		select {
		case <-time.After(latePoll):
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
		if err := r.fetch(); err != nil {
			return nil, err
		}
	}
	return r, nil
}

// chunkReader reads a log. It keeps the text that it read last.
type chunkReader struct {
	logs *Chunks
	ctx  context.Context // of the request that reads
	job  rota.ID

	grows bool      // the run had not ended at first
	local bool      // the run is one of this process
	atEnd bool      // the last Read returned io.EOF
	asked time.Time // when other processes were last told that this log is followed

	changed chan struct{} // receives a value when there may be more text; nil: not asked for

	at      int64  // position of the next byte of the log to return
	from    int64  // position of the first byte of text
	text    []byte // without gaps
	notice  []byte // to be returned first: a line of its own, which has no position in the log
	midLine bool   // the last byte returned is not a line break
}

// Read returns io.EOF at the end of what is stored now. A later call returns what was added.
func (r *chunkReader) Read(p []byte) (int, error) {
	if len(p) == 0 {
		return 0, nil
	}
	if !r.has(r.at) {
		if r.atEnd {
			r.follow()
		}
		if err := r.fetch(); err != nil {
			return 0, err
		}
		if r.atEnd = !r.has(r.at); r.atEnd {
			return 0, io.EOF
		}
	}
	n := 0
	if len(r.notice) > 0 {
		n = copy(p, r.notice)
		r.notice = r.notice[n:]
	} else {
		n = copy(p, r.text[r.at-r.from:])
		r.at += int64(n)
	}
	r.midLine = p[n-1] != '\n'
	return n, nil
}

func (r *chunkReader) has(at int64) bool { return at >= r.from && at < r.from+int64(len(r.text)) }

// fetch reads text from the present position on, up to the next gap. At a gap it moves behind it and
// leaves a notice. A log has a gap if the database server lost a chunk in a crash, and while old logs are
// removed.
func (r *chunkReader) fetch() error {
	r.local = r.logs.flushJob(r.ctx, r.job) || r.local
	chunks, err := r.logs.store.ReadLog(r.ctx, r.job, r.at, readBytes)
	if err != nil {
		return err
	}
	r.text = r.text[:0]
	if len(chunks) == 0 {
		return nil
	}
	r.from = chunks[0].Offset
	for i := range chunks {
		if chunks[i].Offset != r.from+int64(len(r.text)) {
			break // the next call continues there
		}
		if r.text, err = appendText(r.text, &chunks[i]); err != nil {
			return err
		}
	}
	if r.from > r.at {
		r.notice = notice(r.midLine, "%d bytes are missing here: they were removed, or the database server lost them", r.from-r.at)
		r.at = r.from
	}
	return nil
}

// Seek moves the position. The end is that of what is stored now.
func (r *chunkReader) Seek(offset int64, whence int) (int64, error) {
	switch whence {
	case io.SeekCurrent:
		offset += r.at
	case io.SeekEnd:
		r.logs.flushJob(r.ctx, r.job)
		last, err := r.logs.store.ReadLog(r.ctx, r.job, -1, 1)
		if err != nil {
			return r.at, err
		}
		if len(last) > 0 {
			offset += last[0].Offset + int64(last[0].Length)
		}
	}
	if offset = max(0, offset); offset != r.at || whence != io.SeekCurrent {
		r.at, r.notice, r.midLine = offset, nil, false
	}
	return r.at, nil
}

// flushJob stores the text of a run of this process that is not stored yet, and reports whether there
// was any.
func (c *Chunks) flushJob(ctx context.Context, job rota.ID) bool {
	c.mu.Lock()
	log := c.logs[job]
	c.mu.Unlock()
	if log == nil {
		return false
	}
	// A reader that disconnects must not cancel an append, which has text of all runs.
	_ = c.flushSoon(context.WithoutCancel(ctx), log) // the reader gets what is stored
	return true
}
