package action

import (
	"context"
	"database/sql"
	"fmt"
	"sync"
	"time"

	"github.com/go-sql-driver/mysql"
)

// canceller stops the statement of a run through another connection, as MariaDB
// requires. It repeats KILL until the run has returned, because a KILL between two
// statements stops neither.
type canceller struct {
	config    *mysql.Config
	id        int64
	closeConn func() // closes the run's own connection
	runDone   chan struct{}
	once      sync.Once
	ended     chan struct{}
}

const killEvery = 250 * time.Millisecond

func (r *mariaRun) newCanceller(hangUp func()) *canceller {
	return &canceller{config: r.config, id: r.id, closeConn: hangUp, runDone: make(chan struct{}), ended: make(chan struct{})}
}

// run kills the statement until stop is called, and after a timeout the connection.
func (k *canceller) run() {
	defer close(k.ended)
	connector, err := mysql.NewConnector(k.config)
	if err != nil { // the run itself has connected with this configuration
		k.closeConn()
		return
	}
	db := sql.OpenDB(connector)
	defer db.Close()
	for deadline := time.Now().Add(cancelTimeout); time.Now().Before(deadline); {
		k.kill(db, "QUERY")
		select {
		case <-k.runDone:
			return
		case <-time.After(killEvery):
		}
	}
	k.kill(db, "CONNECTION")
	k.closeConn()
}

func (k *canceller) kill(db *sql.DB, what string) {
	ctx, done := context.WithTimeout(context.Background(), cancelTimeout)
	defer done()
	_, _ = db.ExecContext(ctx, fmt.Sprintf("KILL %s %d", what, k.id)) // an error means that the statement has already ended
}

// stop stops the canceller after the run has returned, and waits for it.
func (k *canceller) stop() {
	k.once.Do(func() { close(k.runDone) })
	<-k.ended
}
