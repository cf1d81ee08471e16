package action

import (
	"context"
	"database/sql"
	"fmt"
	"sync"
	"time"

	"github.com/go-sql-driver/mysql"
)

// killer stops the statement of a run by a connection of its own, as MariaDB wants
// it. It goes on until the run has noticed: a kill that comes between two
// statements stops neither.
type killer struct {
	config *mysql.Config
	id     int64
	hangUp func() // cuts the run's own connection
	over   chan struct{}
	once   sync.Once
	gone   chan struct{}
}

const killEvery = 250 * time.Millisecond

func (r *mariaRun) newKiller(hangUp func()) *killer {
	return &killer{config: r.config, id: r.id, hangUp: hangUp, over: make(chan struct{}), gone: make(chan struct{})}
}

// run kills until end is called, first the statement, and in the end all of the
// connection.
func (k *killer) run() {
	defer close(k.gone)
	connector, err := mysql.NewConnector(k.config)
	if err != nil { // which the run itself has got past
		k.hangUp()
		return
	}
	db := sql.OpenDB(connector)
	defer db.Close()
	for deadline := time.Now().Add(cancelPatience); time.Now().Before(deadline); {
		k.kill(db, "QUERY")
		select {
		case <-k.over:
			return
		case <-time.After(killEvery):
		}
	}
	k.kill(db, "CONNECTION")
	k.hangUp()
}

func (k *killer) kill(db *sql.DB, what string) {
	ctx, done := context.WithTimeout(context.Background(), cancelPatience)
	defer done()
	_, _ = db.ExecContext(ctx, fmt.Sprintf("KILL %s %d", what, k.id)) // that it has ended is no error
}

// end says that the run has returned, and waits until nothing more is killed.
func (k *killer) end() {
	k.once.Do(func() { close(k.over) })
	<-k.gone
}
