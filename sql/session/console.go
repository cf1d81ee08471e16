package session

import (
	"context"
	"sync/atomic"
	"time"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/payload"
	"github.com/rotajobs/rota/sql/system"
)

// Config configures a console.
type Config struct {
	Schemas *payload.SchemaCache // nil: a cache of its own
	Clock   func() time.Time     // nil: the machine's
	Targets []string             // the names that ON TARGET may give; nil: not checked
	Exec    Programs             // who runs the programs of EXEC
	Version string               // of the program, for SHOW server_version

	// Seal seals the value of a secret for the store. Nil: ALTER JOB … SET SECRET is refused.
	Seal func(ctx context.Context, template, key string, value []byte) (string, error)

	Nodes   func(context.Context) ([]system.Node, error)   // nil: sys.nodes is empty
	Metrics func(context.Context) ([]system.Metric, error) // nil: sys.performance shows only metrics of the store

	SelectTime time.Duration // how long a query may run; 0: the default of package system
	SelectRows int           // how many rows its result may have; 0: the default
}

// Programs says who runs programs.
type Programs int

// A server with the section exec in its configuration runs programs itself, or leaves them to remote workers.
const (
	ProgramsOff Programs = iota
	ProgramsHere
	ProgramsRemote
)

func (c Config) withDefaults() Config {
	if c.Schemas == nil {
		c.Schemas = payload.NewSchemaCache()
	}
	if c.Clock == nil {
		c.Clock = time.Now
	}
	return c
}

// Console runs statements. It is safe for concurrent use.
type Console struct {
	config    Config
	catalogue *system.Catalogue
	memory    atomic.Int64 // bytes that all sessions keep
}

// New makes a console.
func New(config Config) *Console {
	config = config.withDefaults()
	return &Console{
		config: config,
		catalogue: system.New(system.Config{
			Source: system.Source{Nodes: config.Nodes, Metrics: config.Metrics},
			Time:   config.SelectTime, Rows: config.SelectRows,
		}),
	}
}

// Close closes the connections of queries. The store stays open.
func (c *Console) Close() error { return c.catalogue.Close() }

// Session begins a session of a user. The store decides what the user may see and do.
func (c *Console) Session(store rota.Store, user string) *Session {
	return &Session{console: c, store: store, memory: NewMemory(&c.memory), user: user, newMeta: func() rota.Meta { return rota.NewMeta(user) }}
}

// RequestSession begins a session for one request. The caller supplies the ids of its commands, so a request that is
// sent again with the same ids runs only once.
func (c *Console) RequestSession(store rota.Store, user string, mint func() rota.Meta) *Session {
	return &Session{console: c, store: store, memory: NewMemory(&c.memory), user: user, newMeta: mint, singleRequest: true}
}
