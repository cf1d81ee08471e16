package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/rotajobs/rota/api"
)

// The time between two polls of a job: short at first, for jobs that end at once, then longer.
const (
	pollFirst = 20 * time.Millisecond
	pollMax   = time.Second
)

func newJobWaitCommand(a *app) *cobra.Command {
	follow := false
	cmd := &cobra.Command{
		Use: "wait ID|NAME", Short: "Wait until a job has ended with all its attempts", Args: requireArgs("an ID or a NAME"),
		Long: `Wait until a job has ended with all its attempts, and print its last one. The exit codes are those of rota job create --wait:
0 if it completed, 1 if it did not.`,
		Example:           "  rota job wait 01926a5e-7c3b-7f3a-8d2e-1b2c3d4e5f60\n  rota job wait nightly -f    # its latest execution, with its log",
		ValidArgsFunction: a.completeNames("/jobs", "id"),
		RunE: func(cmd *cobra.Command, args []string) error {
			id, err := a.resolveJob(cmd.Context(), args[0], latest)
			if err != nil {
				return err
			}
			job, _, err := fetch[api.Job](cmd.Context(), a, newGet("/jobs"+pathSegment(id)))
			if err != nil {
				return err
			}
			return a.awaitJob(cmd.Context(), job, follow)
		},
	}
	cmd.Flags().BoolVarP(&follow, "follow", "f", false, "print its log while it runs")
	return cmd
}

// awaitJob waits until an execution has ended with all its attempts, prints the last attempt, and returns an error if
// it did not complete. It prints the id first, so that the user can find the job if the wait is interrupted.
func (a *app) awaitJob(ctx context.Context, first api.Job, follow bool) error {
	fmt.Fprintln(a.err, sanitize(first.ID.String()+" "+a.stateText(first)))
	shown := 0 // number of attempts whose log was printed
	bar, connection := a.newProgress(), reconnector{a: a}
	defer bar.clear()
	for pause := pollFirst; ; pause = min(pollMax, pause*3/2) {
		e, raw, err := a.execution(ctx, first.ExecutionID.String())
		if err != nil {
			bar.clear()
			if err := connection.wait(ctx, err); err != nil {
				return waitInterrupted(first, err)
			}
			continue
		}
		connection.connected()
		if follow && shown < len(e.Attempts) && !e.Attempts[shown].StartedAt.IsZero() {
			bar.clear()
			out := a.logWriter(false)
			err := a.copyLog(ctx, e.Attempts[shown].ID.String(), true, out)
			if _ = out.Close(); err != nil && exitCode(err) != exitNotFound {
				return waitInterrupted(first, err)
			}
			shown++
			pause = pollFirst
			continue
		}
		if ended(e.State) {
			bar.clear()
			return a.finishWait(first, e, raw)
		}
		tail := e.Attempts[len(e.Attempts)-1]
		bar.show("%s %s, attempt %d of %d %s", first.ID, tail.State, tail.Attempt, tail.MaxAttempts, sanitize(jobProgress(tail)))
		if err := sleep(ctx, pause); err != nil {
			return err
		}
	}
}

// waitInterrupted adds a hint to the error of a lost server: the job exists, and runs without this command.
func waitInterrupted(j api.Job, err error) error {
	if exitCode(err) != exitUnavailable {
		return err
	}
	return failf(exitUnavailable, fmt.Sprintf("job %s was accepted; rota job show %s shows its state when the server is back", j.ID, j.ID), "%w", err)
}

// logWriter is where the log is printed: standard error if standard output has JSON or YAML. A terminal gets no control
// characters unless raw is set, since any program may have written the log.
func (a *app) logWriter(raw bool) io.WriteCloser {
	w, onTerminal := a.out, a.terminal.out
	if a.output != formatTable {
		w, onTerminal = a.err, a.terminal.err
	}
	if raw || !onTerminal {
		return unfiltered{w}
	}
	return &controlFilter{w: w}
}

// unfiltered writes a log as it is.
type unfiltered struct{ io.Writer }

// Close does nothing: standard output stays open.
func (unfiltered) Close() error { return nil }

// execution reads an execution. tail is its last attempt as the server sent it.
func (a *app) execution(ctx context.Context, id string) (e api.ExecutionDetail, tail json.RawMessage, err error) {
	e, answer, err := fetch[api.ExecutionDetail](ctx, a, newGet("/executions"+pathSegment(id)))
	if err != nil {
		return e, nil, err
	}
	if len(e.Attempts) == 0 {
		return e, nil, errors.New("the server returned an execution without attempts")
	}
	raw, err := decode[struct {
		Attempts []json.RawMessage `json:"attempts"`
	}](answer)
	return e, raw.Attempts[len(e.Attempts)-1], err
}

func ended(state string) bool {
	switch state {
	case api.ExecutionPending, api.ExecutionRunning, api.ExecutionFailed:
		return false
	}
	return true
}

func sleep(ctx context.Context, pause time.Duration) error {
	timer := time.NewTimer(pause)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return failf(exitFailed, "the job keeps running", "interrupted")
	case <-timer.C:
		return nil
	}
}

// finishWait prints the last attempt under the id of the first, and returns an error if the execution did not complete.
func (a *app) finishWait(first api.Job, e api.ExecutionDetail, raw json.RawMessage) error {
	last := e.Attempts[len(e.Attempts)-1]
	if err := a.printMessage(raw, "%s %s", first.ID, a.outcome(last, e.StartedAt.Time)); err != nil || e.State == api.ExecutionCompleted {
		return err
	}
	hint := endHint(last, first.ID)
	if len(e.Attempts) > 1 {
		hint = "rota execution show " + first.ID.String() + " shows its attempts, rota job logs ID the log of each"
	}
	return failf(exitFailed, hint, "job %s did not complete: %s", first.ID, cmp.Or(firstLineShort(runError(last)), "its state is "+e.State))
}

// notStartedCodes are the codes of exec runs whose program was not started, so that there is no log.
var notStartedCodes = []string{"denied", "exec_refused", "exec_not_found"}

// endHint says where to read more about a job that did not complete.
func endHint(last api.Job, id api.ID) string {
	if last.Type == typeExec && slices.Contains(notStartedCodes, runCode(last)) {
		return "rota job show " + id.String() + " shows its details; its program was not started"
	}
	return "rota job logs " + id.String() + " shows its log"
}

// outcome describes the end of an execution by its last attempt: state, duration since its start, attempts and result.
func (a *app) outcome(j api.Job, started time.Time) string {
	text := j.State
	if took := a.elapsed(started, j.FinishedAt.Time); took != "" {
		text += " in " + took
	}
	if j.Attempt > 1 {
		text += fmt.Sprintf(", attempt %d of %d", j.Attempt, j.MaxAttempts)
	}
	if j.Run != nil && nonNull(j.Run.Result) != "" {
		text += ": " + string(j.Run.Result)
	}
	return text
}

// runError is the first line of the error of a run.
func runError(j api.Job) string {
	if j.Run == nil {
		return ""
	}
	return firstLine(string(j.Run.Error))
}

func runCode(j api.Job) string {
	if j.Run == nil {
		return ""
	}
	return string(j.Run.ErrorCode)
}
