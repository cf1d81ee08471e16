package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/url"
	"os"
	"runtime"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/rotajobs/rota/api"
)

// bulk is a command that changes single jobs, or all jobs that match a filter.
type bulk struct {
	path     string                                     // of the request for all jobs
	question string                                     // with the text of the filter and the number of jobs
	body     func() map[string]any                      // fields of the request besides the filter; nil: none
	one      func(ctx context.Context, id string) error // changes a single job
	done     func(total api.Many) string                // text about the changed jobs
	names    meaning                                    // which execution a name stands for

	filters  filters
	all, yes bool
}

// command completes the command. all is the help of --all.
func (b *bulk) command(a *app, cmd *cobra.Command, all string, states []string) *cobra.Command {
	b.filters = jobFilters(cmd, "jobs", states)
	cmd.Flags().BoolVar(&b.all, "all", false, all)
	cmd.Flags().BoolVar(&b.yes, "yes", false, "do not ask for confirmation; required without a terminal")
	cmd.RunE = func(cmd *cobra.Command, ids []string) error {
		if err := b.check(cmd, ids); err != nil {
			return err
		}
		if len(ids) == 0 {
			return b.run(cmd.Context(), a)
		}
		for i, id := range ids { // all of them, before the first job is changed
			var err error
			if ids[i], err = a.resolveJob(cmd.Context(), id, b.names); err != nil {
				return err
			}
		}
		for _, id := range ids {
			if err := b.one(cmd.Context(), id); err != nil {
				return err
			}
		}
		return nil
	}
	return cmd
}

// run changes all jobs that match the filter, after a confirmation, and prints how many were changed.
func (b *bulk) run(ctx context.Context, a *app) error {
	if group := b.filters["group"]; *group != "" {
		id, err := a.resolveID(ctx, "/groups", *group)
		if err != nil {
			return err
		}
		*group = id
	}
	question := func() string { return fmt.Sprintf(b.question, b.filterText(), b.countText(ctx, a)) }
	if err := a.confirm(b.yes, question); err != nil {
		return err
	}
	done, err := b.apply(ctx, a)
	if err != nil {
		return err
	}
	text := b.done(done)
	if done.Refused > 0 {
		text += fmt.Sprintf("; %d skipped because they changed meanwhile", done.Refused)
	}
	return a.printMessage(done, "%s", text)
}

// check requires ids, or a filter, or --all.
func (b *bulk) check(cmd *cobra.Command, ids []string) error {
	picked := len(b.filters.query()) > 0
	switch {
	case len(ids) > 0 && (picked || b.all):
		return usagef("remove the ids or the filter", "%s takes ids or a filter, not both", commandName(cmd))
	case len(ids) == 0 && !picked && !b.all:
		return usagef("name an ID, or add a filter such as --type TYPE, or --all", "%s needs ids, a filter or --all", commandName(cmd))
	}
	return nil
}

// cancelPath is the path of the request that cancels many jobs; the others retry them.
const cancelPath = "/jobs/cancel"

// openStates are the states of jobs that have not ended.
var openStates = []string{"scheduled", "blocked", "queued", "running"}

// filterText describes the filter for the confirmation question.
func (b *bulk) filterText() string {
	var parts []string
	for _, name := range slices.Sorted(maps.Keys(b.filters)) {
		if value := *b.filters[name]; value != "" {
			parts = append(parts, name+" "+sanitize(value))
		}
	}
	if len(parts) == 0 {
		return ""
	}
	return " with " + strings.Join(parts, ", ")
}

// apply repeats a bulk request until all matching jobs are changed: the server changes one page for each request.
func (b *bulk) apply(ctx context.Context, a *app) (total api.Many, err error) {
	body := b.filters.body()
	if b.body != nil {
		maps.Copy(body, b.body())
	}
	if len(b.filters.query()) == 0 {
		body["all"] = true // only without a filter
	}
	bar := a.newProgress()
	defer bar.clear()
	for {
		part, _, err := fetch[api.Many](ctx, a, newPost(b.path, body))
		if err != nil {
			return total, err
		}
		addBulk(&total, part)
		if !part.More || part.Changed == 0 { // the server refuses the rest
			total.More = part.More
			return total, nil
		}
		bar.show("%d so far", total.Changed)
	}
}

func addBulk(total *api.Many, part api.Many) {
	total.Matched += part.Matched
	total.Changed += part.Changed
	total.Cancelled += part.Cancelled
	total.Stopping += part.Stopping
	total.Retried += part.Retried
	total.Refused += part.Refused
}

// countMax is the highest count that is taken by listing jobs, which costs as much as the list.
const countMax = 100

// countText is the number of matching jobs for the confirmation question. It is exact if the statistics of the server
// have the number, or else counted up to countMax. It is empty if the server does not answer.
func (b *bulk) countText(ctx context.Context, a *app) string {
	if n, known := b.countByStats(ctx, a); known {
		return " (" + plural(n, "job", "jobs") + ")"
	}
	n := 0
	for _, q := range b.lists() {
		part, err := a.page(ctx, q.path, q.query, "", countMax)
		if err != nil {
			return ""
		}
		if n += len(part.Items); part.NextCursor != "" || n > countMax {
			return fmt.Sprintf(" (more than %d jobs)", countMax)
		}
	}
	return " (" + plural(n, "job", "jobs") + ")"
}

// countByStats takes the number from the statistics of the server, which count by type and state.
func (b *bulk) countByStats(ctx context.Context, a *app) (n int, known bool) {
	query := b.filters.query()
	kind, state := query.Get("type"), query.Get("state")
	query.Del("type")
	query.Del("state")
	if len(query) > 0 {
		return 0, false
	}
	stats, _, err := fetch[api.Stats](ctx, a, newGet("/stats"))
	switch {
	case err != nil:
		return 0, false
	case b.path != cancelPath:
		return stats.Dead, kind == "" && (state == "" || state == "failed" || state == "dead")
	}
	for _, c := range stats.Types {
		for name, count := range map[string]int{"queued": c.Queued, "scheduled": c.Scheduled, "blocked": c.Blocked, "running": c.Running} {
			if (kind == "" || c.Type == kind) && (state == "" || state == name) {
				n += count
			}
		}
	}
	return n, true
}

// listQuery is one list to count.
type listQuery struct {
	path  string
	query url.Values
}

// lists returns the lists that contain the matching jobs.
func (b *bulk) lists() (lists []listQuery) {
	query := b.filters.query()
	state := query.Get("state")
	dead := b.path != cancelPath && (state == "" || state == "failed" || state == "dead")
	switch {
	case dead:
		query.Del("state")
		return []listQuery{{"/dead", query}}
	case state != "":
		return []listQuery{{"/jobs", query}}
	}
	for _, open := range openStates {
		one := maps.Clone(query)
		one.Set("state", open)
		lists = append(lists, listQuery{"/jobs", one})
	}
	return lists
}

// confirm asks the user before a command changes many jobs. Without a terminal it refuses, unless --yes was given.
func (a *app) confirm(yes bool, question func() string) error {
	switch {
	case yes:
		return nil
	case !a.canAsk():
		return usagef("add --yes to run it without confirmation", "this command changes many jobs and there is no terminal to ask on; nothing was done")
	}
	return a.ask(question())
}

// confirmDelete asks the user on a terminal before a command deletes one thing. Without a terminal it does not ask: a
// script names the thing that it deletes.
func (a *app) confirmDelete(yes bool, format string, args ...any) error {
	if yes || !a.canAsk() {
		return nil
	}
	return a.ask(sanitize(fmt.Sprintf(format, args...)))
}

// yesFlag adds --yes to a command that uses confirmDelete.
func yesFlag(cmd *cobra.Command, yes *bool) {
	cmd.Flags().BoolVar(yes, "yes", false, "do not ask for confirmation on a terminal")
}

// canAsk reports whether a person can answer. Where the output goes does not matter: rota schedule delete x 2>log asks, too.
func (a *app) canAsk() bool { return a.terminal.in }

// ask asks a question, and returns an error unless the answer is yes.
func (a *app) ask(question string) error {
	if err := a.writeQuestion(question + " [y/N] "); err != nil {
		return usagef("add --yes to run it without confirmation", "the question %q cannot be shown: %w; nothing was done", question, err)
	}
	answer, _ := bufio.NewReader(a.in).ReadString('\n') // no answer means no
	switch strings.ToLower(strings.TrimSpace(answer)) {
	case "y", "yes":
		return nil
	}
	return &exitError{code: exitFailed, err: errors.New("nothing was done"), hint: "answer y, or add --yes"}
}

// writeQuestion writes to the terminal: standard error or output, or the terminal of the process if both go elsewhere.
func (a *app) writeQuestion(text string) error {
	w := a.err
	switch {
	case a.terminal.err:
	case a.terminal.out:
		w = a.out
	default:
		tty, err := os.OpenFile(ttyName(), os.O_WRONLY, 0)
		if err != nil {
			return err
		}
		defer tty.Close()
		w = tty
	}
	_, err := io.WriteString(w, text)
	return err
}

// ttyName is the file that writes to the terminal of a process.
func ttyName() string {
	if runtime.GOOS == "windows" {
		return "CONOUT$"
	}
	return "/dev/tty"
}
