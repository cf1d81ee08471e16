package storekit

import "github.com/rotajobs/rota"

// Reads are the queries of Reader that differ between databases. Their parameters and columns are
// the same in all stores. A parameter now is the time of Connection.Now; NULL stands for the clock of
// the database.
type Reads struct {
	Searches

	// List returns the query of a page of jobs with a condition, newest first, with the columns of
	// FullJob. It uses an index that fits the query.
	List func(q *rota.JobQuery, condition, limit string) string
	// Index returns what follows the table of jobs in a query, so that it is read by the path of a
	// query.
	Index func(q *rota.JobQuery) string
	// Count returns the queries of numbers that add up to what List would list over all pages.
	Count func(q *rota.JobQuery) []Statement
	// IsDead is the condition of dead letters that no redrive handles.
	IsDead string

	Group  string // $1 id: a group, then the number and the state (AttemptJob) of members
	Groups string // $1 id, $2 limit: the same of the groups below an id, newest first

	// $1 name, $2 limit, $3 and $4 first and last time, $5 template, $6 state or NULL: schedules by
	// their next fire.
	SchedulesNext, SchedulesNextEnabled, SchedulesNextPaused, SchedulesNextOf string

	DueSchedules string // $1 now, $2 limit: schedules that are due; the last column is the time, unless Connection.Now returns it
	NextDue      string // $1 now: the time, the next delayed job, fire, end of a wait, end of the reservation; whether there are intents
	Stats        string // $1 now: counts; see statsBuilder

	Clock string // the time, as an expression with the parameter $1 now

	// What Explain reads besides.
	Ahead      string // $1 schedule, $2 and $3 scope, $4 id, $5 limit: jobs that run before a job that waits for an overlap
	Before     string // $1 type, $2 priority, $3 position, $4 time of creation, $5 id, $6 limit: number of ready jobs of the type before a job, and of all
	ReadyOfKey string // $1 concurrency key, $2 type: number of ready jobs
}
