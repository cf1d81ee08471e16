package sys

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/rotajobs/rota/console/dialect"
	"zombiezen.com/go/sqlite"
)

// Config says how much a query may take. Its zero value works.
type Config struct {
	Source
	Time time.Duration // how long one may run; 0 means TimeDefault
	Rows int           // how many rows it may answer; 0 means RowsDefault
	Size int           // how many bytes, all together; 0 means SizeDefault
	Most int           // how many run at once; 0 means MostDefault
}

// The defaults.
const (
	TimeDefault = 30 * time.Second
	RowsDefault = 10_000
	SizeDefault = 32 << 20
	MostDefault = 4
)

func (c Config) withDefaults() Config {
	if c.Time == 0 {
		c.Time = TimeDefault
	}
	if c.Rows == 0 {
		c.Rows = RowsDefault
	}
	if c.Size == 0 {
		c.Size = SizeDefault
	}
	if c.Most == 0 {
		c.Most = MostDefault
	}
	return c
}

// Catalogue answers queries about a store.
type Catalogue struct {
	config Config
	slots  chan struct{}  // one for each query that may run
	idle   chan *memoryDB // databases that no query uses
}

// New makes a catalogue.
func New(config Config) *Catalogue {
	config = config.withDefaults()
	return &Catalogue{config: config, slots: make(chan struct{}, config.Most), idle: make(chan *memoryDB, config.Most)}
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
type Column = dialect.Column

// Tables lists the tables of the catalogue with their columns.
func Tables() map[string][]Column {
	all := map[string][]Column{}
	for _, t := range tables {
		all[t.title()] = t.titles()
	}
	return all
}

// TableNames lists the tables in the order in which people ask for them.
func TableNames() []string {
	names := make([]string, len(tables))
	for i, t := range tables {
		names[i] = t.title()
	}
	return names
}

// Tally is what a query took.
type Tally struct {
	Reads int   // how often the store was asked
	Rows  int64 // how many rows it gave
}

// Answer is where the rows of a query go: first the columns, then row by row.
// A row holds int64, float64, bool, string, []byte, Named and nil.
type Answer struct {
	Columns func([]Column) error
	Row     func([]any) error
}

// Select prepares a query and runs it, for nobody in particular.
func (c *Catalogue) Select(ctx context.Context, text string, args []any, to Answer) (Tally, error) {
	q, err := c.Prepare(text, nil, Asker{})
	if err != nil {
		return Tally{}, err
	}
	told := false
	tally, err := c.Run(ctx, q, args, Asker{}, func(row []any) error {
		if !told {
			told = true
			if err := to.Columns(q.Columns); err != nil {
				return err
			}
		}
		return to.Row(row)
	})
	if err == nil && !told {
		err = to.Columns(q.Columns)
	}
	return tally, err
}

// Run runs a query. An error is an *Error, or that of the context or the store.
func (c *Catalogue) Run(ctx context.Context, q *Query, args []any, who Asker, row func([]any) error) (Tally, error) {
	q, err := q.shownIn(who.zone())
	if err != nil {
		return Tally{}, err
	}
	if err := c.acquire(ctx); err != nil {
		return Tally{}, err
	}
	defer func() { <-c.slots }()
	ctx, stop := context.WithTimeoutCause(ctx, c.config.Time, errSlow)
	defer stop()
	d, err := c.db()
	if err != nil {
		return Tally{}, err
	}
	d.query = newQuery(ctx, &c.config.Source, q, who)
	defer c.leave(d)()
	err = d.run(q, args, c.config.bounded(row))
	if err != nil {
		err = c.ended(ctx, d.blame(err))
	}
	return Tally{d.query.reads, d.query.rows}, err
}

// leave returns the database after a query. A database whose query failed is closed.
func (c *Catalogue) leave(d *memoryDB) func() {
	return func() {
		broken := recover()
		d.query.close()
		if broken != nil {
			_ = d.conn.Close()
			panic(broken)
		}
		c.giveBack(d)
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
			State: StateTooMany, Offset: -1, Message: fmt.Sprintf("too many queries: %d are running, and none ended within %s", c.config.Most, c.config.Time),
			Hint: "retry later",
		}
	}
}

// bounded ends an answer that becomes too long.
func (c *Config) bounded(to func([]any) error) func([]any) error {
	rows, size := 0, 0
	return func(row []any) error {
		rows++
		for _, v := range row {
			size += sizeOf(v)
		}
		switch {
		case rows > c.Rows:
			return tooMuch(fmt.Sprintf("more than %d rows", c.Rows))
		case size > c.Size:
			return tooMuch(fmt.Sprintf("more than %d MiB", c.Size>>20))
		}
		return to(row)
	}
}

// sizeOf is about what a value takes.
func sizeOf(v any) int {
	switch v := v.(type) {
	case string:
		return len(v) + 16
	case []byte:
		return len(v) + 24
	}
	return 16
}

var errSlow = errors.New("the statement took too long")

func (c *Catalogue) db() (*memoryDB, error) {
	select {
	case d := <-c.idle:
		return d, nil
	default:
		return openMemoryDB()
	}
}

func (c *Catalogue) giveBack(d *memoryDB) {
	d.query = nil
	d.conn.SetInterrupt(nil)
	select {
	case c.idle <- d:
	default:
		_ = d.conn.Close()
	}
}

// ended says that a query ended because its time was over, or because its caller
// ended it.
func (c *Catalogue) ended(ctx context.Context, err error) error {
	switch {
	case errors.Is(context.Cause(ctx), errSlow):
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

// blame is what went wrong below SQLite, if anything did.
func (d *memoryDB) blame(err error) error {
	if d.query.err != nil {
		return d.query.err
	}
	return err
}
