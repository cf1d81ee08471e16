package session_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/rotajobs/rota"
)

// TestTranscripts runs every script in testdata and compares the output with its golden file. A line "-- @advance 1h"
// moves the clock and fires due schedules; "-- @run" runs ready jobs, "-- @fail" fails them.
func TestTranscripts(t *testing.T) {
	scripts, err := filepath.Glob("testdata/*.sql")
	if err != nil || len(scripts) == 0 {
		t.Fatalf("no scripts: %v", err)
	}
	for _, path := range scripts {
		name := strings.TrimSuffix(filepath.Base(path), ".sql")
		t.Run(name, func(t *testing.T) {
			script, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			b := newFixture(t)
			golden(t, name+".out", b.play(string(script)))
		})
	}
}

// play runs a script: statements end with a semicolon at the end of a line.
func (b *fixture) play(script string) string {
	b.Helper()
	var out, statement strings.Builder
	known := ids{map[string]string{}}
	for line := range strings.Lines(script) {
		trimmed := strings.TrimSpace(line)
		if statement.Len() == 0 && (trimmed == "" || strings.HasPrefix(trimmed, "--")) {
			out.WriteString(line)
			b.runDirective(strings.TrimPrefix(trimmed, "-- "))
			continue
		}
		statement.WriteString(line)
		if strings.HasSuffix(trimmed, ";") {
			text := known.replace(statement.String())
			out.WriteString(known.number(statement.String()))
			out.WriteString(known.number(indent(b.run(text))))
			statement.Reset()
		}
	}
	return out.String()
}

// replace replaces the numbers of ids in a script by the ids.
func (i *ids) replace(text string) string {
	for id, number := range i.known {
		text = strings.ReplaceAll(text, number, id)
	}
	return text
}

func indent(text string) string {
	return "    " + strings.ReplaceAll(strings.TrimSuffix(text, "\n"), "\n", "\n    ") + "\n"
}

// runDirective executes a directive such as @advance.
func (b *fixture) runDirective(line string) {
	b.Helper()
	words := strings.Fields(line)
	if len(words) == 0 {
		return
	}
	switch words[0] {
	case "@advance":
		by, err := time.ParseDuration(words[1])
		if err != nil {
			b.Fatal(err)
		}
		b.clock.move(by)
		b.fire()
	case "@run":
		b.runJobs(rota.OutcomeCompleted)
	case "@fail":
		b.runJobs(rota.OutcomeFailed)
	}
}

// do sends a command.
func do[R rota.Reply](b *fixture, c rota.Command) R {
	b.Helper()
	reply, err := rota.Do[R](context.Background(), b.store, c)
	if err != nil {
		b.Fatal(err)
	}
	return reply
}

// fire fires due schedules, readies and expires jobs and sweeps, as the engine does.
func (b *fixture) fire() {
	b.Helper()
	page, err := b.store.DueSchedules(context.Background(), 100)
	if err != nil {
		b.Fatal(err)
	}
	for _, s := range page.Schedules {
		c, err := rota.PlanFire(rota.NewMeta(""), s, page.Now, time.Time{})
		if err != nil {
			b.Fatal(err)
		}
		if c != nil {
			do[*rota.Fired](b, c)
		}
	}
	do[*rota.Readied](b, &rota.Ready{Meta: rota.NewMeta("")})
	do[*rota.Expired](b, &rota.Expire{Meta: rota.NewMeta("")})
	b.sweep()
}

func (b *fixture) sweep() {
	b.Helper()
	for do[*rota.Swept](b, &rota.Sweep{Meta: rota.NewMeta("")}).More {
	}
}

// runJobs claims all ready jobs one by one and finishes them with the outcome.
func (b *fixture) runJobs(outcome rota.Outcome) {
	b.Helper()
	for {
		claim := &rota.Claim{
			Meta: rota.NewMeta(""), Worker: "w", Types: []string{"sql", "call", "exec", "noop", "report"}, Limit: 1,
			Lease: time.Minute, Seed: rota.NewToken(),
		}
		jobs := do[*rota.Claimed](b, claim).Jobs
		if len(jobs) == 0 {
			b.sweep()
			return
		}
		end := rota.FinishItem{LeaseRef: jobs[0].Lease(), Outcome: outcome}
		if outcome == rota.OutcomeFailed {
			end.Error, end.ErrorCode = "the script failed this job", "script"
		} else {
			end.RowsAffected = new(int64(3))
		}
		do[*rota.Finished](b, &rota.Finish{Meta: rota.NewMeta(""), Items: []rota.FinishItem{end}})
	}
}
