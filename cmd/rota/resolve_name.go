package main

import (
	"context"
	"fmt"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/api"
)

// meaning is which execution the name of a job stands for. A command that reads takes the latest one. A command that
// changes something takes a name only if exactly one execution is meant.
type meaning struct {
	states []string // states of the executions that the command acts on; nil: all
	dead   bool     // dead letters that were not retried; only if there are none, executions of the states that were not
	text   string   // describes these executions
}

var (
	latest      = meaning{}
	onlyOpen    = meaning{[]string{api.ExecutionPending, api.ExecutionRunning, api.ExecutionFailed}, false, "is waiting or running"}
	onlyWaiting = meaning{[]string{api.ExecutionPending, api.ExecutionFailed}, false, "is waiting"}
	onlyDead    = meaning{[]string{}, true, "is a dead letter"}
	onlyEnded   = meaning{[]string{api.ExecutionCancelled, api.ExecutionSkipped}, true, "can be retried"}
)

// mayHaveRun are the states of executions that may have a run, and so a log.
var mayHaveRun = slices.DeleteFunc(slices.Clone(api.ExecutionStates), func(state string) bool { return state == api.ExecutionPending })

// resolveJob returns the id of the job that an argument names: an id, the beginning of one, or the name of a job. A name
// stands for the last attempt of an execution.
func (a *app) resolveJob(ctx context.Context, text string, m meaning) (string, error) {
	id, name, err := a.idOrName(ctx, text)
	if name == "" {
		return id, err
	}
	e, err := a.namedExecution(ctx, name, m)
	return e.LastJobID.String(), err
}

// resolveExecution returns the id of the execution that an argument names. An id may be that of any attempt.
func (a *app) resolveExecution(ctx context.Context, text string) (string, error) {
	id, name, err := a.idOrName(ctx, text)
	if name == "" {
		return id, err
	}
	e, err := a.namedExecution(ctx, name, latest)
	return e.ID.String(), err
}

// resolveLog returns the id of the job whose log an argument names. A name stands for the last attempt that has started.
func (a *app) resolveLog(ctx context.Context, text string) (string, error) {
	id, name, err := a.idOrName(ctx, text)
	if name == "" {
		return id, err
	}
	field, err := a.kindOf(ctx, name)
	if err != nil {
		return "", err
	}
	query := url.Values{field: {name}, "state": {strings.Join(mayHaveRun, ",")}}
	found, err := listOf(ctx, a, "/executions", query, 1, func(e api.Execution) (api.Execution, bool) { return e, !e.StartedAt.IsZero() })
	if err != nil {
		return "", err
	}
	for _, e := range found {
		detail, _, err := a.execution(ctx, e.ID.String())
		if err != nil {
			return "", err
		}
		for i := len(detail.Attempts) - 1; i >= 0; i-- {
			if j := detail.Attempts[i]; !j.StartedAt.IsZero() {
				a.sayTaken(name, j.ID, a.takenText(j))
				return j.ID.String(), nil
			}
		}
	}
	switch all, err := a.executionsOf(ctx, name, latest, 1); {
	case err != nil:
		return "", err
	case len(all) == 0:
		return "", a.noExecutions(ctx, name)
	}
	return "", failf(exitNotFound, "rota job runs "+name+" shows its executions", "no execution of %s has started, so that there is no log", name)
}

// noExecutions says that nothing of a name was run, or that the user sees nothing of it.
func (a *app) noExecutions(ctx context.Context, name string) error {
	if !a.viewsAll(ctx) {
		return failf(exitNotFound, "ask an administrator for VIEW JOB HISTORY on it, or start one with rota schedule trigger", "%s has no executions that you may see", name)
	}
	return failf(exitNotFound, "rota job create and rota schedule trigger create one", "%s has no executions", name)
}

// idOrName returns the id that a text is, or the name. A whole id is an id. Of a name and the beginning of an id, the name
// comes first, because more characters of the id tell the two apart.
func (a *app) idOrName(ctx context.Context, text string) (id, name string, err error) {
	if text == "" {
		return "", "", usagef("write an id or a name; rota job list shows both", "the id or name is empty")
	}
	if _, _, err := rota.ParseIDPrefix(text); err != nil {
		return "", text, nil
	}
	if _, err := rota.ParseID(text); err != nil {
		if _, unknown := a.kindOf(ctx, text); unknown == nil {
			return "", text, nil
		}
	}
	id, err = a.resolveID(ctx, "/jobs", text)
	return id, "", err
}

// namedExecution returns the execution that a name stands for, and prints which one it is.
func (a *app) namedExecution(ctx context.Context, name string, m meaning) (e api.Execution, err error) {
	limit := 1
	if m.states != nil {
		limit = candidatesMax + 1
	}
	found, err := a.executionsOf(ctx, name, m, limit)
	switch {
	case err != nil:
		return e, err
	case len(found) == 0 && m.states == nil:
		return e, a.noExecutions(ctx, name)
	case len(found) == 0:
		return e, failf(exitNotFound, "rota job runs "+name+" shows its executions", "no execution of %s %s", name, m.text)
	case len(found) > 1:
		return e, a.severalExecutions(name, m, found)
	}
	e = found[0]
	last, _, err := fetch[api.Job](ctx, a, newGet("/jobs"+pathSegment(e.LastJobID.String())))
	if err == nil {
		a.sayTaken(name, e.ID, a.takenText(last))
	}
	return e, err
}

func (a *app) severalExecutions(name string, m meaning, found []api.Execution) error {
	all := make([]candidate, len(found))
	for i, e := range found {
		all[i] = candidate{ID: e.ID, Type: e.Type, Name: api.Text(e.Name), State: e.State, CreatedAt: e.CreatedAt}
	}
	kind := idKinds["/jobs"]
	kind.one, kind.many = "execution", "executions, each of which "+m.text
	return a.ambiguous(kind, name, all)
}

// sayTaken prints on standard error which job a name stood for.
func (a *app) sayTaken(name string, id api.ID, text string) {
	fmt.Fprintf(a.err, "rota: %s is %s, %s\n", sanitize(name), id, sanitize(text))
}

// takenText describes a job in the words of the tables: its state, and when it starts, how long it has run or how long ago it
// ended.
func (a *app) takenText(j api.Job) string {
	switch {
	case !j.FinishedAt.IsZero():
		return j.State + " " + a.ago(j.FinishedAt.Time)
	case j.State == string(rota.StateRunning):
		return j.State + " for " + coarseDistance(max(1, a.now().Unix()-j.StartedAt.Unix()))
	}
	return a.stateText(j)
}

func latestTime(times ...api.Time) (last time.Time) {
	for _, t := range times {
		if t.After(last) {
			last = t.Time
		}
	}
	return last
}

// executionsOf lists the newest executions of a name that a meaning selects.
func (a *app) executionsOf(ctx context.Context, name string, m meaning, limit int) ([]api.Execution, error) {
	field, err := a.kindOf(ctx, name)
	if err != nil {
		return nil, err
	}
	if m.dead {
		found, err := listOf(ctx, a, "/dead", url.Values{field: {name}}, limit, deadExecution)
		if err != nil || len(found) > 0 || len(m.states) == 0 {
			return found, err
		}
	}
	query, retried := url.Values{field: {name}}, map[api.ID]bool{}
	if m.dead {
		if retried, err = a.retriedOf(ctx, query); err != nil {
			return nil, err
		}
	}
	if m.states != nil {
		query.Set("state", strings.Join(m.states, ","))
	}
	return listOf(ctx, a, "/executions", query, limit, func(e api.Execution) (api.Execution, bool) { return e, !retried[e.ID] })
}

func deadExecution(j api.Job) (api.Execution, bool) {
	return api.Execution{
		ID: j.ExecutionID, LastJobID: j.ID, Type: j.Type, Name: j.Name, State: api.ExecutionDead,
		CreatedAt: j.CreatedAt, StartedAt: j.StartedAt, FinishedAt: j.FinishedAt,
	}, true
}

// retriedOf returns which executions one of the newest executions of a query retries. The server refuses to retry them a
// second time.
func (a *app) retriedOf(ctx context.Context, query url.Values) (map[api.ID]bool, error) {
	retried := map[api.ID]bool{}
	_, err := listOf(ctx, a, "/executions", query, rota.PageMax, func(e api.Execution) (api.Execution, bool) {
		retried[e.RedriveOf] = true
		return e, true
	})
	return retried, err
}

// listOf reads the first items of a list that convert keeps.
func listOf[T, V any](ctx context.Context, a *app, path string, query url.Values, limit int, convert func(T) (V, bool)) (found []V, err error) {
	for cursor, size := api.Text(""), limit; ; size = min(rota.PageMax, size*10) { // few are read if the first are kept
		part, err := a.page(ctx, path, query, cursor, size)
		if err != nil {
			return nil, err
		}
		for _, item := range part.Items {
			value, err := decode[T](item)
			if err != nil {
				return nil, err
			}
			if v, keep := convert(value); keep {
				if found = append(found, v); len(found) == limit {
					return found, nil
				}
			}
		}
		if cursor = part.NextCursor; cursor == "" {
			return found, nil
		}
	}
}

// kindOf returns which filter selects the executions of a name: the name that lists show, or else that of a template, a
// schedule or a type.
func (a *app) kindOf(ctx context.Context, name string) (string, error) {
	named, err := listOf(ctx, a, "/executions", url.Values{"name": {name}}, 1, func(e candidate) (candidate, bool) { return e, true })
	if err != nil && exitCode(err) != exitUsage || len(named) > 0 { // usage: a text that no name can be
		return "name", err
	}
	for _, kind := range []string{"template", "schedule", "type"} {
		if _, err := a.call(ctx, newGet("/"+kind+"s"+pathSegment(name))); exitCode(err) != exitNotFound {
			return kind, err
		}
	}
	return "", noSuchJob(name)
}

// shortID matches characters of an id.
var shortID = regexp.MustCompile(`^[0-9a-f]*[0-9][0-9a-f]*$`)

func noSuchJob(name string) error {
	if len(name) < rota.IDPrefixMin && shortID.MatchString(name) {
		return failf(exitNotFound, fmt.Sprintf("write %d or more characters of the id; rota job list shows ids", rota.IDPrefixMin),
			"%s is too short for an id, and no job has this name", name)
	}
	return failf(exitNotFound, "write an id, 8 or more of its first characters, or the name of a template, a schedule or a type; rota job list shows ids and names",
		"there is no job %s", shortened(strconv.Quote(name)))
}
