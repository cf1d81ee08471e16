// Package session runs SQL against a store: the statements of package ddl, and
// queries over the tables of package system.
//
// CREATE JOB creates a template and a schedule of one name, the same as over HTTP, so
// that each interface shows the jobs of the other. AS, ON TARGET and RUN AS set the
// template; SCHEDULE, retries, priority and params set the schedule, so that changing
// one job changes no other.
//
// Every statement is one command that applies completely or not at all. Between BEGIN
// and COMMIT a session keeps the commands and sends each as a dry run, together with
// the earlier ones it depends on, so that an error is reported at its statement.
// COMMIT sends them as one [rota.All]. Queries see only committed changes.
package session
