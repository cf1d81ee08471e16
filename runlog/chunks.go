package runlog

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/engine"
)

// Bounds of the text that is not stored yet, and of when it is stored.
const (
	flushEvery = time.Second            // a line is stored at most this much later
	flushNear  = flushEvery / 2         // a flush includes what is due within this time
	chunkMax   = 64 << 10               // bytes of text in a chunk; so much of a log is stored at once
	sendMax    = 1 << 20                // bytes of text that are sent together
	unsentMax  = 16 << 20               // bytes of text in memory
	spaceWait  = 2 * time.Second        // each 64 KiB of a Write wait at most this long for memory
	flushMax   = 2 * time.Second        // FlushLogs waits at most this long
	flushWait  = 10 * time.Second       // time limit of one flush by the timer, which may be several appends
	retryFirst = 500 * time.Millisecond // before the second attempt to store text; each later pause is twice as long
	retryMax   = 4 * time.Second        // longest pause between two attempts
)

// Chunks stores logs in a store that several processes share. It collects lines and stores those of
// all runs together: a second after the first of them, when one log has enough for a chunk, when a
// reader in this process reaches them, and before the run is recorded as ended.
//
// If the store does not accept them, they stay in memory and are sent again. If that is too much, or
// takes too long for a writer, lines are lost, and a line in their place states how much.
type Chunks struct {
	store  rota.LogStore
	config Config

	appends      appendLocks
	sending      chan struct{} // holds a value while chunks are sent
	closedUnsent atomic.Int64  // closed logs with text that is not stored

	mu      sync.Mutex
	logs    map[rota.ID]*chunkLog // logs with text that is not stored, by job
	closes  int64                 // logs closed so far
	failed  *chunkBatch           // to be sent again as it is; nil: none
	retries int                   // attempts to send it that failed
	retryAt time.Time             // when it is sent again
	behind  bool                  // an append failed or was too slow, and none has succeeded since
	failing bool                  // the last append failed, and that was logged
	unsent  int                   // bytes of text that is not stored
	stored  chan struct{}         // closed when text was stored; writers wait for it
	timer   *time.Timer           // fires at the next flush
	due     time.Time             // when it fires; zero: it does not run

	bus      rota.Bus                    // nil: other processes do not learn of readers
	readers  map[rota.ID][]chan struct{} // signals of readers that wait at the end of a log, by job
	followed map[rota.ID]time.Time       // until when a reader of another process follows a log, by job
}

var (
	_ engine.Logs       = (*Chunks)(nil)
	_ engine.LogFlusher = (*Chunks)(nil)
	_ engine.LogPruner  = (*Chunks)(nil)
)

// Store stores logs in a store that several processes share. If the store is a rota.Bus, a process
// stores the lines of a log without delay while another process follows it.
func Store(store rota.LogStore, config Config) *Chunks {
	c := &Chunks{
		store: store, config: config.withDefaults(), sending: make(chan struct{}, 1),
		logs: map[rota.ID]*chunkLog{}, stored: make(chan struct{}), followed: map[rota.ID]time.Time{},
		readers: map[rota.ID][]chan struct{}{},
	}
	if c.bus, _ = store.(rota.Bus); c.bus != nil {
		c.bus.Receive(followTopic, c.receiveFollow) // until the store is closed
		c.bus.Receive(storedTopic, c.receiveStored)
	}
	return c
}

// Path is where the log of a job can be read: a path of the HTTP API of every server on the store.
func (c *Chunks) Path(job *rota.Job) string { return "/api/v1/jobs/" + job.ID.String() + "/log" }

// Open returns the log of a run.
func (c *Chunks) Open(job *rota.Job) (engine.LogFile, error) { return c.open(job), nil }

func (c *Chunks) open(job *rota.Job) *chunkLog {
	return &chunkLog{logs: c, job: job, text: text{max: c.config.Max}}
}

// Keep stores the logs of runs of remote workers and replaces what the workers sent before.
func (c *Chunks) Keep(ctx context.Context, texts map[*rota.Job]string) error {
	for job, text := range texts {
		log := c.open(job)
		log.recorded, log.replaces = true, true
		_, _ = log.Write([]byte(text))
		_ = log.Close()
	}
	c.FlushLogs(ctx)
	return nil
}

// FlushLogs stores the logs that are closed. If the store does not accept them in time, they are
// stored later, and further calls return at once until it accepts text again: a log must not delay
// the end of every run.
func (c *Chunks) FlushLogs(ctx context.Context) {
	if c.closedUnsent.Load() > 0 {
		_ = c.flushSoon(ctx, nil)
	}
}

// flushSoon sends the closed logs and one log in any case, if it is not nil, unless the store is behind.
func (c *Chunks) flushSoon(ctx context.Context, also *chunkLog) error {
	c.mu.Lock()
	behind := c.behind
	c.mu.Unlock()
	if behind {
		return errBehind
	}
	ctx, done := context.WithTimeout(ctx, flushMax)
	defer done()
	err := c.flush(ctx, 0, also)
	if errors.Is(err, context.DeadlineExceeded) {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.behind = c.unsent > 0 // an append that succeeded meanwhile has stored everything else
	}
	return err
}

var errBehind = errors.New("the store does not accept text of logs at present")

// selection is the text that a flush sends: what was there when it began. It must not grow, or a flush
// would not end while runs write.
type selection struct {
	closes int64     // logs closed up to this number
	due    time.Time // logs due up to this time
	also   *chunkLog // a log that is sent in any case; nil: none
	until  int64     // up to this offset
}

// selects reports whether the next text of a log is to be sent.
func (s *selection) selects(log *chunkLog) bool {
	switch {
	case len(log.buffer) == 0:
		return false
	case log.closed > 0 && log.closed <= s.closes, log == s.also && log.offset < s.until:
		return true
	}
	return !log.due.After(s.due)
}

// flush sends the closed logs, those that are due within a time, and one log in any case, if it is not
// nil. Another flush in progress may have taken the text, so it waits for that one first.
func (c *Chunks) flush(ctx context.Context, within time.Duration, also *chunkLog) error {
	c.mu.Lock()
	selected := selection{closes: c.closes, due: time.Now().Add(within), also: also}
	if also != nil {
		selected.until = also.offset + int64(len(also.buffer))
	}
	c.mu.Unlock()
	select {
	case c.sending <- struct{}{}:
	case <-ctx.Done():
		return ctx.Err()
	}
	defer func() { <-c.sending }()
	for {
		b := c.take(&selected)
		if b == nil {
			return nil
		}
		err := c.store.AppendLog(ctx, b.pack(), b.durable)
		c.noteAnswer(b, err)
		if err != nil {
			return err
		}
		c.sendStored(b)
	}
}

// take takes the text to send next out of the logs; nil: there is none. Text that could not be sent
// before goes first, unchanged: the store may have it.
func (c *Chunks) take(selected *selection) *chunkBatch {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.failed != nil {
		return c.failed
	}
	b := &chunkBatch{}
	for _, log := range c.logs {
		if b.bytes >= sendMax {
			break
		}
		if selected.selects(log) {
			b.add(log)
		}
	}
	if b.bytes == 0 {
		return nil
	}
	return b
}

// noteAnswer notes whether the text of a batch is stored.
func (c *Chunks) noteAnswer(b *chunkBatch, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if err != nil {
		if !c.failing && !errors.Is(err, context.Canceled) {
			c.failing = true
			c.config.Logger.Error("run logs cannot be stored; the runs continue, and their log lines wait in memory", "error", err)
		}
		c.failed, c.behind, c.retryAt = b, true, time.Now().Add(min(retryFirst<<min(c.retries, 10), retryMax))
		c.retries++
		c.flushAt(c.retryAt)
		return
	}
	c.failed, c.behind, c.retries = nil, false, 0
	if c.failing {
		c.failing = false
		c.config.Logger.Info("run logs can be stored again")
	}
	c.unsent -= b.bytes
	for _, part := range b.parts {
		part.log.unsent -= len(part.text)
		c.forgetStored(part.log)
	}
	close(c.stored)
	c.stored = make(chan struct{})
}

// forgetStored removes a log whose text is stored.
func (c *Chunks) forgetStored(log *chunkLog) {
	if log.unsent > 0 {
		return
	}
	if c.logs[log.job.ID] == log {
		delete(c.logs, log.job.ID)
	}
	if log.closed > 0 {
		c.closedUnsent.Add(-1)
	}
}

// flushAt has the timer fire at a time, if it would not fire earlier. After a failure it fires no earlier
// than for the next attempt.
func (c *Chunks) flushAt(at time.Time) {
	if c.failed != nil && at.Before(c.retryAt) {
		at = c.retryAt
	}
	if !c.due.IsZero() && !at.Before(c.due) {
		return
	}
	c.due = at
	if c.timer == nil {
		c.timer = time.AfterFunc(time.Until(at), c.flushDue)
		return
	}
	c.timer.Reset(time.Until(at))
}

// flushDue sends what is due, and sets the timer for what is left.
func (c *Chunks) flushDue() {
	c.mu.Lock()
	c.due = time.Time{}
	c.mu.Unlock()
	ctx, done := context.WithTimeout(context.Background(), flushWait)
	defer done()
	_ = c.flush(ctx, flushNear, nil) // text that is not stored is sent again
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, log := range c.logs {
		if len(log.buffer) > 0 {
			c.flushAt(log.due)
		}
	}
}

// prunePage is how many chunks one transaction removes.
const (
	prunePage  = 500
	prunePause = 20 * time.Millisecond
)

// PruneLogs removes the logs of runs that started longer ago than logs are kept. The leader does it for
// all processes.
func (c *Chunks) PruneLogs(ctx context.Context, leads bool) {
	if !leads {
		return
	}
	before, all := c.config.Clock().Add(-c.config.Keep), 0
	for {
		removed, err := c.store.PruneLogs(ctx, before, prunePage)
		all += removed
		if err != nil && ctx.Err() == nil {
			c.config.Logger.Error("old run logs cannot be removed; trying again later", "error", err)
		}
		if err != nil || removed < prunePage {
			break
		}
		select {
		case <-time.After(prunePause):
		case <-ctx.Done():
			return
		}
	}
	if all > 0 {
		c.config.Logger.Info("removed old run logs", "chunks", all)
	}
}
