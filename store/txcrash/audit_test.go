//go:build unix

package txcrash

import (
	"bytes"
	"context"
	"database/sql"
	"encoding/json"
	"os"
	"strings"

	"github.com/rotajobs/rota"
)

// audit compares the rows of the programs with the jobs of the store and with the ledger.
type audit struct {
	*crash
	db      *sql.DB
	jobs    map[string]*rota.Job
	chains  map[string][]*rota.Job // attempts of each execution
	orders  map[string]*auditedOrder
	effects map[string][]string // executions with effects, by job
	ledger  map[string]string   // what the programs knew of the transactions of orders and jobs
	counts  map[string]int
}

// auditedOrder is the row of an order.
type auditedOrder struct {
	story     string
	jobs      int    // that the row says
	duplicate string // job that the row says; may be empty
	found     map[int]bool
}

func (c *crash) open() *sql.DB {
	driver, source := "pgx", c.audited
	if c.kind == onSQLite {
		driver, source = "sqlite", "file:"+c.audited
	}
	db, err := sql.Open(driver, source)
	must(c, err)
	return db
}

// createTables creates the store and the tables of the programs.
func (c *crash) createTables() {
	store, err := openStore(c.kind, c.audited, false)
	must(c, err)
	must(c, store.Close())
	db := c.open()
	defer db.Close()
	_, err = db.Exec(schema)
	must(c, err)
}

// verify checks the invariants of the store, and the file of SQLite.
func (c *crash) verify() {
	store, err := openStore(c.kind, c.audited, false)
	must(c, err)
	defer store.Close()
	for v, err := range store.Verify(context.Background()) {
		must(c, err)
		c.Errorf("%s: %s %v", v.Check, v.Detail, v.Rows)
	}
	if c.kind == onSQLite {
		db, answer := c.open(), ""
		defer db.Close()
		must(c, db.QueryRow("PRAGMA integrity_check").Scan(&answer))
		if answer != "ok" {
			c.Errorf("the file is damaged: %s", answer)
		}
	}
}

func (c *crash) audit() {
	c.verify()
	a := &audit{
		crash: c, db: c.open(), jobs: map[string]*rota.Job{}, chains: map[string][]*rota.Job{}, orders: map[string]*auditedOrder{},
		effects: map[string][]string{}, ledger: map[string]string{}, counts: c.outcomes,
	}
	defer a.db.Close()
	a.readJobs()
	a.readRows()
	a.readLedger()
	a.checkOrders()
	a.checkExecutions()
	a.checkCounts()
}

func (a *audit) readJobs() {
	store, err := openStore(a.kind, a.audited, true)
	must(a, err)
	defer store.Close()
	for query := (rota.JobQuery{Limit: rota.PageMax, Oldest: true}); ; {
		page, err := store.Jobs(context.Background(), query)
		must(a, err)
		for _, j := range page {
			a.jobs[j.ID.String()] = j
			execution := j.ExecutionID.String()
			a.chains[execution] = append(a.chains[execution], j)
		}
		if len(page) < rota.PageMax {
			return
		}
		query.After = page[len(page)-1].ID
	}
}

func (a *audit) readRows() {
	rows, err := a.db.Query("SELECT id, story, jobs, coalesce(duplicate_of, '') FROM orders")
	must(a, err)
	for rows.Next() {
		id, o := "", &auditedOrder{found: map[int]bool{}}
		must(a, rows.Scan(&id, &o.story, &o.jobs, &o.duplicate))
		a.orders[id] = o
		a.counts["story "+o.story]++
	}
	must(a, rows.Err())
	rows, err = a.db.Query("SELECT execution, job, behaviour FROM effects")
	must(a, err)
	for rows.Next() {
		var execution, job, behaviour string
		must(a, rows.Scan(&execution, &job, &behaviour))
		a.effects[job] = append(a.effects[job], execution)
		a.counts["effect of "+behaviour]++
	}
	must(a, rows.Err())
}

func (a *audit) readLedger() {
	text, err := os.ReadFile(a.path("ledger"))
	must(a, err)
	for line := range bytes.Lines(text) {
		fields := strings.Fields(string(line))
		if fields[0] == "lost" {
			a.counts["lost "+fields[2]]++
			continue
		}
		a.ledger[fields[1]] = fields[2]
		a.counts[fields[0]+" "+fields[2]]++
	}
}

// taskOf returns the params of a job.
func (a *audit) taskOf(j *rota.Job) (task Task) {
	must(a, json.Unmarshal(j.Params, &task))
	return task
}
