package runlog

import (
	"errors"
	"time"

	"github.com/rotajobs/rota"
)

// chunkLog is the log of one run. The mutex of its Chunks guards it.
type chunkLog struct {
	logs *Chunks
	job  *rota.Job

	text     text
	buffer   []byte    // text that is not sent yet
	offset   int64     // of the first byte of buffer
	unsent   int       // bytes of buffer, and of text that is sent and not stored yet
	due      time.Time // when buffer is to be sent
	recorded bool      // the end of the run is recorded already
	replaces bool      // the first chunk replaces the stored log
	closed   int64     // number of its Close; 0: it is open
}

// Path is where the log can be read.
func (l *chunkLog) Path() string { return l.logs.Path(l.job) }

// Write accepts all of p, even if it cannot be stored.
func (l *chunkLog) Write(p []byte) (int, error) {
	c := l.logs
	c.mu.Lock()
	defer c.mu.Unlock()
	for rest := p; len(rest) > 0 && l.closed == 0 && !l.text.full; {
		part := rest[:min(len(rest), chunkMax)]
		rest = rest[len(part):]
		if c.awaitSpace(len(part)); l.closed == 0 { // it may have been closed meanwhile
			_ = l.text.append(part, l.buffered) // text that does not fit is counted
		}
	}
	return len(p), nil
}

var errNoSpace = errors.New("too much text is waiting to be stored")

// buffered keeps a part of the text until it is stored, all or nothing.
func (l *chunkLog) buffered(p []byte) (int, error) {
	if l.logs.unsent+len(p) > unsentMax {
		return 0, errNoSpace
	}
	return l.buffers(p)
}

// buffers keeps a part of the text whatever memory it takes.
func (l *chunkLog) buffers(p []byte) (int, error) {
	if len(p) == 0 {
		return 0, nil
	}
	c := l.logs
	if l.unsent == 0 {
		c.add(l)
	}
	if len(l.buffer) == 0 {
		l.due = time.Now().Add(c.delay(l.job.ID))
	}
	l.buffer = append(l.buffer, p...)
	l.unsent += len(p)
	c.unsent += len(p)
	if len(l.buffer) >= chunkMax {
		l.due = time.Now()
	}
	c.signalReaders(l.job.ID)
	c.flushAt(l.due)
	return len(p), nil
}

// Close ends the log. Later writes, by an abandoned handler, are dropped. FlushLogs stores the text.
func (l *chunkLog) Close() error {
	c := l.logs
	c.mu.Lock()
	defer c.mu.Unlock()
	if l.closed > 0 {
		return nil
	}
	_ = l.text.stateLost(l.buffers) // buffers accepts everything
	c.closes++
	l.closed = c.closes
	if l.unsent > 0 {
		c.closedUnsent.Add(1)
	}
	return nil
}

// add registers a log that has text to store. Text of an earlier log of the job, which a worker has
// sent before, need not be stored.
func (c *Chunks) add(l *chunkLog) {
	if old := c.logs[l.job.ID]; old != nil {
		dropped := len(old.buffer)
		old.buffer, old.unsent, c.unsent = nil, old.unsent-dropped, c.unsent-dropped
		c.forgetStored(old)
	}
	c.logs[l.job.ID] = l
}

// awaitSpace waits until there is memory for a part of a log. It does not wait while the store fails.
// It gives the mutex back meanwhile.
func (c *Chunks) awaitSpace(bytes int) {
	if c.unsent+bytes <= unsentMax {
		return
	}
	limit := time.NewTimer(spaceWait)
	defer limit.Stop()
	for c.unsent+bytes > unsentMax && !c.failing {
		stored := c.stored
		c.flushAt(time.Now())
		c.mu.Unlock()
		late := false
		select {
		case <-stored:
		case <-limit.C:
			late = true
		}
		c.mu.Lock()
		if late {
			return
		}
	}
}

// chunkBatch is text of several logs that is sent together.
type chunkBatch struct {
	parts   []part
	bytes   int
	durable bool            // no later commit makes its text durable
	chunks  []rota.LogChunk // nil: not packed yet
}

// part is a part of one log.
type part struct {
	log      *chunkLog
	offset   int64
	text     []byte
	replaces bool
}

// add moves text from a log to the batch: all of it, or what still fits.
func (b *chunkBatch) add(log *chunkLog) {
	taken := log.buffer
	if len(taken) > sendMax {
		taken = taken[:sendMax:sendMax]
	}
	b.parts = append(b.parts, part{log: log, offset: log.offset, text: taken, replaces: log.replaces})
	b.bytes += len(taken)
	b.durable = b.durable || log.closed == 0 || log.recorded
	log.buffer = log.buffer[len(taken):]
	if len(log.buffer) == 0 {
		log.buffer = nil // the batch keeps the memory
	}
	log.offset += int64(len(taken))
	log.replaces = false
}

// pack returns the chunks of the batch, the same ones at each call.
func (b *chunkBatch) pack() []rota.LogChunk {
	if b.chunks != nil {
		return b.chunks
	}
	for _, part := range b.parts {
		for at := 0; at < len(part.text); at += chunkMax {
			text := part.text[at:min(at+chunkMax, len(part.text))]
			chunk := newChunk(part.log.job, part.offset+int64(at), text)
			chunk.Replaces = part.replaces && at == 0
			b.chunks = append(b.chunks, chunk)
		}
	}
	return b.chunks
}

func startOf(job *rota.Job) time.Time {
	if job.Run != nil {
		return job.Run.StartedAt
	}
	return job.StartedAt
}
