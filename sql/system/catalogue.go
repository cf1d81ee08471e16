package system

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/rotajobs/rota/sql/translate"
	"zombiezen.com/go/sqlite"
)

// Config holds the source of rows and the limits of queries. The zero value of each limit means its default.
type Config struct {
	Source
	Time       time.Duration // how long one may run; 0 means TimeDefault
	Rows       int           // how many rows its result may have; 0 means RowsDefault
	Size       int           // how many bytes its result may have; 0 means SizeDefault
	Concurrent int           // how many run at once; 0 means ConcurrentDefault
}

// The defaults.
const (
	TimeDefault       = 30 * time.Second
	RowsDefault       = 10_000
	SizeDefault       = 32 << 20
	ConcurrentDefault = 4
)

func (c Config) withDefaults() Config {
	c.Time, c.Rows, c.Size = cmp.Or(c.Time, TimeDefault), cmp.Or(c.Rows, RowsDefault), cmp.Or(c.Size, SizeDefault)
	c.Concurrent = cmp.Or(c.Concurrent, ConcurrentDefault)
	return c
}

// Catalogue answers queries about a store.
type Catalogue struct {
	config Config
	slots  chan struct{}  // one for each query that may run
	idle   chan *memoryDB // databases that no query uses

	translations chan struct{} // one for each query that is being translated
	large        oneAtATime
}

// oneAtATime runs work on long texts one after another, because it takes many times the memory of the text: a parsed query,
// or the elements of an array. Work on short texts does not wait.
type oneAtATime struct{ mu sync.Mutex }

// largeBytes is the length of a long text.
const largeBytes = 64 << 10

func (o *oneAtATime) do(bytes int, work func()) {
	if bytes > largeBytes {
		o.mu.Lock()
		defer o.mu.Unlock()
	}
	work()
}

// New makes a catalogue.
func New(config Config) *Catalogue {
	config = config.withDefaults()
	return &Catalogue{
		config: config, slots: make(chan struct{}, config.Concurrent), idle: make(chan *memoryDB, config.Concurrent),
		translations: make(chan struct{}, config.Concurrent),
	}
}

// Close closes the connections that are not in use. A running query closes its own connection.
func (c *Catalogue) Close() error {
	for {
		select {
		case d := <-c.idle:
			_ = d.conn.Close()
		default:
			return nil
		}
	}
}

// Column is one of a table, or of an answer.
type Column = translate.Column

// Tables lists the tables of the catalogue with their columns.
func Tables() map[string][]Column {
	all := map[string][]Column{}
	for _, t := range tables {
		all[t.tableName()] = t.tableColumns()
	}
	return all
}

// TableNames lists the tables, the most used first.
func TableNames() []string {
	names := make([]string, len(tables))
	for i, t := range tables {
		names[i] = t.tableName()
	}
	return names
}

// ReadStats counts the store reads of a query.
type ReadStats struct {
	Reads int   // number of reads
	Rows  int64 // number of rows read
}

// Run runs a query and passes each row, which holds int64, float64, bool, string, []byte, Named and nil. An error is an *Error, or that of the context or the store.
func (c *Catalogue) Run(ctx context.Context, q *Query, args []any, session Session, row func([]any) error) (ReadStats, error) {
	if err := c.acquire(ctx); err != nil {
		return ReadStats{}, err
	}
	defer func() { <-c.slots }()
	s, err := c.translate(q.inZone(session.zone()))
	if err != nil {
		return ReadStats{}, err
	}
	ctx, stop := context.WithTimeoutCause(ctx, c.config.Time, errTimeout)
	defer stop()
	d, err := c.db()
	if err != nil {
		return ReadStats{}, err
	}
	d.query = newQuery(ctx, &c.config.Source, s, session)
	defer c.finish(d)
	err = d.run(s, args, c.config.limited(row))
	if err != nil {
		err = c.endError(ctx, cmp.Or(d.query.err, err)) // SQLite keeps only the text of an error of a store or function
	}
	return ReadStats{d.query.reads, d.query.rows}, err
}

// finish returns the database after a query. It closes a database whose query panicked.
func (c *Catalogue) finish(d *memoryDB) {
	broken := recover()
	d.query.close()
	d.query = nil
	if broken != nil {
		_ = d.conn.Close()
		panic(broken)
	}
	d.conn.SetInterrupt(nil)
	select {
	case c.idle <- d:
	default:
		_ = d.conn.Close()
	}
}

// acquire waits for a slot, at most as long as a query may take.
func (c *Catalogue) acquire(ctx context.Context) error {
	timer := time.NewTimer(c.config.Time)
	defer timer.Stop()
	select {
	case c.slots <- struct{}{}:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-timer.C:
		return &Error{
			State: StateTooMany, Offset: -1, Message: fmt.Sprintf("too many queries: %d are running, and none ended within %s", c.config.Concurrent, c.config.Time),
			Hint: "retry later",
		}
	}
}

// limited fails a query whose result has too many rows or bytes.
func (c *Config) limited(to func([]any) error) func([]any) error {
	rows, size := 0, 0
	return func(row []any) error {
		rows++
		size += RowBytes(row)
		switch {
		case rows > c.Rows:
			return resultTooLarge(fmt.Sprintf("more than %d rows", c.Rows))
		case size > c.Size:
			return resultTooLarge(fmt.Sprintf("more than %d MiB", c.Size>>20))
		}
		return to(row)
	}
}

// RowBytes is about the memory of a row of a result.
func RowBytes(row []any) int {
	size := 48 + 16*len(row)
	for _, v := range row {
		switch v := v.(type) {
		case string:
			size += 16 + len(v)
		case []byte:
			size += 24 + len(v)
		case Named:
			size += 24 + len(v.Name)
		}
	}
	return size
}

var errTimeout = errors.New("the statement took too long")

func (c *Catalogue) db() (*memoryDB, error) {
	select {
	case d := <-c.idle:
		return d, nil
	default:
		return openMemoryDB(&c.large)
	}
}

// endError returns the error of a query that ran into its time limit or was cancelled, and any other error unchanged.
func (c *Catalogue) endError(ctx context.Context, err error) error {
	switch {
	case errors.Is(context.Cause(ctx), errTimeout):
		return &Error{
			State: StateCancelled, Offset: -1,
			Message: "the statement took longer than " + c.config.Time.String() + ", which is the limit",
			Hint:    "filter by job, state or time, or add a LIMIT",
		}
	case ctx.Err() != nil && (errors.Is(err, ctx.Err()) || sqlite.ErrCode(err) == sqlite.ResultInterrupt):
		return context.Cause(ctx)
	}
	return err
}
