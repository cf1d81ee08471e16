package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"time"

	"github.com/rotajobs/rota/httpapi"
)

// Between two looks at a job that is waited for: at first often, for those that end at once, then with patience.
const (
	lookFirst = 20 * time.Millisecond
	lookLast  = time.Second
)

// awaitJob waits until an execution has ended, attempts and all, prints the last of them, and fails if it did not
// complete.
func (a *app) awaitJob(ctx context.Context, answer json.RawMessage, follow bool) error {
	first, err := decode[httpapi.Job](answer)
	if err != nil {
		return err
	}
	shown := 0 // attempts whose log was printed
	bar := a.newProgress()
	defer bar.clear()
	for pause := lookFirst; ; pause = min(lookLast, pause*3/2) {
		e, raw, err := a.execution(ctx, first.ExecutionID.String())
		if err != nil {
			return err
		}
		if follow && shown < len(e.Attempts) && !e.Attempts[shown].StartedAt.IsZero() {
			bar.clear()
			if err := a.copyLog(ctx, e.Attempts[shown].ID.String(), true, a.logOut()); err != nil && exitCode(err) != exitNotFound {
				return err
			}
			shown++
			pause = lookFirst
			continue
		}
		if ended(e.State) {
			bar.clear()
			return a.endOfWait(e, raw)
		}
		tail := e.Attempts[len(e.Attempts)-1]
		bar.show("%s %s, attempt %d of %d", tail.ID, tail.State, tail.Attempt, tail.MaxAttempts)
		if err := rest(ctx, pause); err != nil {
			return err
		}
	}
}

// logOut is where a log goes beside an answer: it must not mix with JSON.
func (a *app) logOut() io.Writer {
	if a.output == formatTable {
		return a.out
	}
	return a.err
}

func (a *app) execution(ctx context.Context, id string) (e httpapi.ExecutionDetail, tail json.RawMessage, err error) {
	answer, err := a.get(ctx, "/executions"+segment(id), nil)
	if err != nil {
		return e, nil, err
	}
	raw, err := decode[struct {
		Attempts []json.RawMessage `json:"attempts"`
	}](answer)
	if err != nil {
		return e, nil, err
	}
	if e, err = decode[httpapi.ExecutionDetail](answer); err == nil && len(e.Attempts) == 0 {
		err = errors.New("the server answered with an execution that has no attempts")
	}
	if err != nil {
		return e, nil, err
	}
	return e, raw.Attempts[len(raw.Attempts)-1], nil
}

func ended(state string) bool {
	switch state {
	case httpapi.ExecutionPending, httpapi.ExecutionRunning, httpapi.ExecutionFailed:
		return false
	}
	return true
}

func rest(ctx context.Context, pause time.Duration) error {
	timer := time.NewTimer(pause)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return &exitError{code: exitFailed, err: errors.New("interrupted"), hint: "the job goes on"}
	case <-timer.C:
		return nil
	}
}

// endOfWait prints the last attempt and turns its end into the exit code.
func (a *app) endOfWait(e httpapi.ExecutionDetail, tail json.RawMessage) error {
	j := e.Attempts[len(e.Attempts)-1]
	if err := a.print(tail, func(w io.Writer) error {
		_, err := fmt.Fprintln(w, plainText(a.outcome(j)))
		return err
	}); err != nil {
		return err
	}
	if e.State == httpapi.ExecutionCompleted {
		return nil
	}
	return &exitError{
		code: exitFailed, err: fmt.Errorf("job %s was not completed: %s", j.ID, firstText(runError(j), "it is "+e.State)),
		hint: "rota job logs " + j.ID.String() + " shows what it wrote",
	}
}

// outcome is the end of a job in one line, with its result.
func (a *app) outcome(j httpapi.Job) string {
	text := j.ID.String() + " " + j.State
	if took := a.took(j.StartedAt.Time, j.FinishedAt.Time); took != "" {
		text += " in " + took
	}
	if j.Run != nil && nonNull(j.Run.Result) != "" {
		text += ": " + string(j.Run.Result)
	}
	return text
}

func runError(j httpapi.Job) string {
	if j.Run == nil {
		return ""
	}
	return plainText(string(j.Run.Error))
}

// copyLog writes the log of a run, if asked to until the run has ended.
func (a *app) copyLog(ctx context.Context, id string, follow bool, w io.Writer) error {
	query := url.Values{}
	if follow {
		query.Set("follow", "true")
	}
	response, err := a.open(ctx, request{method: http.MethodGet, path: "/jobs" + segment(id) + "/log", query: query, accept: "text/plain"})
	if err != nil {
		return err
	}
	defer response.Body.Close()
	_, err = io.Copy(w, response.Body)
	if err != nil {
		return a.lost(err)
	}
	return nil
}
