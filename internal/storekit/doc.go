// Package storekit holds what the stores have in common, so that a store brings its queries and its
// transaction, and nothing else. Only stores import it.
//
// # What a store must provide
//
// A transaction, which implements rules.Tx and Tx:
//
//   - Load reads what the rules have missed. Loaders returns the loaders of everything that is found
//     by a condition, from the texts in Searches. The store adds the loaders of rows by key (Table
//     has the columns and ByKey the text), of jobs, retries, chains, plans, tails, audit entries,
//     pages of the order, the active reservation, planned jobs and key queues, and the candidates of
//     a claim. rules.CheckLoaders finds a missing one. LoadOrders reads what maintenance looks for.
//   - Read executes one query of a loader, TakeJob reads a job.
//   - Lock takes the locks of the rules and reports whether a row has changed since it was loaded. A
//     store with one writer does nothing.
//   - Hooks returns the webhooks in force; see Hooks.
//   - Write writes the changes in this order: BeforeJobs, jobs (NewJob, StartedJob, ColumnsOf),
//     removed jobs, unique keys (KeyChanges), AfterJobs, the schedules that only fired (Fired), audit
//     entries (Audit). A store may write many rows in one statement instead.
//
// Apply, which begins the transaction, calls rules.Apply, commits, wakes claims and publishes events
// (internal/fanout). CheckBatch and ApplyHalves are its frame: if a constraint of the database
// refuses what the rules allow, the halves of the batch are applied on their own.
//
// A row and a parameter in the format of its driver (Row, Param). Pass gives a Param the argument of
// a query.
//
// The reads of rota.Store: the store embeds Reader, which needs a Connection (Query, Snapshot, Now)
// and the texts in Reads. Queue, View and Limits remain with the store. Views holds its open views.
//
// Verify: Inspect runs the checks on a Verified, which reads rows and checks what only this kind of
// database has.
//
// A clock: the time of batches without Now, and of reads (Connection.Now). If several processes share
// the store it is the clock of the database.
//
// Wake-ups: Wake and Watch, for this process and, if several share the store, for the others.
//
// Migrations that create the tables with the columns of Table and of jobs, under the names that the
// statements of this package use, with constraints and triggers that refuse what rules never do.
//
// Open, Close, Size, and errors translated by the codes of the driver.
//
// # What storekit and the rules provide
//
// internal/rules decides every command on loaded rows and lists the changes. This package holds the
// columns of each table and how their values are read and written (Table, Column), the statements
// that write rows, the order of writes, the texts of queries that are the same in all databases, the
// filters of lists, the answers of all reads, and the drivers of Explain and Verify, which call
// internal/explain and internal/verify. store/storetest is the suite that every store passes.
//
// # Statements
//
// Statements have PostgreSQL's placeholders ($1) and the table names rota_jobs and so on. A store
// rewrites them for its database. A statement that differs by more stands in Searches or Reads.
package storekit
